//===- IndexCheck.h - Indices that are outside of a table -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_INDEXCHECK_H
#define AUTOPAR_RUNTIME_SESSION_INDEXCHECK_H

#include "../core/Manifest.h"
#include "../core/Npy.h"

namespace autopar::runtime {

/// Checks that the indices in tensors of the port are within its bounds. If
/// `steps` is above 0, `data` has that many tensors, one after the other. On
/// failure `outside` receives the element within the tensor of its step, unless
/// it is null.
Status checkIndices(const Port &port, const void *data, int64_t steps,
                    int64_t *outside = nullptr);

/// Checks an array in the same way. If `steps` is above 0, its first dimension
/// counts steps, and a run takes the first `steps` of them.
Status checkIndices(const Port &port, const Array &array, int64_t steps);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_INDEXCHECK_H
