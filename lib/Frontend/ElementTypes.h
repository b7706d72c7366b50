//===- ElementTypes.h - Types of elements, by ONNX's names ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ELEMENTTYPES_H
#define AUTOPAR_LIB_FRONTEND_ELEMENTTYPES_H

#include "OnnxNode.h"

namespace autopar {

/// The type of elements that ONNX numbers so; null if it is not supported.
mlir::Type onnxElementType(int64_t dataType, mlir::MLIRContext *context);
/// The ONNX name of what that gives: FLOAT, INT64, ...
std::string onnxElementText(mlir::Type element);
std::string elementText(OnnxNode &node, unsigned input);

/// An error: what the element type of an input must be, and what it is.
mlir::LogicalResult wrongElement(OnnxNode &node, unsigned input,
                                 const llvm::Twine &what);
/// An error: both inputs must have one element type, and which they have.
mlir::LogicalResult differentElements(OnnxNode &node, unsigned a, unsigned b);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ELEMENTTYPES_H
