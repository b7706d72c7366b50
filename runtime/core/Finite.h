//===- Finite.h - Numbers that are not finite -------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_FINITE_H
#define AUTOPAR_RUNTIME_CORE_FINITE_H

#include <cstdint>

namespace autopar::runtime {

/// Returns whether any element of `bytes` bytes of this type (aprt_dtype) is
/// NaN or positive infinity. Negative infinity is allowed, because masks
/// contain it. Integers are finite. `data` is aligned to its elements.
bool hasNotFinite(int64_t dtype, const void *data, int64_t bytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_FINITE_H
