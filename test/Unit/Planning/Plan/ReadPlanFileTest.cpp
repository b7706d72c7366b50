//===- ReadPlanFileTest.cpp - Plans in files ------------------------------===//

#include "autopar/Planning/Plan/ReadPlanFile.h"
#include "Plans.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

TEST(ReadPlanFile, ReadsThePlanOfAnEntry) {
  ModelGraph graph = twoLayers(8);
  EntryPlan one{"a", replicatedPlan(graph, 2)},
      other{"b", replicatedPlan(graph, 3)};
  SmallString<128> path;
  ASSERT_FALSE(sys::fs::createTemporaryFile("plan", "json", path));
  cantFail(writePlanFile({one, other}, path));
  EXPECT_EQ(toJSON(cantFail(readPlanFile(path, "b"))), toJSON(other.plan));
  EXPECT_NE(
      toString(readPlanFile(path).takeError())
          .find("has plans for entries: add --entry for each of 'a', 'b'"),
      std::string::npos);
  EXPECT_NE(toString(readPlanFile(path, "c").takeError())
                .find("has no plan for --entry c; it has 'a', 'b'"),
            std::string::npos);
  EXPECT_FALSE(sys::fs::remove(path));
}

TEST(ReadPlanFile, NamesAFileThatIsNotThere) {
  std::string complaint =
      toString(readPlanFile("/nowhere/plan.json").takeError());
  EXPECT_NE(complaint.find("/nowhere/plan.json"), std::string::npos);
}

} // namespace
