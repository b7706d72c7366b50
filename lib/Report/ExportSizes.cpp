//===- ExportSizes.cpp - A plan as sizes of parallelism -------------------===//

#include "ExportSizes.h"
#include "ExportUnits.h"
#include "RepeatedLayers.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace llvm;

namespace autopar {

namespace {

/// The number of ops or tensors of one kind, and the name of the first.
struct Counted {
  int64_t count = 0;
  std::string first;

  void add(StringRef name) {
    if (count++ == 0)
      first = name.str();
  }
  std::string text(StringRef what) const {
    return " in " + std::to_string(count) + " " + what.str() +
           (count == 1 ? "" : "s") + " (" + (count == 1 ? "" : "first: ") +
           first + ")";
  }
};

class SizeReader {
public:
  SizeReader(const Plan &plan, const ModelGraph &graph,
             const ExportSystem &system)
      : plan(plan), graph(graph), system(system), units(plan, graph, system) {}
  Expected<ExportSizes> read();

private:
  void compareOps(const ExportUnit &unit);
  void readSequenceParallel(const ExportUnit &unit);
  void compareLinear(const ExportUnit &unit);
  void readRows();
  void readLayers();
  void readZeroStage();
  void checkOrder();
  void checkBlocks();
  Error nothingHolds() const;
  void remark(const Twine &text) { sizes.remarks.push_back(text.str()); }

  const Plan &plan;
  const ModelGraph &graph;
  const ExportSystem &system;
  ExportUnits units;
  ExportSizes sizes;
};

} // namespace

//===----------------------------------------------------------------------===//
// Differences from the plan
//===----------------------------------------------------------------------===//

/// Adds remarks about ops in which the unit does something else than its role,
/// or does nothing although it could fulfil its role. Updates of parameters by
/// an optimizer are ignored, because they follow the parameters' shardings.
void SizeReader::compareOps(const ExportUnit &unit) {
  MapVector<SplitName, Counted> others;
  Counted idle;
  SplitName named = unit.role == Role::Data      ? SplitName::Batch
                    : unit.role == Role::Context ? SplitName::Sequence
                                                 : SplitName::Heads;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    std::optional<SplitName> outcome = units.outcomeOf(index, unit);
    if (outcome && !units.fits(index, *outcome, unit) &&
        (units.isWork(index) || !sizes.training))
      others[*outcome].add(op.name);
    std::optional<unsigned> factor = units.factorOf(index, named);
    if (!outcome && !op.setup && units.isWork(index) && factor &&
        op.facts->rule.factors[*factor].size > 1)
      idle.add(op.name);
  }
  for (const auto &[outcome, counted] : others)
    remark(units.nameOf(unit) + " splits " + stringifySplitName(outcome) +
           counted.text("op") + ": " + system.name +
           " has one axis do one "
           "thing");
  if (idle.count > 0)
    remark(units.nameOf(unit) + " does not split " + stringifySplitName(named) +
           idle.text("op") + ": " + system.name + " does");
}

/// Between contractions the devices of a tensor axis may hold blocks of the
/// sequence; blocks of the batch come near to it.
void SizeReader::readSequenceParallel(const ExportUnit &unit) {
  Counted batch;
  int64_t sequence = 0, whole = 0;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup || !graph.values[op.results.front()].fromInput ||
        (op.facts->kernel != KernelClass::Elementwise &&
         op.facts->kernel != KernelClass::Reduction))
      continue;
    std::optional<SplitName> outcome = units.outcomeOf(index, unit);
    sequence += outcome == SplitName::Sequence;
    whole += !outcome;
    if (outcome == SplitName::Batch)
      batch.add(op.name);
  }
  bool isSplit = sequence + batch.count > whole;
  sizes.sequenceParallel |= system.sequenceParallel && isSplit;
  if (batch.count > 0)
    remark(units.nameOf(unit) + " splits the batch between contractions" +
           batch.text("op") + ": " + system.name +
           (sizes.sequenceParallel ? " splits the sequence there"
                                   : " has it whole there"));
}

