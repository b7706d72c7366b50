//===- PredictCollectivesTest.cpp - Collectives of a table ----------------===//

#include "autopar/Cost/PredictCollectives.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

constexpr StringLiteral kHeader =
    "device,collective,algo,ranks,nodes,inter_node,size_bytes,source\n";

/// The prediction of one row in microseconds, or the warning.
std::string predicted(StringRef row) {
  CsvTable table = cantFail(CsvTable::parse((kHeader + row).str()));
  std::string warning;
  cantFail(
      predictCollectives(table, [&](StringRef text) { warning = text.str(); }));
  StringRef cell = table.text(table.rows().front(), "predicted_us");
  EXPECT_EQ(cell.empty(), !warning.empty()) << row.str();
  return cell.empty() ? warning : cell.str();
}

double microseconds(StringRef row) {
  double value = 0;
  EXPECT_FALSE(StringRef(predicted(row)).getAsDouble(value)) << row.str();
  return value;
}

TEST(PredictCollectives, NamesAreReadAsPeopleWriteThem) {
  double reduce = microseconds("a100-80gb,allreduce,default,8,1,none,1000000,");
  EXPECT_EQ(reduce, microseconds("a100-80gb,All-Reduce,,8,1,none,1000000,"));
  EXPECT_GT(reduce,
            microseconds("a100-80gb,all_gather,default,8,1,none,1000000,"));
}

TEST(PredictCollectives, AlgorithmsCanBeNamed) {
  StringRef large = "1,none,1073741824,";
  auto row = [&](StringRef algorithm) {
    return ("h200,allreduce," + algorithm + ",8," + large).str();
  };
  EXPECT_EQ(microseconds(row("NVLS")), microseconds(row("default (NVLS)")));
  EXPECT_GT(microseconds(row("ring")), microseconds(row("nvls")));
  EXPECT_EQ(predicted(row("tree"))
                .find("row 1 is not predicted: 'algo' is "
                      "'tree', which does not run"),
            0u);
}

TEST(PredictCollectives, NetworksAreThoseOfTheRow) {
  auto row = [](StringRef network) {
    return ("b200,allreduce,default,32,4," + network + ",4294967296,").str();
  };
  EXPECT_LT(microseconds(row("8x50GB/s")), microseconds(row("EFA 8x50GB/s")));
  EXPECT_LT(microseconds(row("8x50GB/s")), microseconds(row("8x25GB/s")));
  EXPECT_EQ(
      predicted(row("fast")),
      "row 1 is not predicted: 'inter_node' is 'fast', not as in 8x25GB/s "
      "or EFA 8x50GB/s");
}

TEST(PredictCollectives, WhatElseWasMeasuredIsAdded) {
  StringRef row = "v100-32gb,allgather,default,8,1,none,83886080,";
  double plain = microseconds(row);
  double host = microseconds((row + "\"a host clock\"").str());
  double list = microseconds((row + "\"list form, host clock\"").str());
  EXPECT_NEAR(host - plain, 30, 0.02);
  // Eight operations of the host, 80 MiB read and written at 92% of 0.9 TB/s.
  EXPECT_NEAR(list - host, 80 + 2 * 83.88608 / 0.9 / 0.92, 0.02);
}

TEST(PredictCollectives, WhatCannotBePredictedSaysWhy) {
  auto expect = [](StringRef row, StringRef why) {
    EXPECT_NE(predicted(row).find(why), std::string::npos) << predicted(row);
  };
  expect("a200,allreduce,default,8,1,none,64,", "unknown device type 'a200'");
  expect("h200,broadcast,default,8,1,none,64,",
         "'broadcast' is none of allreduce, allgather");
  expect("h200,allreduce,default,0,1,none,64,",
         "'ranks' is '0', not an integer of 1 or more");
  expect("h200,allreduce,default,8,1,none,large,", "'size_bytes' is 'large'");
  expect("h200,allreduce,default,9,2,8x50GB/s,64,",
         "9 ranks do not spread evenly over 2 nodes");
}

TEST(PredictCollectives, ColumnsMustBeThere) {
  CsvTable table = cantFail(CsvTable::parse("device,ranks\nh200,8\n"));
  EXPECT_EQ(toString(predictCollectives(table, [](StringRef) {})),
            "no column 'collective'");
}

} // namespace
