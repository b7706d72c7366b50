//===- IndexCheck.h - Indices that are outside of a table -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_INDEXCHECK_H
#define AUTOPAR_RUNTIME_STUB_INDEXCHECK_H

#include "../core/Manifest.h"
#include "../core/Npy.h"

namespace autopar::runtime {

/// Whether the array has only such indices as the port's bounds allow. With
/// `steps`, above 0, its first dimension counts steps, of which a run takes the
/// first `steps` ones.
Status checkIndices(const Port &port, const Array &array, int64_t steps);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_INDEXCHECK_H
