//===- BoundValues.h - Values that --bind gives inputs ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_BOUNDVALUES_H
#define AUTOPAR_LIB_FRONTEND_BOUNDVALUES_H

#include "autopar/Dialect/Interpreter/Tensor.h"
#include "autopar/Frontend/OnnxImporter.h"
#include <optional>

namespace autopar {

/// The shape of the list or the file's array that an input is bound to; nothing
/// if it is bound to a number or not at all.
std::optional<llvm::SmallVector<int64_t>>
shapeOfBound(const ImportOptions &options, llvm::StringRef input);

/// The value that an input of this type is bound to: of its shape, or one
/// number for its one element. The error says what does not fit.
llvm::Expected<interpreter::Tensor> boundValue(const ImportOptions &options,
                                               llvm::StringRef input,
                                               mlir::RankedTensorType type);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_BOUNDVALUES_H
