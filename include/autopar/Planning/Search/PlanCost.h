//===- PlanCost.h - What each part of a plan costs --------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_SEARCH_PLANCOST_H
#define AUTOPAR_PLANNING_SEARCH_PLANCOST_H

#include "autopar/Planning/Plan/Messages.h"
#include "autopar/Planning/Plan/PlannedReshards.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include <map>
#include <tuple>

namespace autopar {

/// The seconds that a device of one stage is busy in a step. For the rest of
/// the step it waits for other stages.
struct StageCost {
  double compute = 0, communication = 0;
  double messages = 0; // sent and received
  double busy() const { return compute + communication + messages; }
};

/// The ways to price reshards if several ops want a value in the same sharding.
enum class ReadCost {
  Shared,  // one reshard serves them all, as in Partition
  PerRead, // each op pays for its own, as in the search
};
/// A reshard and its place: at the op that makes the value, at an op that reads
/// it, or where the step returns it.
struct ReshardPlace {
  unsigned value = 0;
  std::optional<unsigned> op; // nullopt: a result of the step
  bool result = false;        // a result of op, else an operand
  Sharding from, to;
  StageList stages; // all of one kind of place
  ReshardPath path;
  double seconds = 0;                     // per step, in one of the stages
  llvm::SmallVector<double, 0> fill = {}; // as in WantedSharding
  bool again = false; // an op before this one had the same reshard
};

/// The seconds of one step for all micro-batches together, by op and by
/// reshard.
class PlanCost {
public:
  /// Prices a legal plan (see verify). `plan` and `graph` must outlive this
  /// object.
  PlanCost(const Plan &plan, const ModelGraph &graph,
           ReadCost reads = ReadCost::Shared);

  /// Returns the seconds of the op alone if it ran with `strategy`, in the
  /// first stage that runs it.
  double opSeconds(unsigned op, const OpStrategy &strategy);
  /// Returns the step that the op alone communicates in one micro-batch, once
  /// for each reduction.
  std::optional<ReshardStep> combiningStep(unsigned op) {
    return pricesOfOp(op).combiningStep(graph, graph.ops[op], *strategies[op]);
  }
  /// Returns the seconds of the reshards at the op in that stage, if it ran
  /// with `strategy` and values were sharded as planned. Reshards that other
  /// ops need, too, are not counted.
  double sidesSeconds(unsigned op, const OpStrategy &strategy);
  /// Returns the seconds of the reshards at the op in that stage. A reshard
  /// that ops share counts at the first of these ops.
  double reshardSeconds(unsigned op) const { return secondsAt[op]; }
  /// Returns the seconds of all reshards of a value if it had `sharding` and
  /// ops ran as planned.
  double valueSeconds(unsigned value, const Sharding &sharding);
  const OpStrategy &strategyOf(unsigned op) const { return *strategies[op]; }
  llvm::ArrayRef<int64_t> stagesThatRun(unsigned op) const {
    return stagesOf[op];
  }

  double compute = 0, communication = 0; // in @step, in all stages
  std::vector<StageCost> stages;
  double setup = 0; // once, at load
  /// The reshards that communicate, in program order.
  std::vector<ReshardPlace> reshards;
  std::vector<StageMessage> messages; // in a micro-batch

private:
  double weight(bool setup) const {
    return setup ? 1 : double(plan.mesh.timeCount());
  }
  PlacePrices &pricesIn(int64_t stage) { return prices[places.kindOf[stage]]; }
  PlacePrices &pricesOfOp(unsigned op);
  std::optional<int64_t> stageOfMaker(unsigned value, bool atSetup) const;
  StageList stagesOfRead(unsigned value, std::optional<unsigned> op) const;
  int64_t stageOfRead(unsigned value, std::optional<unsigned> op) const;
  WantedSharding wantedBy(const GraphUse &use) const;
  size_t copyRead(unsigned value, const WantedSharding &wanted,
                  std::optional<unsigned> op) const;
  bool isReadAlike(unsigned value, const WantedSharding &wanted,
                   unsigned op) const;
  void noteRead(unsigned value, std::optional<unsigned> op,
                const WantedSharding &wanted,
                const PlannedReshards::Steps &steps, bool again);
  void note(ReshardPlace place, const PlannedReshards::Steps &steps,
            llvm::ArrayRef<int64_t> where);
  void noteIn(ReshardPlace place, const ReshardPath &path);
  size_t stepsMade(const ReshardPlace &place, int64_t stage);
  void add(ReshardPlace place);
  bool isAtSetup(const ReshardPlace &place) const {
    return place.op && graph.ops[*place.op].setup;
  }
  void addMessages();

  const Plan &plan;
  const ModelGraph &graph;
  ReadCost reads;
  PlannedReshards recorded;
  StagePlaces places;
  SharedWork shared;
  std::vector<PlacePrices> prices; // per kind of place
  StrategyTable table;
  std::vector<const OpStrategy *> strategies; // per op
  /// Per op, the stages that run it.
  std::vector<StageList> stagesOf;
  /// Per op, the seconds of its reshards in the first stage that runs it.
  std::vector<double> secondsAt;
  SharedReshards<unsigned, bool> isMade, isMadeAtSetup;
  /// The reshards so far (path and fill) of each value, stage and whether they
  /// run in @setup.
  std::map<std::tuple<unsigned, int64_t, bool>, std::vector<ReshardPlace>> made;
};

/// Returns the seconds of a device of each stage. The plan must be one that
/// `verify` accepts.
std::vector<StageCost> stageCosts(const Plan &plan, const ModelGraph &graph,
                                  ReadCost reads = ReadCost::Shared);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SEARCH_PLANCOST_H
