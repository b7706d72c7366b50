//===- RepeatedRuns.cpp - Repeated layers in a sequence -------------------===//

#include "autopar/Support/RepeatedRuns.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// No longer layer is looked for, and no more repeats.
static constexpr size_t kLongest = 2000, kMostRepeats = 64;

/// The repeat that leaves out most; of equals the shortest, then the first.
static RepeatedRun longestRepeat(ArrayRef<unsigned> keys, size_t least) {
  RepeatedRun best{0, keys.size(), 1};
  size_t most = least - 1;
  for (size_t period = 1; period <= std::min(kLongest, keys.size() / 2);
       ++period) {
    size_t same = 0; // items from here on that are equal to those a period on
    for (size_t begin = keys.size() - period; begin-- > 0;) {
      same = keys[begin] == keys[begin + period] ? same + 1 : 0;
      size_t leftOut = same / period * period;
      bool sooner = leftOut == most && period == best.length && best.count > 1;
      if (leftOut > most || sooner) {
        most = leftOut;
        best = {begin, period, same / period + 1};
      }
    }
  }
  return best;
}

std::vector<RepeatedRun> repeatedRuns(ArrayRef<unsigned> keys, size_t least) {
  std::vector<RepeatedRun> runs;
  std::vector<std::pair<size_t, size_t>> open{{0, keys.size()}};
  size_t found = 0;
  while (!open.empty()) {
    auto [begin, end] = open.back();
    open.pop_back();
    if (begin == end)
      continue;
    RepeatedRun run{0, end - begin, 1};
    if (found < kMostRepeats)
      run = longestRepeat(keys.slice(begin, end - begin), least);
    run.begin += begin;
    runs.push_back(run);
    if (run.count == 1)
      continue;
    ++found;
    open.push_back({run.begin + run.length * run.count, end});
    open.push_back({begin, run.begin});
  }
  llvm::sort(runs, [](const RepeatedRun &a, const RepeatedRun &b) {
    return a.begin < b.begin;
  });
  return runs;
}

} // namespace autopar
