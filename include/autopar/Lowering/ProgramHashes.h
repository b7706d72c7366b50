//===- ProgramHashes.h - What a training is made of -------------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_PROGRAMHASHES_H
#define AUTOPAR_LOWERING_PROGRAMHASHES_H

#include "llvm/ADT/StringRef.h"

namespace autopar {

/// Module that is trained: {model, recipe}, hashes (16 digits) of the model's
/// graph and of the recipe, for those who read logs and checkpoints.
inline constexpr llvm::StringLiteral kHashes = "autopar.hashes";

} // namespace autopar

#endif // AUTOPAR_LOWERING_PROGRAMHASHES_H
