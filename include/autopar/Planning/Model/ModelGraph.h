//===- ModelGraph.h - What planning reads of a module ---------------------===//
//
// @setup and @step as one graph of ops and values: plain data, read once.
// A step argument that is a setup result is the same value as that result.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_PLANNING_MODEL_MODELGRAPH_H
#define AUTOPAR_PLANNING_MODEL_MODELGRAPH_H

#include "autopar/Cost/Roofline.h"
#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Interfaces/Sharding.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>
#include <vector>

namespace autopar {

/// What an op is by itself: ops that differ in operands and place only share
/// it.
struct GraphOpFacts {
  std::string signature; // of these and no others
  /// As the signature, with the rule in place of the attributes of an op that
  /// only moves data: from which offset it slices makes no difference here.
  std::string likeness;
  ShardingRule rule;
  KernelClass kernel = KernelClass::None;
  int64_t flops = 0;
  FlopsKind flopsKind = FlopsKind::Fp32;
  int64_t reductions = 0; // of a composite's parts, one after the other
  /// Per operand the first one that the rule treats in the same way.
  llvm::SmallVector<unsigned> alike;
};

struct GraphOp {
  std::string name; // of the ONNX node; unique
  std::shared_ptr<const GraphOpFacts> facts;
  bool setup = false;
  llvm::SmallVector<unsigned> operands, results; // values
  /// The root of its kernel group: pays the launch.
  bool launches = false;
  /// Per operand and result: whether it passes through memory, or stays inside
  /// a kernel group.
  llvm::SmallVector<bool> reads, writes;
};

struct GraphUse {
  unsigned op, operand;
};

enum class ValueSource { Op, Input, Parameter, State };

struct GraphValue {
  std::string name; // of the ONNX value; unique
  llvm::SmallVector<int64_t> shape;
  int64_t elementBytes = 0;
  ValueSource source = ValueSource::Op;
  unsigned producer = 0, resultIndex = 0; // of source Op
  llvm::SmallVector<GraphUse> uses;
  uint16_t rowDim = 0;        // of an input: 0, or 1 behind blocks of rows
  int16_t batchDim = -1;      // of an input: its batch; -1: it has none
  bool output = false;        // returned by @step to the user
  bool isGradient = false;    // returned as the gradient of a parameter
  bool isNext = false;        // returned by @step as a state's next value
  bool isWeight = false;      // a parameter, or a state that begins as one
  bool persistent = false;    // parameter, state or setup result of @step
  bool setup = false;         // exists before @step
  bool fromInput = false;     // depends on an input
  bool fromParameter = false; // depends on a parameter and on no input
  bool isNarrowSum = false;   // partial, it is reduced in a wider type only
};

/// A launch of @step: a kernel group, or a reshape between groups, which only
/// names its operand's memory.
struct GraphStep {
  llvm::SmallVector<unsigned> ops; // repeated cheap ones included
  unsigned root = 0;
  GroupKind kind = GroupKind::Loops;
  bool view = false;
  /// Pairs (result, operand): the one may be written over the other.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> inPlace;
};

/// A state as an argument and its value in the next step, which is result
/// `result` of @step. Both are sharded alike.
struct GraphState {
  unsigned argument, next, result;
};

struct ModelGraph {
  std::string model;
  uint64_t hash = 0;              // of everything but names
  std::string precision = "fp32"; // that it was brought to
  bool checksNumerics = false;    // at ops of its own
  std::vector<GraphOp> ops;       // setup's, then step's, in program order
  std::vector<GraphValue> values;
  /// Values in the order of arguments and of returned operands.
  std::vector<unsigned> setupArguments, stepArguments;
  std::vector<unsigned> setupResults, stepResults;
  std::vector<GraphState> states;
  std::vector<GraphStep> steps; // of @step, in the order in which they run
  const TargetTable *table = &targetTable(kTargetCpu); // of the target

  /// Other ops have no stage of their own: they follow those that read them.
  bool dependsOnInput(const GraphOp &op) const {
    return llvm::any_of(
        op.results, [&](unsigned result) { return values[result].fromInput; });
  }
  /// The first stage in which an op can be, for values flow to later stages
  /// only. `stages` has a stage for each op before it.
  int64_t earliestStage(const GraphOp &op,
                        llvm::ArrayRef<int64_t> stages) const {
    int64_t stage = 0;
    for (unsigned operand : op.operands)
      if (const GraphValue &value = values[operand];
          value.source == ValueSource::Op)
        stage = std::max(stage, stages[value.producer]);
    return stage;
  }
  /// An op of @step that depends on no input: never sent, but computed in each
  /// stage that reads it.
  bool isRepeated(const GraphOp &op) const {
    return !op.setup && !dependsOnInput(op);
  }
};

/// Fills in uses, names made unique, fromInput, fromParameter, batchDim and
/// hash.
void finishGraph(ModelGraph &graph);

} // namespace autopar

#endif // AUTOPAR_PLANNING_MODEL_MODELGRAPH_H
