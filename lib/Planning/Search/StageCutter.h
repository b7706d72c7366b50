//===- StageCutter.h - Where a pipeline's stages begin ----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_STAGECUTTER_H
#define AUTOPAR_LIB_PLANNING_SEARCH_STAGECUTTER_H

#include "Stages.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Plan/Messages.h"
#include "autopar/Planning/Search/StagePlaces.h"

namespace autopar {

/// Cuts are numbers of ops of @step that come before them. StageCuts.cpp says
/// which there are, Stages.cpp chooses among them.
class StageCutter {
public:
  StageCutter(const ModelGraph &graph, SecondsAtPlaces opSeconds,
              int64_t memoryLimit, const Limits &limits, Plan &plan)
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
  /// To the stage from the one before it, all that crosses the cut.
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
  int64_t memoryLimit; // that was asked for
  const Limits &limits;
  Plan &plan;
  StagePlaces places;
  CommunicationModel communication;
  std::vector<int64_t> earliest;    // stage that each op can be in
  std::vector<unsigned> ops;        // of @step
  std::vector<unsigned> positionOf; // per op
  /// Per kind of place and position the seconds of the ops before it that
  /// depend on an input.
  std::vector<std::vector<double>> before;
  std::vector<int64_t> crossing; // bytes per position
  std::vector<int64_t> messages; // values per position
  std::vector<size_t> cuts;      // positions, the first and last included
  /// Per stage which of those that differ the links are to the one before it.
  std::vector<unsigned> linksBefore;
  std::vector<std::vector<double>> sendSeconds; // per links and cut
  /// What the ops between two cuts need for themselves: bytes of the distinct
  /// arguments that they read, seconds per kind of place of what depends on no
  /// input and is repeated for them.
  struct Held {
    int64_t bytes = 0;
    llvm::SmallVector<double, 2> seconds;
  };
  std::vector<std::vector<Held>> runs; // per pair of cuts
  /// What the ops between two neighbouring cuts need, each once.
  struct Need {
    size_t before; // last cut up to which others needed it; 0: none did
    int64_t bytes; // of an argument
    std::optional<unsigned> op; // that is repeated
  };
  std::vector<std::vector<Need>> needs; // per cut, up to it
  /// Last cut up to which an op needed it so far; 0: none did.
  std::vector<size_t> endOfOp, endOfValue;
  /// Per kind of place: of all ops that depend on no input.
  std::vector<double> repeatedSeconds;
  /// Bytes of a device that a cut keeps from parameters.
  int64_t kept = 0;
  /// Of the cuts that were taken those that exceed the memory the least, where
  /// none fits.
  std::vector<size_t> leastCuts;
  int64_t leastExcess = 0;
  /// Per stage and position: ops before it that must not be in that stage.
  std::vector<std::vector<unsigned>> misplaced;
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_STAGECUTTER_H
