//===- StateBlock.cpp - A box of a state ----------------------------------===//

#include "StateBlock.h"

#include <algorithm>

namespace autopar::runtime {

int64_t StateBlock::elements() const {
  int64_t count = 1;
  for (int64_t length : lengths)
    count *= length;
  return count;
}

int64_t StateBlock::bytes() const { return elements() * elementBytes(dtype); }

std::vector<Interval> StateBlock::intervals() const {
  std::vector<Interval> box;
  for (size_t d = 0; d < view.size(); ++d)
    box.push_back({view[d], starts[d], lengths[d]});
  return box;
}

static std::vector<SliceRun> runsOf(const std::vector<Interval> &intervals) {
  std::vector<SliceRun> runs;
  forEachRun(intervals, [&](const SliceRun &run) {
    runs.push_back(run);
    return true;
  });
  return runs;
}

/// The runs of both are ascending in the state, so that one walk finds all.
int64_t forEachOverlap(const StateBlock &block,
                       const std::vector<Interval> &intervals,
                       const std::function<void(const OverlapRun &)> &visit) {
  std::vector<SliceRun> box = runsOf(block.intervals()),
                        part = runsOf(intervals);
  int64_t elements = 0;
  for (size_t i = 0, j = 0; i < box.size() && j < part.size();) {
    int64_t boxEnd = box[i].globalOffset + box[i].count,
            partEnd = part[j].globalOffset + part[j].count;
    int64_t begin = std::max(box[i].globalOffset, part[j].globalOffset),
            count = std::min(boxEnd, partEnd) - begin;
    if (count > 0) {
      visit({box[i].localOffset + begin - box[i].globalOffset,
             part[j].localOffset + begin - part[j].globalOffset, count});
      elements += count;
    }
    (boxEnd < partEnd ? i : j) += 1;
  }
  return elements;
}

} // namespace autopar::runtime
