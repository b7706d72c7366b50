//===- StageWork.h - What a stage runs and holds ----------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_STAGEWORK_H
#define AUTOPAR_PLANNING_PLAN_STAGEWORK_H

#include "autopar/Cost/WorkList.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Plan/Plan.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

namespace autopar {

/// What a buffer holds at first.
struct BufferContents {
  unsigned value;
  Sharding sharding;
};

/// The work of one stage while it is listed.
struct StageWork {
  WorkList work;
  std::vector<BufferContents> contents; // per buffer; where they are listed
  std::vector<std::optional<unsigned>> places; // buffer per value as planned
  struct Copy {
    Sharding sharding; // as it is wanted
    unsigned buffer;
  };
  llvm::DenseMap<unsigned, llvm::SmallVector<Copy, 1>> copies; // by value
  const Copy *copyOf(unsigned value, const Sharding &sharding) const;
  std::vector<std::optional<unsigned>> persistent; // value per buffer
  llvm::DenseSet<unsigned> plain; // persistent values read as they are
  /// The library calls that read a persistent value, by value and what its
  /// packed form depends on.
  std::map<std::pair<unsigned, std::string>, GroupKind> calls;
  /// Largest message per communicator, by sub-axes.
  std::map<std::vector<unsigned>, int64_t> messages;
  int64_t channelBytes = 0;
};

/// The work of each stage, listed as Partition and Schedule will have it, and
/// what its buffers hold.
std::vector<StageWork> workOfStages(const ModelGraph &graph, const Plan &plan,
                                    bool listsContents = false);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_STAGEWORK_H
