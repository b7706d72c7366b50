//===- RecipeAttr.h - The recipe of a training as an attribute --*- C++ -*-===//

#ifndef AUTOPAR_TRAINING_RECIPEATTR_H
#define AUTOPAR_TRAINING_RECIPEATTR_H

#include "autopar/Training/Recipe.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"

#include "autopar/Training/RecipeDialect.h.inc"

namespace autopar::detail {
struct RecipeAttrStorage; // a dictionary and its Recipe
} // namespace autopar::detail

#define GET_ATTRDEF_CLASSES
#include "autopar/Training/RecipeAttributes.h.inc"

namespace autopar {

/// Returns the recipe that the module has under a name,
/// AutoparDialect::kRecipe or kEvaluation, or null if it has none. An attribute
/// of another kind is an error.
mlir::FailureOr<RecipeAttr> findRecipe(mlir::ModuleOp module,
                                       llvm::StringRef name);

} // namespace autopar

#endif // AUTOPAR_TRAINING_RECIPEATTR_H
