//===- JsonAttributes.h - JSON values as attributes -------------*- C++ -*-===//
//
// What has a file format (clusters, requests, plans) stands in a module as the
// attributes of the same structure: objects are dictionaries, and one reader
// serves both.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_JSONATTRIBUTES_H
#define AUTOPAR_DIALECT_JSONATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// Objects, arrays, strings, booleans, 64-bit integers and doubles; null is a
/// unit attribute.
mlir::Attribute attributeFromJSON(mlir::MLIRContext *context,
                                  const llvm::json::Value &value);

/// The inverse; null also for an attribute of another kind. Strings are those
/// of the attribute, and the value must not outlive its context.
llvm::json::Value toJSON(mlir::Attribute attribute);

} // namespace autopar

#endif // AUTOPAR_DIALECT_JSONATTRIBUTES_H
