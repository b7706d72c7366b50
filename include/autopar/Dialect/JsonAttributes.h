//===- JsonAttributes.h - JSON values as attributes -------------*- C++ -*-===//
//
// Clusters, requests and plans have a file format in JSON. In a module they are
// attributes of the same structure, in which objects are dictionaries, so that
// one reader serves both.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_JSONATTRIBUTES_H
#define AUTOPAR_DIALECT_JSONATTRIBUTES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// The attribute for a JSON value: an object, an array, a string, a boolean, a
/// 64-bit integer or a double; null becomes a unit attribute.
mlir::Attribute attributeFromJSON(mlir::MLIRContext *context,
                                  const llvm::json::Value &value);

/// The JSON value for an attribute; null also for an attribute of another kind.
/// The value refers to the strings of the attribute, so it must not outlive the
/// context.
llvm::json::Value toJSON(mlir::Attribute attribute);

} // namespace autopar

#endif // AUTOPAR_DIALECT_JSONATTRIBUTES_H
