//===- ScatterUpdates.h - Updates brought to their rows ---------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_SCATTERUPDATES_H
#define AUTOPAR_LIB_FRONTEND_SCATTERUPDATES_H

#include "OnnxNode.h"
#include "autopar/Dialect/StridePhases.h"

namespace autopar {

/// Indices as i64, negative ones counted from the end of `size`.
Value wrapIndices(OnnxNode &node, Value indices, int64_t size);
Value notNegative(OnnxNode &node, Value x);
/// Wrapped indices, or -1 where one is outside of `size`.
Value indicesInside(OnnxNode &node, Value indices, int64_t size);

BinaryKind binaryOf(ReduceKind kind);
/// Returns whether autopar.scatter combines updates of this type so.
bool isScattered(ReduceKind kind, mlir::Type element);

/// `data` combined with the updates of those rows along `dim` that `rows` [n]
/// numbers; -1 is none.
Value combineRows(OnnxNode &node, ReduceKind kind, Value data, Value rows,
                  Value updates, int64_t dim);
/// The number of the last update that `rows` [n] brings to each of `size` rows;
/// negative if there is none.
Value lastOfRows(OnnxNode &node, Value rows, int64_t size);
/// `data` with those updates in place of its rows along `dim`.
Value replaceRows(OnnxNode &node, Value data, Value last, Value updates,
                  int64_t dim);

/// Data combined with updates; it agrees with the indices in all dimensions but
/// `axis`.
Value combineElements(OnnxNode &node, ReduceKind kind, Value data,
                      Value indices, Value updates, int64_t axis);
/// The data with each element replaced by its last update, if it has any.
Value replaceElements(OnnxNode &node, Value data, Value indices, Value updates,
                      int64_t axis);

/// The part of the data at a block's positions in their first dimensions.
Value readBlock(OnnxNode &node, Value data, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<Positions> block);
/// `part` in their place.
Value writeBlock(OnnxNode &node, Value data, Value part,
                 llvm::ArrayRef<Positions> block);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_SCATTERUPDATES_H
