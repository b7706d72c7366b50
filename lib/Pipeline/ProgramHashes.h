//===- ProgramHashes.h - What a training is made of -------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_PROGRAMHASHES_H
#define AUTOPAR_LIB_PIPELINE_PROGRAMHASHES_H

#include "autopar/Frontend/OnnxReader.h"
#include "mlir/IR/Attributes.h"

namespace autopar {

/// The value of kHashes of a module that is trained by `recipe`, kRecipe.
mlir::Attribute programHashes(const OnnxModel &model, mlir::Attribute recipe);

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_PROGRAMHASHES_H
