//===- Finite.h - Numbers that are not finite -------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_FINITE_H
#define AUTOPAR_RUNTIME_CORE_FINITE_H

#include "../files/ContentHash.h"

namespace autopar::runtime {

/// Returns whether any element of `bytes` bytes of this type (aprt_dtype) is
/// NaN or positive infinity. Negative infinity is allowed, because masks
/// contain it. Integers are finite. `data` is aligned to its elements.
bool hasNotFinite(int64_t dtype, const void *data, int64_t bytes);

/// Adds elements to a hash and returns whether any of them is so, in one pass
/// over memory. `data` points to the part [begin, end) of a tensor of `size`
/// bytes in memory, all of whose parts are added to the hash, in order. An
/// element may be found a part later, at the end of the tensor at the latest.
bool addAndFindNotFinite(ContentHash &hash, int64_t dtype, const char *data,
                         int64_t begin, int64_t end, int64_t size);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_FINITE_H
