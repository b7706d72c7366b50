//===- Finite.h - Numbers that are not finite -------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_FINITE_H
#define AUTOPAR_RUNTIME_CORE_FINITE_H

#include "../files/ContentHash.h"

namespace autopar::runtime {

/// Returns whether any element of `bytes` bytes of this type (aprt_dtype) is
/// NaN or positive infinity. Negative infinity is allowed, because masks
/// contain it. Integers are finite.
bool hasNotFinite(int64_t dtype, const void *data, int64_t bytes);

/// Adds a part of a tensor to its hash and returns whether an element is NaN or
/// positive infinity, in one pass over memory. `data` points to the part
/// [begin, end) of a tensor of `size` bytes in memory, all of whose parts are
/// added in order. A call may report an element among the last bytes of the
/// part before; the call whose `end` is `size` reports all that is left.
bool addAndFindNotFinite(ContentHash &hash, int64_t dtype, const char *data,
                         int64_t begin, int64_t end, int64_t size);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_FINITE_H
