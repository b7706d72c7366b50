//===- Plan.h - The decisions of planning -----------------------*- C++ -*-===//
//
// A plan can be written as a JSON file (docs/PlanFile.md), which a person can
// read, edit, keep and pass to the compiler again.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_PLAN_H
#define AUTOPAR_PLANNING_PLAN_PLAN_H

#include "autopar/Cluster/Cluster.h"
#include "autopar/Interfaces/Sharding.h"
#include "autopar/Planning/Model/ModelGraph.h"
#include "autopar/Planning/Plan/StageCounts.h"
#include "llvm/Support/JSON.h"

namespace autopar {

/// The quantity that a plan minimises.
enum class Objective {
  Latency,    // seconds from the inputs of a step to its outputs
  Throughput, // seconds between the ends of steps, each begun before others end
  Step        // seconds of a training step
};
/// The names of objectives by number, as users write them.
inline constexpr llvm::StringRef kObjectives[] = {"latency", "throughput",
                                                  "step"};
llvm::StringRef stringifyObjective(Objective objective);
/// Returns the objective of this name, or an error that lists all names.
llvm::Expected<Objective> parseObjective(llvm::StringRef text);

/// The way of the micro-batches of steps through the stages.
struct Pipeline {
  int64_t stages = 1;
  int64_t microBatches = 1;
  Objective objective = Objective::Latency;

  bool stepsOverlap() const {
    return objective == Objective::Throughput && stages > 1;
  }
  /// Returns the number of stages that work at the same time, at most.
  int64_t stagesAtOnce() const {
    return stepsOverlap() ? stages : std::min(stages, microBatches);
  }
  /// Returns the seconds of a step whose stages take `sum` together for one
  /// micro-batch, and the slowest of them `slowest`, if each stage has its own
  /// devices. The first micro-batch passes through all stages; each other one
  /// ends `slowest` seconds after the one before. If steps overlap,
  /// micro-batches follow those of the step before in the same way.
  double stepSeconds(double sum, double slowest) const {
    return stepsOverlap() ? double(microBatches) * slowest
                          : sum + double(microBatches - 1) * slowest;
  }
  /// Returns the least share that a step can take of the seconds of all stages
  /// and micro-batches one after the other: the slowest stage takes no less
  /// than the mean.
  double leastShare() const {
    double of = 1 / double(microBatches);
    return stepSeconds(of, of / double(stages));
  }
};

/// The bytes that the devices of a plan may hold.
struct MemoryLimit {
  MemoryLimit(int64_t asked = 0, int64_t reserved = 0)
      : asked(asked), reserved(reserved) {}

  int64_t asked;    // per device; 0: the memory of the device
  int64_t reserved; // what a search leaves free of that

  /// Returns the bytes that a device with so much memory may hold. 0 stands for
  /// no limit, for both.
  int64_t of(int64_t memory) const {
    int64_t limit = asked ? asked : memory;
    return limit ? std::max<int64_t>(limit - reserved, 1) : 0;
  }
};

struct PlannedOp {
  std::string name;
  Assignment assignment;
  int64_t stage = 0;
  /// The op's kind and its sharding rule without sizes, whose factors the
  /// assignment numbers: `matmul ([0, 2], [2, 1]) -> ([0, 1])`; "" if the file
  /// has none.
  std::string rule;
  /// The operands, ascending, whose reshard is made again for this op, although
  /// an op before it read the value in the same sharding (Regathers.h).
  llvm::SmallVector<unsigned, 1> regathers = {};
  /// The op is a GEMM whose operands are padded so that their rows are aligned
  /// (Padding.h). It follows from the plan and is not in the file.
  bool padded = false;

  bool regathersOperand(unsigned operand) const {
    return llvm::is_contained(regathers, operand);
  }
};

/// The sharding in which a value is stored for its users.
struct PlannedValue {
  std::string name;
  Sharding sharding;
};

/// Collectives of one kind, size and place in the mesh, in one step.
struct PlannedCollective {
  std::string kind;
  llvm::SmallVector<unsigned, 2> subAxes;
  int64_t bytes = 0; // of one collective, per device
  int64_t count = 0;
  double seconds = 0; // of all these collectives
  bool operator==(const PlannedCollective &o) const {
    return kind == o.kind && subAxes == o.subAxes && bytes == o.bytes;
  }
};

struct Plan {
  std::string model;
  uint64_t modelHash = 0;
  uint64_t structureHash = 0; // of the graph without sizes; 0: a file of format
                              // 1, which has none
  std::string precision = "fp32"; // of the converted model
  bool checksNumerics = false;    // the model has ops for that
  Cluster cluster;
  std::string strategy = "auto"; // as requested
  llvm::json::Object request;    // other options, for comparisons of plans
  Mesh mesh;                     // of every stage; axis "time" is first
  int64_t stages = 1;
  int64_t microBatches = 1;
  Objective objective = Objective::Latency;
  double predictedStepSeconds = 0; // in the sense of the objective
  /// The bytes of a device of the fullest stage and of each stage: estimates of
  /// the search, and then those of the program (`program`).
  int64_t predictedPeakMemoryBytes = 0;
  std::vector<int64_t> predictedStageMemoryBytes;
  /// The kernels and the memory of each stage of the plan's program; empty
  /// until the program was scheduled.
  std::vector<StageCounts> program;
  double lowerBoundSeconds = 0;
  double gap = 0;
  /// Ops and values are in the order of the graph.
  std::vector<PlannedOp> ops;
  std::vector<PlannedValue> values;
  std::vector<PlannedCollective> collectives;

  /// Sets the bound, which is at most the predicted seconds, and the gap.
  void setLowerBound(double seconds);
  Pipeline pipeline() const { return {stages, microBatches, objective}; }
  /// Returns the name of the schedule, by which micro-batches follow each
  /// other.
  llvm::StringRef schedule() const { return stages > 1 ? "gpipe" : "none"; }
  /// Returns the memory limit per device, in bytes, that the user asked for; 0
  /// if the limit is the memory of the cluster's devices.
  int64_t askedMemoryLimit() const {
    return request.getInteger("memory_limit").value_or(0);
  }
  /// Returns the bytes that a device of a stage may hold by the search's
  /// estimate: the limit that the user asked for, or else its memory, without
  /// the bytes that the search left free; 0: no limit.
  int64_t memoryLimit(int64_t stage) const;
};

/// The key in `request` of the number of devices of the whole cluster; the
/// plans for a part of the cluster have it.
inline constexpr llvm::StringLiteral kAllDevices = "cluster_devices";
/// The key in `request` of the bytes of a device's limit that the search left
/// free, because the programs of plans take more than it estimates.
inline constexpr llvm::StringLiteral kReservedBytes = "reserved_bytes";

/// Checks a plan against the graph: names of ops and values, legal assignments
/// and shardings, sub-axes and stages that exist, and that no stage reads from
/// a later one.
llvm::Error verify(const Plan &plan, const ModelGraph &graph);

/// Returns the stages that run each op: those that read it, if it is repeated.
std::vector<StageList> stagesThatRun(const ModelGraph &graph, const Plan &plan);

/// Puts ops and values in the graph's order, by name. Returns an error if the
/// plan and the graph do not have the same ones.
llvm::Error alignWith(Plan &plan, const ModelGraph &graph);

/// Returns the sharding in which a value with this one is returned: the same
/// without partial sums.
Sharding endPartial(Sharding sharding);
/// Returns whether the value may be resharded so. A partial sum that has to be
/// reduced in a wider type must not be reduced in its own.
bool mayReshard(const GraphValue &value, const Sharding &from,
                const Sharding &to);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_PLAN_H
