//===- WritePlanFileTest.cpp - From plans to JSON -------------------------===//

#include "autopar/Planning/Plan/WritePlanFile.h"
#include "test/Unit/Planning/Requests.h"
#include "test/Unit/Planning/SmallModel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

ExitOnError orExit;

std::string fileOf(ArrayRef<EntryPlan> plans) {
  SmallString<128> path;
  EXPECT_FALSE(sys::fs::createTemporaryFile("plan", "json", path));
  orExit(writePlanFile(plans, path));
  auto text = MemoryBuffer::getFile(path);
  EXPECT_FALSE(sys::fs::remove(path));
  return text ? (*text)->getBuffer().str() : std::string();
}

/// Value by value it is what the whole prints.
TEST(WritePlanFile, IsTheTextOfThePlan) {
  Plan plan = planOf(weightedLayers(64), "1x4:a100-80gb", "data,column",
                     "data=2,column=2");
  plan.ops[2].regathers = {1}; // else the op is like another one
  EXPECT_EQ(fileOf(EntryPlan{"", plan}),
            formatv("{0:2}\n", toJSON(plan)).str());
  json::Value both = json::Object{
      {"entries", json::Object{{"a", toJSON(plan)}, {"b", toJSON(plan)}}}};
  EXPECT_EQ(fileOf({EntryPlan{"b", plan}, EntryPlan{"a", plan}}),
            formatv("{0:2}\n", both).str());
}

} // namespace