/// Against weights by columns, then by rows, as all three systems have it.
void SizeReader::compareLinear(const ExportUnit &unit) {
  std::vector<AxisDemand> pattern =
      demandsOf(graph, StrategyName::Tensor, plan.mesh.axes()[unit.axis].size);
  Counted otherwise, whole;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (pattern[index].empty() || op.facts->kernel != KernelClass::Contraction)
      continue;
    std::optional<SplitName> outcome = units.outcomeOf(index, unit);
    Choice choice = plan.ops[index].assignment[unit.subAxes.front()];
    if (!outcome)
      whole.add(op.name);
    else if (units.fits(index, *outcome, unit) &&
             *outcome != SplitName::Experts &&
             !is_contained(pattern[index], choice))
      otherwise.add(op.name);
  }
  if (otherwise.count > 0)
    remark(units.nameOf(unit) + " splits weights otherwise than " +
           system.name + ", by columns and then by rows," +
           otherwise.text("op"));
  if (whole.count > 0)
    remark(units.nameOf(unit) + " leaves weights whole" + whole.text("op") +
           ": " + system.name + " splits them by columns and then by rows");
}

/// The plan's devices count along the mesh, the system's data outermost.
void SizeReader::checkOrder() {
  auto place = [](const ExportUnit &unit) {
    return unit.role == Role::None ? Role::Data : unit.role;
  };
  if (!llvm::is_sorted(units.list(),
                       [&](const ExportUnit &a, const ExportUnit &b) {
                         return place(a) < place(b);
                       }))
    remark("devices are numbered along the plan's mesh, the last axis within "
           "the others; " +
           system.name +
           " numbers them with the tensor axis within the others");
}

void SizeReader::checkBlocks() {
  Counted uneven;
  auto isSplitEvenly = [&](const GraphValue &value, const Sharding &sharding) {
    for (const auto &[size, dim] : zip_equal(value.shape, sharding.dims))
      for (const ExportUnit &unit : units.list())
        if (unit.role != Role::Data && isUneven(size, dim, plan.mesh) &&
            any_of(unit.subAxes, [&axes = dim.subAxes](unsigned subAxis) {
              return is_contained(axes, subAxis);
            }))
          return false;
    return true;
  };
  for (const auto &[value, planned] : zip_equal(graph.values, plan.values))
    if (!isSplitEvenly(value, planned.sharding))
      uneven.add(value.name);
  if (uneven.count > 0)
    remark("blocks are of unequal size" + uneven.text("tensor") + ": " +
           system.name + " wants sizes that divide");
}

Error SizeReader::nothingHolds() const {
  std::string text;
  for (const ExportUnit &unit : units.list())
    text += "; " + units.nameOf(unit) + " " + units.outcomesOf(unit);
  return createStringError(system.name + " has no setting for this plan" +
                           text +
                           "; plan with --strategy data, tensor or "
                           "layer for one that has");
}

//===----------------------------------------------------------------------===//
// Rows, layers, ZeRO
//===----------------------------------------------------------------------===//

void SizeReader::readRows() {
  int64_t blocks = 1, batch = batchSize(graph);
  for (const GraphValue &value : graph.values)
    if (value.source == ValueSource::Input && value.rowDim > 0)
      blocks = std::max(blocks, value.shape.front());
  int64_t parts = sizes.data * plan.microBatches;
  sizes.microBatches = plan.microBatches * blocks;
  sizes.microBatchRows = ceilDiv(batch, parts);
  if (batch % parts != 0)
    remark("the batch of " + Twine(batch) + " is no multiple of " +
           Twine(parts) + " (data axes times micro-batches): " + system.name +
           " wants one, so the settings are of a batch of " +
           Twine(sizes.microBatchRows * parts));
}

