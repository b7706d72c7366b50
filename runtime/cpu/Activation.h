//===- Activation.h - The activations of fused epilogues --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_ACTIVATION_H
#define AUTOPAR_RUNTIME_CPU_ACTIVATION_H

#include "autopar/runtime.h"

#include <cmath>
#include <type_traits>

namespace autopar::runtime {

/// The activation of one value; integers know only none and ReLU.
template <typename T> T activate(int64_t activation, T x) {
  if (activation == APRT_ACT_RELU)
    return x < T(0) ? T(0) : x;
  if constexpr (std::is_floating_point_v<T>) {
    switch (activation) {
    case APRT_ACT_GELU_ERF:
      return x * T(0.5) * (T(1) + std::erf(x * T(M_SQRT1_2)));
    case APRT_ACT_GELU_TANH:
      return x * T(0.5) *
             (T(1) + std::tanh(T(0.5 * M_SQRT2 * M_2_SQRTPI) *
                               (x + T(0.044715) * x * x * x)));
    case APRT_ACT_TANH:
      return std::tanh(x);
    case APRT_ACT_SIGMOID:
      return T(1) / (T(1) + std::exp(-x));
    case APRT_ACT_SILU:
      return x / (T(1) + std::exp(-x));
    }
  }
  return x;
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_ACTIVATION_H
