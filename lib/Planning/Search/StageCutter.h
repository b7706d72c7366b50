//===- StageCutter.h - Where a pipeline's stages begin ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_STAGECUTTER_H
#define AUTOPAR_LIB_PLANNING_SEARCH_STAGECUTTER_H

#include "Stages.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Plan/Messages.h"
#include "autopar/Planning/Search/StagePlaces.h"

namespace autopar {

/// Cuts @step into stages. A cut is the number of ops before it. StageCuts.cpp
/// finds the possible cuts; Stages.cpp chooses among them.
class StageCutter {
public:
  StageCutter(const ModelGraph &graph, SecondsAtPlaces opSeconds,
              const MemoryLimit &memoryLimit, const Limits &limits, Plan &plan)
      : graph(graph), opSeconds(opSeconds), memoryLimit(memoryLimit),
        limits(limits), plan(plan), places(plan.cluster, plan.pipeline()),
        communication(plan.cluster, plan.mesh) {}

  llvm::Error run();

private:
  llvm::Error findEarliest();
  void collectOps();
  void countMisplaced();
  void measureCrossings();
  void chooseCuts();
  void priceCuts();
  void addNeeds(unsigned op, size_t end);
  void collectNeeds();
  void measureRuns();
  bool fits(size_t stage, size_t from, size_t to) const {
    if (limits.constraints &&
        misplaced[stage][cuts[to]] != misplaced[stage][cuts[from]])
      return false;
    int64_t limit = places.memoryLimit(stage, memoryLimit);
    return !limit || runs[from][to].bytes <= std::max<int64_t>(limit - kept, 0);
  }
  llvm::Error noCut() const;
  double computeSeconds(size_t stage, size_t from, size_t to) const {
    unsigned kind = places.kindOf[stage];
    return before[kind][cuts[to]] - before[kind][cuts[from]] +
           runs[from][to].seconds[kind];
  }
  double load(size_t stage, size_t from, size_t to) const {
    return computeSeconds(stage, from, to) + sentBefore(stage, from) +
           sentBefore(stage + 1, to);
  }
  /// Returns the seconds to send all that crosses the cut from the stage before
  /// to `stage`.
  double sentBefore(size_t stage, size_t cut) const {
    return cut == 0 || cut + 1 == cuts.size()
               ? 0
               : sendSeconds[linksBefore[stage]][cut];
  }
  std::optional<std::vector<size_t>> cutWithin(double bound) const;
  double leastBound() const;
  std::vector<std::vector<size_t>> promisingCuts() const;
  void take(llvm::ArrayRef<size_t> chosen);
  bool tryCuts();
  void writeStages(llvm::ArrayRef<size_t> chosen);
  void predictStep(llvm::ArrayRef<size_t> chosen);

  int64_t bytesOf(unsigned value) const {
    return localBytes(graph.values[value], plan.values[value].sharding,
                      plan.mesh);
  }

  const ModelGraph &graph;
  SecondsAtPlaces opSeconds;
  MemoryLimit memoryLimit;
  const Limits &limits;
  Plan &plan;
  StagePlaces places;
  CommunicationModel communication;
  std::vector<int64_t> earliest;    // per op, its earliest stage
  std::vector<unsigned> ops;        // of @step
  std::vector<unsigned> positionOf; // per op
  /// Per kind of place and position, the seconds of the ops before it that have
  /// a stage of their own.
  std::vector<std::vector<double>> before;
  std::vector<int64_t> crossing; // bytes per position
  std::vector<int64_t> messages; // values per position
  std::vector<size_t> cuts;      // positions, the first and last included
  /// Per stage, the number of the links to the stage before it; equal links
  /// have equal numbers.
  std::vector<unsigned> linksBefore;
  std::vector<std::vector<double>> sendSeconds; // per links and cut
  /// The needs of the ops between two cuts: bytes of the distinct arguments
  /// that they read, and per kind of place the seconds of ops that are repeated
  /// for them.
  struct Held {
    int64_t bytes = 0;
    llvm::SmallVector<double, 2> seconds;
  };
  std::vector<std::vector<Held>> runs; // per pair of cuts
  /// One need of the ops between two neighbouring cuts.
  struct Need {
    /// The last earlier cut up to which ops needed it, or 0 if none did.
    size_t before;
    int64_t bytes;              // of an argument
    std::optional<unsigned> op; // the repeated op
  };
  std::vector<std::vector<Need>> needs; // per cut, of the ops up to it
  /// The last cut so far up to which an op needed it, or 0 if none did.
  std::vector<size_t> endOfOp, endOfValue;
  /// Per kind of place, the seconds of all repeated ops.
  std::vector<double> repeatedSeconds;
  /// Bytes of a device that parameters must leave free.
  int64_t kept = 0;
  /// The cuts that exceed the memory the least, among all that were tried. They
  /// are used if none fits.
  std::vector<size_t> leastCuts;
  int64_t leastExcess = 0;
  /// Per stage and position, how many ops before it must not be in that stage.
  std::vector<std::vector<unsigned>> misplaced;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_STAGECUTTER_H