/// A layer whose contractions are in several stages goes to the first of them.
void SizeReader::readLayers() {
  sizes.pipeline = plan.stages;
  if (plan.stages == 1)
    return;
  if (sizes.training && plan.schedule() == "gpipe")
    remark("the plan's schedule is gpipe: " + system.name +
           " runs one forward, one backward (1F1B)");
  std::vector<SmallVector<unsigned>> layers = repeatedLayers(graph);
  if (layers.empty()) {
    remark("no layer of the model repeats: " + system.name +
           " has no setting for how its ops are shared out among the stages");
    return;
  }
  sizes.layersOfStage.assign(plan.stages, 0);
  Counted cut;
  for (const SmallVector<unsigned> &layer : layers) {
    int64_t stage = plan.ops[layer.front()].stage;
    ++sizes.layersOfStage[stage];
    const auto *next = find_if(
        layer, [&](unsigned op) { return plan.ops[op].stage != stage; });
    if (next != layer.end())
      cut.add(plan.ops[*next].name);
  }
  if (cut.count > 0)
    remark("the plan cuts between stages" + cut.text("layer") + ": " +
           system.name + " cuts between layers");
}

/// The part of training that the data axes hold in blocks: 1 the optimizer's
/// state, 2 gradients too, 3 parameters too.
void SizeReader::readZeroStage() {
  std::array<int64_t, 4> split = {}, whole = {};
  auto add = [&](unsigned stage, unsigned index) {
    const GraphValue &value = graph.values[index];
    int64_t bytes = value.elementBytes;
    for (int64_t size : value.shape)
      bytes *= size;
    bool isSplit = any_of(units.list(), [&](const ExportUnit &unit) {
      return unit.role == Role::Data &&
             any_of(plan.values[index].sharding.dims,
                    [&](const DimSharding &dim) {
                      return is_contained(dim.subAxes, unit.subAxes.front());
                    });
    });
    (isSplit ? split : whole)[stage] += bytes;
  };
  for (const GraphState &state : graph.states)
    add(graph.values[state.argument].isWeight ? 3 : 1, state.argument);
  for (const auto &[index, value] : enumerate(graph.values))
    if (value.isGradient)
      add(2, index);
  for (unsigned stage : {1u, 2u, 3u})
    if (split[stage] > whole[stage])
      sizes.zeroStage = stage;
}

Expected<ExportSizes> SizeReader::read() {
  sizes.training = any_of(graph.states, [&](const GraphState &state) {
    return graph.values[state.argument].isWeight;
  });
  auto holds = [](const ExportUnit &unit) {
    return unit.role != Role::None || unit.experts;
  };
  if (plan.stages == 1 && !units.list().empty() && none_of(units.list(), holds))
    return nothingHolds();
  for (const ExportUnit &unit : units.list()) {
    int64_t &size = unit.role == Role::Tensor    ? sizes.tensor
                    : unit.role == Role::Context ? sizes.context
                                                 : sizes.data;
    size *= unit.size;
    sizes.expert *= unit.experts ? unit.size : 1;
    sizes.expertTensor *=
        unit.role == Role::Tensor && !unit.experts ? unit.size : 1;
    if (unit.role == Role::None)
      remark(units.nameOf(unit) + " " + units.outcomesOf(unit) + ": " +
             system.name + " has no such axis; its " + Twine(unit.size) +
             " devices split the batch in the settings");
    else
      compareOps(unit);
    if (unit.role == Role::Tensor) {
      readSequenceParallel(unit);
      compareLinear(unit);
    }
  }
  checkOrder();
  checkBlocks();
  readLayers();
  readRows();
  if (sizes.training)
    readZeroStage();
  return std::move(sizes);
}

Expected<ExportSizes> exportSizes(const Plan &plan, const ModelGraph &graph,
                                  const ExportSystem &system) {
  return SizeReader(plan, graph, system).read();
}

} // namespace autopar
