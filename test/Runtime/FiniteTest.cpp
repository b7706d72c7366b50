//===- FiniteTest.cpp - Numbers that are not finite -----------------------===//

#include "core/Finite.h"

#include "autopar/runtime.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace autopar::runtime;

namespace {

template <typename T>
void expectFound(int64_t dtype, T fine, const std::vector<T> &allowed,
                 const std::vector<T> &refused) {
  for (size_t size : {1, 7, 4096, 4100}) {
    std::vector<T> values(size, fine);
    int64_t bytes = int64_t(size * sizeof(T));
    EXPECT_FALSE(hasNotFinite(dtype, values.data(), bytes));
    for (T value : allowed) {
      values.back() = value;
      EXPECT_FALSE(hasNotFinite(dtype, values.data(), bytes)) << size;
    }
    for (T value : refused) {
      values.back() = value;
      EXPECT_TRUE(hasNotFinite(dtype, values.data(), bytes)) << size;
      EXPECT_FALSE(hasNotFinite(dtype, values.data(), bytes - sizeof(T)));
    }
  }
}

TEST(Finite, FindsNanAndPositiveInfinity) {
  float infinity = std::numeric_limits<float>::infinity();
  float largest = std::numeric_limits<float>::max();
  expectFound<float>(APRT_F32, 1, {-infinity, largest, -largest, -0.0f, 1e-45f},
                     {infinity, std::nanf(""), -std::nanf("")});
  double most = std::numeric_limits<double>::max();
  expectFound<double>(APRT_F64, 1, {-HUGE_VAL, most, -most},
                      {HUGE_VAL, std::nan(""), -std::nan("")});
  expectFound<uint16_t>(APRT_F16, 0x3c00, {0xfc00, 0x7bff, 0xfbff},
                        {0x7c00, 0x7c01, 0xfe00});
  expectFound<uint16_t>(APRT_BF16, 0x3f80, {0xff80, 0x7f7f, 0xff7f},
                        {0x7f80, 0x7f81, 0xffc0});
  expectFound<int64_t>(APRT_I64, 1, {-1, INT64_MAX}, {});
}

} // namespace
