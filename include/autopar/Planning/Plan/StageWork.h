//===- StageWork.h - The work and buffers of a stage ------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_STAGEWORK_H
#define AUTOPAR_PLANNING_PLAN_STAGEWORK_H

#include "autopar/Cost/WorkList.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Plan/Plan.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace autopar {

/// The value that a buffer holds first, and its sharding.
struct BufferContents {
  unsigned value;
  Sharding sharding;
};

/// The work of one stage while it is listed.
struct StageWork {
  WorkList work;
  std::vector<BufferContents> contents;            // per buffer, if listed
  std::vector<std::optional<unsigned>> places;     // per value: its buffer
  std::vector<std::optional<unsigned>> persistent; // per buffer: its value
  /// Returns the persistent value whose memory the stage reads as `value`.
  std::optional<unsigned> originOf(unsigned value) const {
    return places[value] ? persistent[*places[value]] : std::nullopt;
  }
  llvm::DenseSet<unsigned> plain; // persistent values read unpacked
  /// The library calls that read a persistent value, by the value and the text
  /// on which its packed form depends.
  std::map<std::pair<unsigned, std::string>, CallKind> calls;
  /// The largest message per communicator, by sub-axes.
  std::map<std::vector<unsigned>, int64_t> messages;
  int64_t channelBytes = 0;
};

/// Returns an estimate of the work that Partition and Schedule will make of
/// each stage, and, if `listsContents`, the contents of its buffers.
std::vector<StageWork> workOfStages(const ModelGraph &graph, const Plan &plan,
                                    bool listsContents = false);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_STAGEWORK_H
