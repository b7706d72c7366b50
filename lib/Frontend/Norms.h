//===- Norms.h - What norms have in common ----------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_NORMS_H
#define AUTOPAR_LIB_FRONTEND_NORMS_H

#include "OnnxNode.h"

namespace autopar {

/// `y`, which is `sum` to the power of `exponent`, as the last step of a norm:
/// its gradient is 0 where the sum is, as that of a norm of zeros.
Value rootOf(OnnxNode &node, Value y, Value sum, double exponent);

/// Does the same for a node of the model if `x` is a sum or mean of powers of
/// absolute values, or the product of two such: exporters write norms,
/// deviations and cosine similarity so. Otherwise it returns `y`.
Value rootOfPowers(OnnxNode &node, Value y, Value x, double exponent);

/// Fails unless inputs `first` to `last` - 1, scales and biases, have one value
/// per channel each.
LogicalResult checkChannels(OnnxNode &node, unsigned first, unsigned last,
                            int64_t channels);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_NORMS_H
