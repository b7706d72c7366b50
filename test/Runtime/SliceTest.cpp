//===- SliceTest.cpp - Intervals of global tensors ------------------------===//

#include "core/Slice.h"
#include "core/Manifest.h"

#include <gtest/gtest.h>

using namespace autopar::runtime;

namespace {

TEST(DimSlice, BlockIndexIsMixedRadix) {
  DimSlice dim{24, 4, 0, 4, {{0, 1, 2}, {1, 2, 3}}};
  EXPECT_EQ(dim.blockIndex({0, 0}), 0);
  EXPECT_EQ(dim.blockIndex({0, 5}), 2);
  EXPECT_EQ(dim.blockIndex({1, 0}), 3);
  EXPECT_EQ(dim.blockIndex({3, 4}), 5);
}

TEST(Manifest, CoordinatesSkipTheTimeAxis) {
  Manifest manifest;
  manifest.mesh = {{"time", 4}, {"data", 2}, {"tensor", 3}};
  manifest.timeAxis = 0;
  manifest.stages = 2;
  manifest.devicesPerStage = 6;
  EXPECT_EQ(manifest.coordinates(5, 3), (std::vector<int64_t>{3, 1, 2}));
  EXPECT_EQ(manifest.coordinates(6 + 1, 0), (std::vector<int64_t>{0, 0, 1}));
}

/// Reads every element of the slice one by one.
std::vector<int> slowRead(const std::vector<Interval> &intervals,
                          const std::vector<int> &global) {
  int64_t count = 1;
  for (const Interval &i : intervals)
    count *= i.length;
  std::vector<int> local(static_cast<size_t>(count));
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, at = 0, scale = 1;
    bool inside = true;
    for (int64_t d = int64_t(intervals.size()) - 1; d >= 0; --d) {
      int64_t position = intervals[d].start + rest % intervals[d].length;
      rest /= intervals[d].length;
      inside &= position >= 0 && position < intervals[d].size;
      at += position * scale;
      scale *= intervals[d].size;
    }
    local[n] = inside ? global[at] : 0;
  }
  return local;
}

TEST(Slice, ReadsAndWritesAnyInterval) {
  const std::vector<std::vector<Interval>> cases = {
      {},
      {{7, 0, 7}},
      {{7, 4, 4}},
      {{7, -2, 4}},
      {{7, 9, 3}},
      {{3, 0, 3}, {5, 2, 2}, {4, 0, 4}},
      {{3, 1, 3}, {5, 0, 5}, {4, 3, 2}},
      {{3, 0, 2}, {1, 0, 1}, {4, -1, 6}},
      {{3, 0, 0}, {4, 0, 4}},
      {{3, -5, 2}, {4, 0, 4}},
      {{2, 1, 1}, {3, 1, 1}, {2, 1, 1}, {5, 1, 3}}};
  for (const auto &intervals : cases) {
    int64_t total = 1, count = 1;
    for (const Interval &i : intervals) {
      total *= i.size;
      count *= i.length;
    }
    std::vector<int> global(static_cast<size_t>(total));
    for (int64_t i = 0; i < total; ++i)
      global[i] = int(i + 1);
    std::vector<int> local(size_t(count), -1);
    readSlice(intervals, sizeof(int), global.data(), local.data());
    EXPECT_EQ(local, slowRead(intervals, global));

    std::vector<int> written(size_t(total), 0);
    writeSlice(intervals, sizeof(int), local.data(), written.data());
    std::vector<int> again(size_t(count), -1);
    readSlice(intervals, sizeof(int), written.data(), again.data());
    EXPECT_EQ(again, local);
  }
}

TEST(Slice, PiecesMakeTheWhole) {
  const std::vector<std::vector<Interval>> cases = {
      {},
      {{1, 0, 1}},
      {{7, -2, 5}},
      {{1, 0, 1}, {6, 1, 5}, {3, 0, 3}},
      {{4, 2, 4}, {3, 1, 2}, {2, 0, 2}},
      {{3, 0, 0}, {4, 0, 4}}};
  for (const auto &intervals : cases) {
    int64_t total = 1, count = 1;
    for (const Interval &i : intervals) {
      total *= i.size;
      count *= i.length;
    }
    std::vector<int> global(static_cast<size_t>(total));
    for (int64_t i = 0; i < total; ++i)
      global[i] = int(i + 1);
    SlicePieces pieces(intervals);
    std::vector<int> local(size_t(count), -1);
    for (int64_t at = 0; at < pieces.count; ++at)
      readSlice(pieces.intervals(at, at + 1), sizeof(int), global.data(),
                local.data() + at * pieces.stride);
    EXPECT_EQ(local, slowRead(intervals, global));
  }
}

TEST(DataType, SixteenBitFloatsRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    Float16 half{uint16_t(bits)};
    BFloat16 brain{uint16_t(bits)};
    if (toFloat(half) == toFloat(half)) {
      ASSERT_EQ(toFloat16(toFloat(half)).bits, half.bits);
    }
    if (toFloat(brain) == toFloat(brain)) {
      ASSERT_EQ(toBFloat16(toFloat(brain)).bits, brain.bits);
    }
  }
  EXPECT_EQ(toFloat16(65520.0f).bits, 0x7c00); // overflows
  EXPECT_EQ(toFloat16(65519.0f).bits, 0x7bff);
  EXPECT_EQ(toFloat16(1.0f + 0x1p-11f).bits, 0x3c00); // tie to even
  EXPECT_EQ(toFloat16(0x1p-25f).bits, 0);
  EXPECT_EQ(toFloat16(0x1.8p-25f).bits, 1);
  EXPECT_EQ(toBFloat16(1.0f + 0x1p-8f).bits, 0x3f80);
}

TEST(DataType, SizesAreChecked) {
  int64_t bytes = 0;
  EXPECT_TRUE(tensorBytes(APRT_F32, {3, 0, 5}, bytes));
  EXPECT_EQ(bytes, 0);
  EXPECT_FALSE(tensorBytes(APRT_F32, {int64_t(1) << 40, 0, 1 << 30}, bytes));
  EXPECT_FALSE(tensorBytes(APRT_F32, {-1}, bytes));
}

} // namespace
