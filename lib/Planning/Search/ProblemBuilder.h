//===- ProblemBuilder.h - What the parts of a problem's making share ------===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_PROBLEMBUILDER_H
#define AUTOPAR_LIB_PLANNING_SEARCH_PROBLEMBUILDER_H

#include "autopar/Planning/Search/BuildProblem.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Planning/Solver/Elimination.h"

namespace autopar {

/// @setup runs once: its seconds count, but very little.
inline constexpr double kSetupWeight = 0.01;

/// The data that all ops of a kind share.
struct OpKind {
  /// The shardings of an operand or result.
  struct Side {
    std::vector<unsigned> numbers;  // per strategy, in the reshard table
    std::vector<unsigned> distinct; // the first strategy of each number
  };

  std::vector<OpStrategy> strategies;
  std::vector<double> seconds; // of each strategy, once
  std::vector<Side> operands, results;
};

/// The seconds and bytes of each pair of choices of an edge, once.
struct EdgeTable {
  std::vector<double> seconds;
  std::vector<int64_t> bytes;
};

/// A table to fill. `sides` has the sharding that each strategy gives or wants,
/// as numbers of the reshard table.
struct TableJob {
  const EdgeKey *key;
  EdgeTable *table;
  unsigned type;
  llvm::SmallVector<unsigned, 0> candidates = {}, sides = {};
};

/// Gives choices to the nodes of a folded graph and prices the edges between
/// them (BuildProblem.cpp), turns solutions into plans (SolutionPlan.cpp) and
/// computes the least costs of stages (StageBoundCosts.cpp).
class ProblemBuilder : public PlanProblem {
public:
  explicit ProblemBuilder(const PlanQuestion &question)
      : graph(question.graph), cluster(question.cluster), mesh(question.mesh),
        demands(question.demands), limits(question.limits),
        cutoff(question.cutoff), places(cluster, question.pipeline),
        shared(question.shared ? question.shared
                               : std::make_shared<SharedWork>()),
        prices(pricesOf(places, mesh, *shared)),
        reshards(mesh, places.pathCost(mesh),
                 shared->prices(cluster, places.kinds, mesh),
                 leastPrice(places, mesh)),
        folded(shared->folded(graph, marksOfOps())), classes(folded.classes) {
    problem.memoryLimit = question.memoryLimit;
  }

  llvm::Error build();
  void writeDecisions(llvm::ArrayRef<unsigned> choice, Plan &plan,
                      llvm::ArrayRef<unsigned> before = {}) const override;
  void writePlan(const Solution &solution, Plan &plan) const override;
  std::vector<std::vector<double>>
  opSeconds(llvm::ArrayRef<unsigned> choice) const override;
  StageBoundCosts stageBoundCosts(double limit) const override;

private:
  std::vector<unsigned> marksOfOps() const;
  bool meetsTime(const Assignment &assignment, const OpDemand &demand) const;
  llvm::Error makeKind(unsigned op, OpKind &kind);
  void addSides(OpKind &kind);
  llvm::Error addOpNodes();
  llvm::Error dropDearStrategies();
  llvm::Error addValueNodes();
  llvm::Error addCandidates(unsigned valueClass);
  bool allows(unsigned valueClass, const Sharding &sharding) const;
  llvm::Error shareCandidates();
  llvm::Error limitCandidates(unsigned valueClass);
  void offer(unsigned valueClass, Sharding sharding);
  llvm::Error addEdges();
  TableJob jobOf(const EdgeKey &key, EdgeTable &table);
  void fillTable(const TableJob &job, ReshardTable::Prices &known) const;
  void fillTables(llvm::ArrayRef<TableJob> jobs) const;
  CostGraph costsInStages() const;
  void addParts(double limit, StageBoundCosts &stages) const;
  void addOps(StageBoundCosts &stages) const;
  void addMessages(StageBoundCosts &stages) const;

  double weightOf(bool setup) const {
    return setup ? kSetupWeight : double(mesh.timeCount());
  }
  unsigned opNode(unsigned opClass) const { return folded.opNodes[opClass]; }
  unsigned valueNode(unsigned valueClass) const {
    return folded.valueNodes[valueClass];
  }
  unsigned kindNumber(unsigned opClass) const {
    return classes.kindOfOp[classes.firstOp[opClass]];
  }
  const OpKind &kindOf(unsigned opClass) const {
    return kinds[kindNumber(opClass)];
  }
  OpLimit limitOf(unsigned op) const {
    return limits.constraints ? limits.ops[op] : OpLimit();
  }
  const GraphValue &firstValue(unsigned valueClass) const {
    return graph.values[classes.firstValue[valueClass]];
  }
  const OpKind::Side &sideOf(const EdgeKey &key) const {
    const OpKind &kind = kindOf(key.op);
    return (key.result ? kind.results : kind.operands)[key.position];
  }
  const Sharding &shardingAt(const EdgeKey &key,
                             const OpStrategy &strategy) const {
    const OpShardings &s = strategy.shardings;
    return (key.result ? s.results : s.operands)[key.position];
  }
  const Sharding &valueSharding(llvm::ArrayRef<unsigned> choice,
                                unsigned value) const {
    unsigned valueClass = classes.ofValue[value];
    return candidates[valueClass][choice[valueNode(valueClass)]];
  }
  const OpStrategy &opStrategy(llvm::ArrayRef<unsigned> choice,
                               unsigned op) const {
    unsigned opClass = classes.ofOp[op];
    return kindOf(opClass)
        .strategies[offered[opClass][choice[opNode(opClass)]]];
  }
  static ReshardCost leastPrice(const StagePlaces &places, const Mesh &mesh);

  const ModelGraph &graph;
  const Cluster &cluster;
  Mesh mesh;
  const OpDemands &demands;
  const Limits &limits;
  double cutoff;
  StagePlaces places;
  std::shared_ptr<SharedWork> shared;
  mutable std::vector<PlacePrices> prices; // per kind of place
  ReshardTable reshards;                   // prices at the cheapest place
  const FoldedGraph &folded;
  const GraphClasses &classes;
  std::vector<OpKind> kinds;
  /// Per op class, the strategies of its kind that are choices.
  std::vector<std::vector<unsigned>> offered;
  std::vector<std::vector<Sharding>> candidates; // per value class
};

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_PROBLEMBUILDER_H
