//===- SubAxisRuns.h - Sub-axes that move together ------------------------===//

#ifndef AUTOPAR_LIB_COST_SUBAXISRUNS_H
#define AUTOPAR_LIB_COST_SUBAXISRUNS_H

#include "autopar/Interfaces/Sharding.h"

namespace autopar {

/// Sub-axes that are side by side at the start and in the target move together.
/// The search treats them as one, a *run*, so that a mesh of a thousand devices
/// has no more steps than a small mesh with as many axes. Sub-axes that neither
/// side uses are in no run.
class SubAxisRuns {
public:
  SubAxisRuns(const Sharding &from, const Sharding &to, const Mesh &mesh);

  bool isTime(unsigned run) const { return runs[run].time; }
  int64_t product(llvm::ArrayRef<unsigned> numbers) const;
  /// The sub-axes of these runs, one after the other.
  void append(llvm::ArrayRef<unsigned> numbers,
              llvm::SmallVectorImpl<unsigned> &subAxes) const;

  /// A sharding of runs, for one of sub-axes that has each run as a whole, and
  /// back.
  Sharding ofRuns(const Sharding &sharding) const;
  Sharding ofSubAxes(const Sharding &sharding) const;

private:
  struct Run {
    llvm::SmallVector<unsigned, 2> subAxes; // major to minor
    int64_t size;
    bool time;
  };
  llvm::SmallVector<Run, 8> runs;
  llvm::SmallVector<unsigned, 16> runOf; // per sub-axis
};

} // namespace autopar

#endif // AUTOPAR_LIB_COST_SUBAXISRUNS_H
