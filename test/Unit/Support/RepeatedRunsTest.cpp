//===- RepeatedRunsTest.cpp - Repeated layers in a sequence ---------------===//

#include "autopar/Support/RepeatedRuns.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

using namespace autopar;

namespace {

/// `a 3(bc) d` of "abcbcbcd".
std::string cut(llvm::StringRef text) {
  std::vector<unsigned> keys(text.bytes_begin(), text.bytes_end());
  std::string result;
  size_t next = 0;
  for (const RepeatedRun &run : repeatedRuns(keys, /*least=*/4)) {
    EXPECT_EQ(run.begin, next);
    next += run.length * run.count;
    llvm::StringRef items = text.substr(run.begin, run.length);
    for (size_t i = 1; i < run.count; ++i)
      EXPECT_EQ(text.substr(run.begin + i * run.length, run.length), items);
    result += (result.empty() ? "" : " ");
    result += run.count > 1
                  ? std::to_string(run.count) + "(" + items.str() + ")"
                  : items.str();
  }
  EXPECT_EQ(next, text.size());
  return result;
}

TEST(RepeatedRuns, RepeatsAreToldOnce) {
  EXPECT_EQ(cut("abcbcbcd"), "a 3(bc) d");
  EXPECT_EQ(cut("xyzxyzxyz"), "3(xyz)");
  EXPECT_EQ(cut("aaaaaa"), "6(a)");
}

TEST(RepeatedRuns, ThePartOfALayerThatIsLeftIsARunOfItsOwn) {
  EXPECT_EQ(cut("abcabcabcab"), "3(abc) ab");
}

TEST(RepeatedRuns, TheRepeatThatLeavesOutMostComesFirst) {
  EXPECT_EQ(cut("eeeeelmnolmnolmnolmno"), "5(e) 4(lmno)");
  EXPECT_EQ(cut("leeeeemleeeeemleeeeem"), "3(leeeeem)");
}

TEST(RepeatedRuns, ShortRepeatsAreNotWorthARun) {
  EXPECT_EQ(cut("abab"), "abab");
  EXPECT_EQ(cut("abcdef"), "abcdef");
  EXPECT_EQ(cut(""), "");
}

} // namespace
