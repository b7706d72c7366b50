//===- Reduce.h - Elementwise reduction over members ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_REDUCE_H
#define AUTOPAR_RUNTIME_TRANSPORT_REDUCE_H

#include "../core/DataType.h"

namespace autopar::runtime {

/// out[i] = inputs[0][i] op inputs[1][i] op ..., in that order; 16-bit floats
/// are accumulated in float and rounded once. `out` may be one of the inputs.
void reduceMembers(aprt_reduce kind, aprt_dtype dtype, int64_t count,
                   const void *const *inputs, int members, void *out);

/// Fills `count` elements with `value` converted to `dtype`.
void fillElements(aprt_dtype dtype, int64_t count, double value, void *out);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_REDUCE_H
