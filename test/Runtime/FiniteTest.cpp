//===- FiniteTest.cpp - Numbers that are not finite -----------------------===//

#include "core/Finite.h"

#include "autopar/runtime.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace autopar::runtime;

namespace {

template <typename T>
void expectFound(int64_t dtype, T fine, const std::vector<T> &allowed,
                 const std::vector<T> &refused) {
  for (size_t size : {1, 7, 4096, 4100, 20000}) {
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
      ContentHash hash, whole;
      whole.add(values.data(), size_t(bytes));
      EXPECT_TRUE(addAndFindNotFinite(
          hash, dtype, reinterpret_cast<const char *>(values.data()), 0, bytes,
          bytes));
      EXPECT_EQ(hash.value(), whole.value());
      values.back() = fine;
      values.front() = value;
      EXPECT_TRUE(hasNotFinite(dtype, values.data(), bytes)) << size;
      values.front() = fine;
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

/// One number of a tensor is not finite; wherever it is and however the tensor
/// is cut, it is found, and the hash is that of all bytes.
TEST(Finite, IsFoundWhileHashing) {
  std::vector<float> values(57, -std::numeric_limits<float>::infinity());
  auto size = int64_t(values.size() * sizeof(float));
  const auto *bytes = reinterpret_cast<const char *>(values.data());
  for (size_t bad = 0; bad <= values.size(); ++bad)
    for (int64_t part : {4, 20, 32, 60, 64, 100, 1000}) {
      std::vector<float> kept = values;
      if (bad < values.size())
        values[bad] = std::nanf("");
      ContentHash whole, parts;
      whole.add(bytes, size_t(size));
      bool isFound = false;
      for (int64_t begin = 0, end = 0; begin < size; begin = end) {
        end = std::min(begin + part, size);
        isFound |= addAndFindNotFinite(parts, APRT_F32, bytes + begin, begin,
                                       end, size);
      }
      EXPECT_EQ(isFound, bad < values.size()) << bad << " in parts of " << part;
      EXPECT_EQ(parts.value(), whole.value());
      std::copy(kept.begin(), kept.end(), values.begin());
    }
}

} // namespace
