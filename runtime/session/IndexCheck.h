//===- IndexCheck.h - Indices that are outside of a table -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_INDEXCHECK_H
#define AUTOPAR_RUNTIME_SESSION_INDEXCHECK_H

#include "../core/Manifest.h"
#include "../core/Npy.h"

namespace autopar::runtime {

/// Fails if a tensor of the port has an index that its bounds do not allow. If
/// `steps` is above 0, so many are at `data`, one after the other. `outside`,
/// unless it is null, gets the element of its step's tensor.
Status checkIndices(const Port &port, const void *data, int64_t steps,
                    int64_t *outside = nullptr);

/// The same of an array. If `steps` is above 0, its first dimension counts
/// steps, and a run takes the first `steps` ones.
Status checkIndices(const Port &port, const Array &array, int64_t steps);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_INDEXCHECK_H
