//===- PlanCost.h - What each part of a plan costs --------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SEARCH_PLANCOST_H
#define AUTOPAR_PLANNING_SEARCH_PLANCOST_H

#include "autopar/Planning/Plan/Messages.h"
#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include <map>
#include <tuple>

namespace autopar {

/// What a device of one stage does in a step, in seconds. The rest of the step
/// it waits for other stages.
struct StageCost {
  double compute = 0, communication = 0;
  double messages = 0; // sent and received
  double busy() const { return compute + communication + messages; }
};

/// Where several ops want a value in one other sharding.
enum class ReadCost {
  Shared,  // it is resharded once, where Partition has it
  PerRead, // each pays for itself where it runs, as the search has it
};
/// Where a reshard stands: at the op that makes the value, at one that reads
/// it, or where the step returns it.
struct ReshardPlace {
  unsigned value = 0;
  std::optional<unsigned> op; // nullopt: the step's result
  bool result = false;        // of op, not an operand
  Sharding from, to;
  llvm::SmallVector<int64_t, 1> stages; // in places alike
  ReshardPath path;
  double seconds = 0;                     // of a step, in one of the stages
  llvm::SmallVector<double, 0> fill = {}; // of a WantedSharding
};

/// Seconds of one step by op and by reshard, where each is; all micro-batches
/// together.
class PlanCost {
public:
  /// The plan is legal (verify); both must outlive it.
  PlanCost(const Plan &plan, const ModelGraph &graph,
           ReadCost reads = ReadCost::Shared);

  /// The op alone, were it to run so, in the first stage that runs it.
  double opSeconds(unsigned op, const OpStrategy &strategy);
  /// What the op alone communicates, in one micro-batch.
  llvm::SmallVector<ReshardStep, 1> combiningSteps(unsigned op) {
    return pricesOfOp(op).combiningSteps(graph, graph.ops[op], *strategies[op]);
  }
  /// The reshards at the op, there, were it to run so and the values to be
  /// sharded as planned, without those that other ops need too.
  double sidesSeconds(unsigned op, const OpStrategy &strategy);
  /// The reshards at the op, there: what ops share is at the first of them.
  double reshardSeconds(unsigned op) const { return secondsAt[op]; }
  /// The reshards of a value, were it sharded so and the ops to run as planned.
  double valueSeconds(unsigned value, const Sharding &sharding);
  const OpStrategy &strategyOf(unsigned op) const { return *strategies[op]; }
  llvm::ArrayRef<int64_t> stagesThatRun(unsigned op) const {
    return stagesOf[op];
  }

  double compute = 0, communication = 0; // of @step, of all stages
  std::vector<StageCost> stages;
  double setup = 0;                   // once, at load
  std::vector<ReshardPlace> reshards; // that communicate, in program order
  std::vector<StageMessage> messages; // of a micro-batch

private:
  double weight(bool setup) const {
    return setup ? 1 : double(plan.mesh.timeCount());
  }
  void findStages();
  PlacePrices &pricesIn(int64_t stage) { return prices[places.kindOf[stage]]; }
  PlacePrices &pricesOfOp(unsigned op);
  std::optional<int64_t> stageOfMaker(unsigned value, bool atSetup) const;
  llvm::SmallVector<int64_t, 1> stagesOfRead(unsigned value,
                                             std::optional<unsigned> op) const;
  int64_t stageOfRead(unsigned value, std::optional<unsigned> op) const;
  WantedSharding wantedBy(const GraphUse &use) const;
  bool isReadAlike(unsigned value, const WantedSharding &wanted,
                   unsigned op) const;
  void noteRead(unsigned value, std::optional<unsigned> op,
                const WantedSharding &wanted);
  void note(ReshardPlace place, llvm::ArrayRef<int64_t> where);
  void noteIn(ReshardPlace place, const ReshardTable &table);
  size_t stepsMade(const ReshardPlace &place, int64_t stage);
  void add(ReshardPlace place);
  bool isAtSetup(const ReshardPlace &place) const {
    return place.op && graph.ops[*place.op].setup;
  }
  void addMessages();

  const Plan &plan;
  const ModelGraph &graph;
  ReadCost reads;
  StagePlaces places;
  SharedWork shared;
  std::vector<PlacePrices> prices; // per kind of place
  StrategyTable table;
  std::vector<const OpStrategy *> strategies;          // per op
  std::vector<llvm::SmallVector<int64_t, 1>> stagesOf; // that run it, per op
  std::vector<double> secondsAt; // of reshards, in the first of them, per op
  SharedReshards<unsigned, bool> isMade, isMadeAtSetup;
  /// Reads by value, stage and whether at setup: path and fill.
  std::map<std::tuple<unsigned, int64_t, bool>, std::vector<ReshardPlace>> made;
};

/// What a device of each stage does, of a plan that `verify` accepts.
std::vector<StageCost> stageCosts(const Plan &plan, const ModelGraph &graph,
                                  ReadCost reads = ReadCost::Shared);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_PLANCOST_H
