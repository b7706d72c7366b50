//===- StateOutputs.h - Outputs that are states -----------------*- C++ -*-===//

#ifndef AUTOPAR_FRONTEND_STATEOUTPUTS_H
#define AUTOPAR_FRONTEND_STATEOUTPUTS_H

#include "llvm/ADT/StringRef.h"

namespace autopar {

/// Attribute of the module: the model's outputs that are states in the next
/// step, by the states' names: `{h = "h_next"}`.
inline constexpr llvm::StringLiteral kStateOutputs = "autopar.state_outputs";

} // namespace autopar

#endif // AUTOPAR_FRONTEND_STATEOUTPUTS_H
