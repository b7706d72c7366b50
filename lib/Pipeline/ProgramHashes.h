//===- ProgramHashes.h - What a training is made of -------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PIPELINE_PROGRAMHASHES_H
#define AUTOPAR_LIB_PIPELINE_PROGRAMHASHES_H

#include "autopar/Frontend/OnnxReader.h"
#include "autopar/Training/RecipeAttr.h"

namespace autopar {

/// The value of AutoparDialect::kHashes of a module that is trained by
/// `recipe`.
mlir::Attribute programHashes(const OnnxModel &model, RecipeAttr recipe);

} // namespace autopar

#endif // AUTOPAR_LIB_PIPELINE_PROGRAMHASHES_H
