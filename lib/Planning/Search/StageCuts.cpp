//===- StageCuts.cpp - Where stages can be cut, and what is sent there ----===//

#include "StageCutter.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <numeric>

using namespace llvm;

namespace autopar {

/// The most places to cut at; more would cost time and gain nothing.
static constexpr size_t kMaxCuts = 400;

/// Measures the values that @step computes before a position and reads after
/// it.
void StageCutter::measureCrossings() {
  crossing.assign(ops.size() + 2, 0);
  messages.assign(ops.size() + 2, 0);
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (!graph.isMadeInOneStage(value))
      continue;
    size_t made = positionOf[value.producer], last = made;
    for (const GraphUse &use : value.uses)
      last = std::max<size_t>(last, positionOf[use.op]);
    crossing[made + 1] += bytesOf(index);
    crossing[last + 1] -= bytesOf(index);
    ++messages[made + 1];
    --messages[last + 1];
  }
  std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
  std::partial_sum(messages.begin(), messages.end(), messages.begin());
}

/// Chooses, from each window of positions, the one that the fewest bytes cross,
/// and adds the borders that constraints ask for. With up to kMaxCuts ops each
/// position is a window. With more ops a window is a small part of the seconds,
/// or of the ops if they take no time.
void StageCutter::chooseCuts() {
  ArrayRef<double> sums = before.front();
  auto isNear = [&](size_t from, size_t to) {
    if (ops.size() <= kMaxCuts)
      return false;
    return sums.back() > 0
               ? (sums[to] - sums[from]) * double(kMaxCuts) < sums.back()
               : (to - from) * kMaxCuts < ops.size();
  };
  cuts.push_back(0);
  for (size_t start = 1, end; start < ops.size(); start = end) {
    size_t best = start;
    for (end = start + 1; end < ops.size() && isNear(start, end); ++end)
      if (crossing[end] < crossing[best])
        best = end;
    cuts.push_back(best);
  }
  for (size_t p = 1; p < ops.size(); ++p)
    if (earliest[ops[p]] != earliest[ops[p - 1]])
      cuts.push_back(p);
  llvm::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  cuts.push_back(ops.size());
}

/// Prices cuts for the links between successive stages.
void StageCutter::priceCuts() {
  std::map<CommunicationModel::StageLinks, unsigned> known;
  linksBefore.assign(plan.stages + 1, 0);
  for (int64_t stage = 1; stage < plan.stages; ++stage) {
    CommunicationModel::StageLinks links =
        communication.linksBetween(stage - 1, stage);
    auto [it, isNew] = known.try_emplace(links, known.size());
    linksBefore[stage] = it->second;
    if (!isNew)
      continue;
    std::vector<double> &seconds = sendSeconds.emplace_back();
    for (size_t cut : cuts)
      seconds.push_back(crossing[cut] > 0
                            ? communication.sendSeconds(crossing[cut], links) +
                                  (messages[cut] - 1) *
                                      communication.sendSeconds(0, links)
                            : 0);
  }
}

} // namespace autopar
