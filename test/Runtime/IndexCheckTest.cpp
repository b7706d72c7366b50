//===- IndexCheckTest.cpp - Indices inside and outside of tables ----------===//

#include "session/IndexCheck.h"

#include <gtest/gtest.h>

using namespace autopar::runtime;

namespace {

/// An input of type T that is bounded by a table of 50 rows.
template <typename T> struct Bounded {
  Bounded(aprt_dtype dtype, const std::vector<int64_t> &shape) {
    port.name = "ids";
    port.dtype = array.dtype = dtype;
    port.shape = array.shape = shape;
    tensorBytes(dtype, shape, port.globalBytes);
    array.data.resize(size_t(port.globalBytes));
    bound(shape, std::vector<int64_t>(shape.size(), 0), shape);
  }
  void bound(const std::vector<int64_t> &shape,
             const std::vector<int64_t> &starts,
             const std::vector<int64_t> &sizes, int64_t dim = 0,
             int64_t size = 50) {
    port.indexBounds = {
        {"w", dim, "", std::nullopt, size, shape, starts, sizes}};
  }
  T &at(size_t i) { return reinterpret_cast<T *>(array.data.data())[i]; }
  /// The message for one number in place of a zero.
  std::string with(size_t i, T value, int64_t steps = 0) {
    std::swap(at(i), value);
    std::string message = checkIndices(port, array, steps).message();
    std::swap(at(i), value);
    return message;
  }

  Port port;
  Array array;
};

const std::string kRange = ": the table 'w' has 50 rows, of which indices are "
                           "-50 to 49";

TEST(IndexCheck, EveryPlaceIsLookedAt) {
  Bounded<int64_t> ids(APRT_I64, {4, 3});
  EXPECT_EQ(checkIndices(ids.port, ids.array, 0).message(), "");
  for (int64_t i = 0; i < 12; ++i)
    EXPECT_EQ(ids.with(i, 50), "input 'ids' has 50 at [" +
                                   std::to_string(i / 3) + ", " +
                                   std::to_string(i % 3) + "]" + kRange);
  EXPECT_EQ(ids.with(11, 49), "");
  EXPECT_EQ(ids.with(11, -50), "");
  EXPECT_EQ(ids.with(2, -51), "input 'ids' has -51 at [0, 2]" + kRange);
  EXPECT_NE(ids.with(2, INT64_MAX), "");
  EXPECT_NE(ids.with(2, INT64_MIN), "");
}

TEST(IndexCheck, EveryTypeHasItsNumbers) {
  EXPECT_NE(Bounded<int32_t>(APRT_I32, {2}).with(1, -51), "");
  EXPECT_EQ(Bounded<int32_t>(APRT_I32, {2}).with(1, -50), "");
  EXPECT_NE(Bounded<int8_t>(APRT_I8, {2}).with(1, -51), "");
  EXPECT_NE(Bounded<uint8_t>(APRT_U8, {2}).with(1, 255), "");
  EXPECT_EQ(Bounded<uint16_t>(APRT_U16, {2}).with(1, 49), "");
  // As 64 bits with a sign it is -1.
  EXPECT_EQ(Bounded<uint64_t>(APRT_U64, {2}).with(1, UINT64_MAX), "");
  EXPECT_NE(Bounded<uint64_t>(APRT_U64, {2}).with(1, UINT64_MAX / 2), "");
  Bounded<int8_t> all(APRT_I8, {1});
  all.bound({1}, {0}, {1}, 0, 1000);
  EXPECT_EQ(all.with(0, -128), "");
}

TEST(IndexCheck, PartsAreLookedAtAlone) {
  Bounded<int64_t> ids(APRT_I64, {2, 3, 4});
  ids.bound({2, 3, 4}, {0, 1, 1}, {2, 2, 2});
  for (int64_t i = 0; i < 24; ++i) {
    int64_t row = i / 4 % 3, column = i % 4;
    bool isInside = row >= 1 && (column == 1 || column == 2);
    EXPECT_EQ(ids.with(i, 50) != "", isInside) << i;
  }
  ids.bound({2, 3, 4}, {1, 0, 0}, {1, 3, 4}, 1, 1);
  EXPECT_EQ(ids.with(11, 1), "");
  EXPECT_EQ(ids.with(12, 1),
            "input 'ids' has 1 at [1, 0, 0]: the table 'w' has 1 element in "
            "dimension 1, of which indices are -1 to 0");
}

/// Arrays have blocks and their rows as one dimension.
TEST(IndexCheck, BlocksHaveTheBoundAlike) {
  Bounded<int64_t> ids(APRT_I64, {6, 2});
  ids.bound({3, 2, 2}, {0, 0, 1}, {3, 2, 1});
  EXPECT_EQ(ids.with(10, 50), "");
  EXPECT_EQ(ids.with(11, 50), "input 'ids' has 50 at [5, 1]" + kRange);
}

TEST(IndexCheck, StepsThatARunTakesAreLookedAt) {
  Bounded<int64_t> ids(APRT_I64, {2});
  ids.array.shape = {5, 2};
  ids.array.data.resize(80);
  EXPECT_EQ(ids.with(9, 57, 5), "input 'ids' has 57 at step 4, [1]" + kRange);
  EXPECT_EQ(ids.with(9, 57, 4), "");
  EXPECT_NE(ids.with(9, 57, 1000), "");
  Bounded<int64_t> one(APRT_I64, {});
  EXPECT_EQ(one.with(0, 57), "input 'ids' has 57" + kRange);
  one.array.shape = {3};
  one.array.data.resize(24);
  EXPECT_EQ(one.with(2, 57, 3), "input 'ids' has 57 at step 2" + kRange);
}

TEST(IndexCheck, LabelsCountFromZero) {
  Bounded<int64_t> labels(APRT_I64, {3});
  IndexBound &bound = labels.port.indexBounds[0];
  bound.text = "labels are classes, 0 to 49";
  EXPECT_EQ(labels.with(1, 49), "");
  EXPECT_EQ(labels.with(1, -1),
            "input 'ids' has -1 at [1]: labels are classes, 0 to 49");
  EXPECT_NE(labels.with(1, 50), "");
  EXPECT_NE(labels.with(1, -100), "");
  bound.ignored = -100;
  EXPECT_EQ(labels.with(1, -100), "");
  EXPECT_NE(labels.with(1, -99), "");
}

TEST(IndexCheck, EmptyArraysFit) {
  Bounded<int64_t> ids(APRT_I64, {0, 3});
  EXPECT_EQ(checkIndices(ids.port, ids.array, 0).message(), "");
}

} // namespace
