//===- IndexCheck.h - Indices that are outside of a table -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_INDEXCHECK_H
#define AUTOPAR_RUNTIME_STUB_INDEXCHECK_H

#include "../core/Manifest.h"
#include "../core/Npy.h"

namespace autopar::runtime {

/// Fails if the array has an index that the port's bounds do not allow. If
/// `steps` is above 0, the array's first dimension counts steps, and a run
/// takes the first `steps` ones.
Status checkIndices(const Port &port, const Array &array, int64_t steps);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_INDEXCHECK_H
