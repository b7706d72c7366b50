//===- ActivationLanes.h - Activations of many floats -----------*- C++ -*-===//
//
// The activations of Activation.h in generic vectors, within a few units of the
// last place (erf: 2e-7 absolute). All is inlined into functions for one
// target.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_ACTIVATIONLANES_H
#define AUTOPAR_RUNTIME_CPU_ACTIVATIONLANES_H

#include "Lanes.h"

#include <cmath>

namespace autopar::runtime {

/// One vector of floats.
class ActivationLanes {
public:
  typedef float Floats __attribute__((vector_size(vectorBytes)));
  typedef int32_t Words __attribute__((vector_size(vectorBytes)));

  [[gnu::always_inline]] static inline void apply(int64_t activation,
                                                  Floats &x) {
    switch (activation) {
    case APRT_ACT_RELU:
      select(x < 0.0f, Floats{} + 0.0f, x);
      return;
    case APRT_ACT_GELU_ERF: {
      Floats inner = x * float(M_SQRT1_2);
      erf(inner);
      x = x * 0.5f * (1.0f + inner);
      return;
    }
    case APRT_ACT_GELU_TANH: {
      Floats inner =
          float(0.5 * M_SQRT2 * M_2_SQRTPI) * (x + 0.044715f * x * x * x);
      tanh(inner);
      x = x * 0.5f * (1.0f + inner);
      return;
    }
    case APRT_ACT_TANH:
      tanh(x);
      return;
    case APRT_ACT_SIGMOID:
      x = -x;
      exp(x);
      x = 1.0f / (1.0f + x);
      return;
    case APRT_ACT_SILU: {
      Floats power = -x;
      exp(power);
      x = x / (1.0f + power);
      return;
    }
    }
  }

private:
  /// to = where ? yes : to.
  [[gnu::always_inline]] static inline void
  select(const Words &where, const Floats &yes, Floats &to) {
    Words chosen, other;
    std::memcpy(&chosen, &yes, sizeof(chosen));
    std::memcpy(&other, &to, sizeof(other));
    chosen = (chosen & where) | (other & ~where);
    std::memcpy(&to, &chosen, sizeof(to));
  }

  /// Infinity above 88.8, below -87.3 the smallest normal power; NaN stays.
  [[gnu::always_inline]] static inline void exp(Floats &x) {
    constexpr float magic = 0x1.8p23f; // rounds to an integer
    select(x > 89.0f, Floats{} + 89.0f, x);
    select(x < -87.3f, Floats{} - 87.3f, x);
    Floats rounded = x * float(M_LOG2E) + magic;
    Words bits;
    std::memcpy(&bits, &rounded, sizeof(bits));
    Words power = bits - 0x4b400000; // bits of magic
    Floats whole = rounded - magic;
    Floats r = x - whole * 0x1.62e4p-1f - whole * 0x1.7f7d1cp-20f; // ln 2
    Floats sum = 1.0f / 5040 * r + 1.0f / 720;
    sum = sum * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r * r + r + 1.0f;
    Words half = power >> 1;
    Words first = (half + 127) << 23, second = (power - half + 127) << 23;
    Floats scale;
    std::memcpy(&scale, &first, sizeof(scale));
    sum *= scale;
    std::memcpy(&scale, &second, sizeof(scale));
    Floats result = sum * scale;
    select(x == x, result, x);
  }

  /// A polynomial near zero, else by the exponential.
  [[gnu::always_inline]] static inline void tanh(Floats &x) {
    Floats square = x * x, power = x * 2.0f, near = x;
    Floats sum = -5.70498872745e-3f * square + 2.06390887954e-2f;
    sum = sum * square - 5.37397155531e-2f;
    sum = sum * square + 1.33314422036e-1f;
    sum = sum * square - 3.33332819422e-1f;
    near += sum * square * x;
    exp(power);
    x = 1.0f - 2.0f / (power + 1.0f);
    select(square < 0.390625f, near, x);
  }

  /// Abramowitz and Stegun 7.1.26, as oneDNN has it.
  [[gnu::always_inline]] static inline void erf(Floats &x) {
    Floats size = x, power = -x * x;
    select(x < 0.0f, -x, size);
    Floats t = 1.0f / (1.0f + 0.3275911f * size);
    Floats sum = 1.061405429f * t - 1.453152027f;
    sum = sum * t + 1.421413741f;
    sum = sum * t - 0.284496736f;
    sum = sum * t + 0.254829592f;
    exp(power);
    Floats result = 1.0f - sum * t * power;
    select(x < 0.0f, -result, result);
    x = result;
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_ACTIVATIONLANES_H
