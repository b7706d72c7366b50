//===- RowsTest.cpp - Rows of shards, and metrics over them ---------------===//

#include "TemporaryFolder.h"
#include "core/Npy.h"
#include "data/RowReader.h"
#include "evaluation/MetricSums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

using namespace autopar::runtime;

namespace {

TEST(RowOrder, HasEachRowOnce) {
  for (int64_t rows : {1, 2, 3, 15, 16, 17, 255, 256, 257, 1000, 4097})
    for (int64_t epoch : {0, 1}) {
      RowOrder order(rows, 7, epoch);
      std::set<int64_t> seen;
      for (int64_t place = 0; place < rows; ++place)
        seen.insert(order.at(place));
      EXPECT_EQ(int64_t(seen.size()), rows);
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), rows - 1);
    }
}

TEST(RowOrder, IsThatOfSeedAndEpoch) {
  auto orderOf = [](std::optional<uint64_t> seed, int64_t epoch) {
    RowOrder order(100, seed, epoch);
    std::vector<int64_t> rows;
    for (int64_t place = 0; place < 100; ++place)
      rows.push_back(order.at(place));
    return rows;
  };
  EXPECT_EQ(orderOf(3, 5), orderOf(3, 5));
  EXPECT_NE(orderOf(3, 5), orderOf(3, 6));
  EXPECT_NE(orderOf(3, 5), orderOf(4, 5));
  std::vector<int64_t> plain(100);
  std::iota(plain.begin(), plain.end(), 0);
  EXPECT_EQ(orderOf(std::nullopt, 5), plain);
}

/// Numbers that no other program computes: an order that changed would give
/// trainings that go on other data.
TEST(RowOrder, StaysWhatItWas) {
  RowOrder order(1000, 1, 2);
  std::vector<int64_t> rows;
  for (int64_t place = 0; place < 6; ++place)
    rows.push_back(order.at(place));
  EXPECT_EQ(rows, (std::vector<int64_t>{468, 965, 871, 64, 545, 69}));
}

void expectStep(const StepSchedule &schedule, int64_t step, int64_t epoch,
                int64_t first, int64_t count) {
  StepRows rows = schedule.at(step);
  EXPECT_EQ(rows.epoch, epoch) << step;
  EXPECT_EQ(rows.first, first) << step;
  EXPECT_EQ(rows.count, count) << step;
}

TEST(StepSchedule, LeavesOutOrKeepsLastRows) {
  StepSchedule drops;
  drops.rows = 10;
  drops.batch = 4;
  expectStep(drops, 0, 0, 0, 4);
  expectStep(drops, 1, 0, 4, 4);
  expectStep(drops, 2, 1, 0, 4);
  expectStep(drops, 5, 2, 4, 4);
  StepSchedule keeps = drops;
  keeps.keepsLast = true;
  expectStep(keeps, 2, 0, 8, 2);
  expectStep(keeps, 3, 1, 0, 4);
  keeps.epoch = 3;
  keeps.first = 6; // of a run with another batch
  expectStep(keeps, 0, 3, 6, 4);
  expectStep(keeps, 1, 4, 0, 4);
  drops.first = 8;
  expectStep(drops, 0, 1, 0, 4);
}

/// Rows [0, 10) of an array x of two numbers each, in three shards, one empty.
void writeShards(const TemporaryFolder &folder) {
  int64_t begin = 0, number = 0;
  for (int64_t count : {3, 0, 7}) {
    std::vector<float> rows;
    for (int64_t row = begin; row < begin + count; ++row)
      rows.insert(rows.end(), {float(row), float(-row)});
    begin += count;
    std::vector<ArrayView> arrays = {{"x", APRT_F32, {count, 2}, rows.data()}};
    ASSERT_TRUE(
        writeNpz(folder.path("part-" + std::to_string(number++) + ".npz"),
                 arrays)
            .ok());
  }
}

TEST(Shards, ReadsRowsAcrossFiles) {
  TemporaryFolder folder;
  writeShards(folder);
  Shards shards;
  ASSERT_EQ(shards.open(folder.path("")).message(), "");
  ASSERT_EQ(shards.rows(), 10);
  std::vector<float> rows(12);
  ASSERT_TRUE(
      shards
          .read(*shards.find("x"), 1, 6, reinterpret_cast<char *>(rows.data()))
          .ok());
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(rows[size_t(2 * i)], float(i + 1));
  EXPECT_NE(shards.placeOf(*shards.find("x"), 4).find("row 1 of"),
            std::string::npos);
  Shards again;
  ASSERT_TRUE(again.open(folder.path("part-*.npz")).ok());
  EXPECT_EQ(again.hash(), shards.hash());
  Shards one;
  ASSERT_TRUE(one.open(folder.path("part-2.npz")).ok());
  EXPECT_NE(one.hash(), shards.hash());
}

/// Two ranks, each of which has half of the rows of a batch of four.
Manifest halves() {
  Manifest manifest;
  manifest.mesh = {{"data", 2}};
  manifest.devicesPerStage = 2;
  Port port;
  port.name = "x";
  port.shape = {4, 2};
  port.globalBytes = 32;
  port.dims = {{4, 2, 0, 2, {{0, 1, 2}}}, {2, 0, 0, 2, {}}};
  port.stages.push_back({});
  manifest.inputs.push_back(port);
  Port counted;
  counted.name = "counted";
  counted.dtype = APRT_BOOL;
  counted.shape = {4};
  counted.countsRows = true;
  manifest.inputs.push_back(counted);
  return manifest;
}

TEST(RowReader, ReadsTheRanksRowsAndCounts) {
  TemporaryFolder folder;
  writeShards(folder);
  Shards shards;
  ASSERT_TRUE(shards.open(folder.path("")).ok());
  Manifest manifest = halves();
  RowStream stream;
  ASSERT_EQ(stream.open(std::move(shards), manifest, std::nullopt).message(),
            "");
  RowReader reader(stream, manifest, /*rank=*/1, /*steps=*/4);
  ASSERT_TRUE(reader.start().ok());
  std::vector<const char *> inputs(2);
  for (int64_t step = 0; step < 4; ++step) {
    ASSERT_EQ(reader.await(step, 10, inputs).message(), "");
    auto *rows = reinterpret_cast<const float *>(inputs[0]);
    int64_t count = step % 3 == 2 ? 2 : 4;
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(inputs[1][i] != 0, i < count) << step << " " << i;
      if (i >= 2 && i < count) { // of this rank
        EXPECT_EQ(rows[2 * i], float(step % 3 * 4 + i));
      }
    }
  }
}

TEST(Metrics, AreThoseOfSmallCases) {
  EXPECT_DOUBLE_EQ(aucOf({1, 2, 3, 4}, {0, 0, 1, 1}), 1);
  EXPECT_DOUBLE_EQ(aucOf({1, 1, 1, 1}, {0, 1, 0, 1}), 0.5);
  EXPECT_DOUBLE_EQ(aucOf({0.1, 0.4, 0.35, 0.8}, {0, 0, 1, 1}), 0.75);
  EXPECT_TRUE(std::isnan(aucOf({1, 2}, {1, 1})));
  EXPECT_DOUBLE_EQ(f1Of({2}, {3}, {4}), 4.0 / 7);
  EXPECT_DOUBLE_EQ(f1Of({1, 0, 0}, {2, 1, 0}, {1, 2, 0}), (2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(f1Of({0}, {0}, {0}), 0);
  EXPECT_TRUE(std::isnan(f1Of({0, 0}, {0, 0}, {0, 0})));
}

} // namespace
