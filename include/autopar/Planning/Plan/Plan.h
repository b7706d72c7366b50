//===- Plan.h - What was decided ------------------------------------------===//
//
// Also a JSON file (docs/PlanFile.md) that a person can read, edit, keep and
// hand in again.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_PLAN_H
#define AUTOPAR_PLANNING_PLAN_PLAN_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Interfaces/Sharding.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// What a plan makes least.
enum class Objective {
  Latency,    // seconds from the inputs of a step to its outputs
  Throughput, // seconds between the ends of steps, each begun before others end
  Step        // seconds of a training step
};
/// By number; as users write them.
inline constexpr llvm::StringRef kObjectives[] = {"latency", "throughput",
                                                  "step"};
llvm::StringRef stringifyObjective(Objective objective);
/// An error lists them.
llvm::Expected<Objective> parseObjective(llvm::StringRef text);

/// How steps pass the stages.
struct Pipeline {
  int64_t stages = 1;
  int64_t microBatches = 1;
  Objective objective = Objective::Latency;

  bool stepsOverlap() const {
    return objective == Objective::Throughput && stages > 1;
  }
  /// That work at a time, at most.
  int64_t stagesAtOnce() const {
    return stepsOverlap() ? stages : std::min(stages, microBatches);
  }
  /// Seconds of a step whose stages take `sum` together for one micro-batch and
  /// the slowest of them `slowest`, each on devices that it has for itself:
  /// each micro-batch passes all stages, the others follow it as fast as the
  /// slowest lets them. Where steps overlap, they follow those of the step
  /// before.
  double stepSeconds(double sum, double slowest) const {
    return stepsOverlap() ? double(microBatches) * slowest
                          : sum + double(microBatches - 1) * slowest;
  }
  /// The least share that a step takes of what all stages take for all
  /// micro-batches one after the other: the slowest is no faster than the mean.
  double leastShare() const {
    double of = 1 / double(microBatches);
    return stepSeconds(of, of / double(stages));
  }
};

struct PlannedOp {
  std::string name;
  Assignment assignment;
  int64_t stage = 0;
  /// What the assignment numbers: the op's kind and its sharding rule without
  /// sizes, `matmul ([0, 2], [2, 1]) -> ([0, 1])`; "": a file that does not
  /// say.
  std::string rule;
};

/// How a value is sharded for its users.
struct PlannedValue {
  std::string name;
  Sharding sharding;
};

/// Collectives of one kind, size and place in the mesh, in one step.
struct PlannedCollective {
  std::string kind;
  llvm::SmallVector<unsigned, 2> subAxes;
  int64_t bytes = 0; // of one, per device
  int64_t count = 0;
  double seconds = 0; // of all
  bool operator==(const PlannedCollective &o) const {
    return kind == o.kind && subAxes == o.subAxes && bytes == o.bytes;
  }
};

struct Plan {
  std::string model;
  uint64_t modelHash = 0;
  uint64_t structureHash = 0; // of the graph without sizes; 0: a file of format
                              // 1, which has none
  std::string precision = "fp32"; // that the model was brought to
  bool checksNumerics = false;    // the model has ops that do
  Cluster cluster;
  std::string strategy = "auto"; // as it was asked for
  llvm::json::Object request;    // what else was asked, for who compares it
  Mesh mesh;                     // of every stage; "time" first
  int64_t stages = 1;
  int64_t microBatches = 1;
  Objective objective = Objective::Latency;
  double predictedStepSeconds = 0;      // what the objective says
  int64_t predictedPeakMemoryBytes = 0; // of a device of the fullest stage
  std::vector<int64_t> predictedStageMemoryBytes; // of a device of each stage
  double lowerBoundSeconds = 0;
  double gap = 0;
  /// In the order of the graph.
  std::vector<PlannedOp> ops;
  std::vector<PlannedValue> values;
  std::vector<PlannedCollective> collectives;

  Pipeline pipeline() const { return {stages, microBatches, objective}; }
  /// How micro-batches follow each other.
  llvm::StringRef schedule() const { return stages > 1 ? "gpipe" : "none"; }
  /// Bytes per device that were asked for; 0: what the cluster's have.
  int64_t askedMemoryLimit() const {
    return request.getInteger("memory_limit").value_or(0);
  }
};

/// In `request`, of a plan for a part of the cluster: the devices of all of it.
inline constexpr llvm::StringLiteral kAllDevices = "cluster_devices";

/// Ops and values of the graph by name, legal assignments and shardings,
/// sub-axes and stages that exist, no stage that reads from a later one.
llvm::Error verify(const Plan &plan, const ModelGraph &graph);

/// Puts ops and values in the graph's order, by name; an error where the plan
/// and the graph do not have the same ones.
llvm::Error alignWith(Plan &plan, const ModelGraph &graph);

/// How a returned value leaves: what it is partial over is ended.
Sharding endPartial(Sharding sharding);
/// Whether the value may change its sharding so: what is reduced in a wider
/// type is not reduced as it is.
bool mayReshard(const GraphValue &value, const Sharding &from,
                const Sharding &to);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_PLAN_H
