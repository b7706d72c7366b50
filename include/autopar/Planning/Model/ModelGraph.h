//===- ModelGraph.h - The graph of a module for planning --------*- C++ -*-===//
//
// A ModelGraph has @setup and @step as one graph of ops and values: plain data,
// which is read once. A step argument that is a setup result is the same value
// as that result.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_MODEL_MODELGRAPH_H
#define AUTOPAR_PLANNING_MODEL_MODELGRAPH_H

#include "autopar/Cost/Roofline.h"
#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Interfaces/Sharding.h"
#include "autopar/Planning/Model/Repeats.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>
#include <vector>

namespace autopar {

/// The properties of an op by itself. Ops that differ only in their operands
/// and place share them.
struct GraphOpFacts {
  std::string signature; // unique to these facts
  /// The signature with the rule in place of the attributes, if the op only
  /// moves data: for example, the offset of a slice makes no difference here.
  std::string likeness;
  ShardingRule rule;
  KernelClass kernel = KernelClass::None;
  int64_t flops = 0;
  FlopsKind flopsKind = FlopsKind::Fp32;
  int64_t reductions = 0; // of a composite's parts, run one by one
  /// Per operand, the first operand that the rule treats in the same way.
  llvm::SmallVector<unsigned> alike;
};

struct GraphOp {
  std::string name; // of the ONNX node; unique
  std::shared_ptr<const GraphOpFacts> facts;
  bool setup = false;
  llvm::SmallVector<unsigned> operands, results; // values
  /// The op is the root of its kernel group, which pays the launch.
  bool launches = false;
  /// Per operand and per result, whether it passes through memory; if not, it
  /// stays inside a kernel group.
  llvm::SmallVector<bool> reads, writes;
  Task task = Task::Forward;
};

struct GraphUse {
  unsigned op, operand;
};

enum class ValueSource { Op, Input, Parameter, State };
/// Returns whether an argument of @step may differ from step to step. A state
/// does, also one that begins as a weight: each step writes its next value.
inline bool differsBetweenSteps(ValueSource source) {
  return source == ValueSource::Input || source == ValueSource::State;
}

struct GraphValue {
  std::string name; // of the ONNX value; unique
  llvm::SmallVector<int64_t> shape;
  int64_t elementBytes = 0;
  ValueSource source = ValueSource::Op;
  unsigned producer = 0, resultIndex = 0; // if the source is Op
  llvm::SmallVector<GraphUse> uses;
  uint16_t rowDim = 0;     // of an input: 0, or 1 behind blocks of rows
  int16_t batchDim = -1;   // of an input; -1 if it has no batch
  bool output = false;     // returned by @step to the user
  bool isGradient = false; // returned as the gradient of a parameter
  bool isNext = false;     // returned by @step as a state's next value
  bool isWeight = false;   // a parameter, or a state that begins as one
  bool persistent = false; // parameter, state or setup result of @step
  bool setup = false;      // exists before @step
  /// The role of the value for strategies: it depends on an input, or on a
  /// state that is no weight; or it depends on weights and on nothing of these.
  bool fromInput = false, fromParameter = false;
  bool isNarrowSum = false; // a partial sum, reduced only in a wider type
};

/// A launch of @step: a kernel group, or a reshape between groups, whose result
/// only names its operand's memory.
struct GraphStep {
  llvm::SmallVector<unsigned> ops; // including cheap ops that are repeated
  unsigned root = 0;
  std::optional<CallKind> call; // none: loops
  bool view = false;
  /// Pairs (result, operand): the result may be written over the operand.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> inPlace;
};

/// A state as an argument and its value in the next step, which is result
/// `result` of @step. Both are sharded alike.
struct GraphState {
  unsigned argument, next, result;
};

struct ModelGraph {
  std::string model;
  uint64_t hash = 0;              // of all but names
  std::string precision = "fp32"; // of the converted model
  bool checksNumerics = false;    // the model has ops for that
  std::vector<GraphOp> ops;       // of @setup, then @step, in program order
  std::vector<GraphValue> values;
  /// Values in the order of arguments and of returned operands.
  std::vector<unsigned> setupArguments, stepArguments;
  std::vector<unsigned> setupResults, stepResults;
  std::vector<GraphState> states;
  std::vector<GraphStep> steps; // of @step, in the order in which they run
  const TargetTable *table = &targetTable(kTargetCpu); // the target's

  Repeats repeats; // of the ops

  /// Returns whether a plan decides the stage of an op. Repeated ops run in
  /// each stage that reads them (Repeats.h), and each stage's @setup has those
  /// ops of
  /// @setup that its step reads.
  bool hasOwnStage(unsigned op) const {
    return !ops[op].setup && !repeats.isRepeated(op);
  }
  /// Returns whether an op makes the value in one stage, from which other
  /// stages get it in a message.
  bool isMadeInOneStage(const GraphValue &value) const {
    return value.source == ValueSource::Op && hasOwnStage(value.producer);
  }
  /// Gives each op without a stage of its own the first of the `count` stages
  /// in which an op reads it, or the last one if none does.
  void completeStages(llvm::MutableArrayRef<int64_t> stages,
                      int64_t count) const;
  /// Returns the first stage in which an op can be, for values flow to later
  /// stages only. `stages` has a stage for each op before it.
  int64_t earliestStage(const GraphOp &op,
                        llvm::ArrayRef<int64_t> stages) const {
    int64_t stage = 0;
    for (unsigned operand : op.operands)
      if (const GraphValue &value = values[operand];
          value.source == ValueSource::Op)
        stage = std::max(stage, stages[value.producer]);
    return stage;
  }
};

/// Fills in uses, repeats, fromInput, fromParameter, batchDim and hash, and
/// makes names unique.
void finishGraph(ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_MODELGRAPH_H
