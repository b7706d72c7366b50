//===- AddedUpdates.h - Scatters whose updates are added --------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ADDEDUPDATES_H
#define AUTOPAR_LIB_FRONTEND_ADDEDUPDATES_H

#include "OnnxNode.h"

namespace autopar {

/// Indices as i64, negative ones counted from the end of `size`.
Value wrapIndices(OnnxNode &node, Value indices, int64_t size);
Value notNegative(OnnxNode &node, Value x);
/// Wrapped indices, or -1 where one is outside of `size`.
Value indicesInside(OnnxNode &node, Value indices, int64_t size);

/// Updates added to those rows of `data` along `dim` that `rows` [n] numbers;
/// -1 is none.
Value addRows(OnnxNode &node, Value data, Value rows, Value updates,
              int64_t dim);
/// Updates added to data that agrees with the indices in all dimensions but
/// `axis`, where those have the same indices, or few of their own; else null.
Value addElements(OnnxNode &node, Value data, Value indices, Value updates,
                  int64_t axis);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ADDEDUPDATES_H
