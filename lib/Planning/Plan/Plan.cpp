//===- Plan.cpp - Checks of plans -----------------------------------------===//

#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Model/ChoiceText.h"
#include "autopar/Planning/Plan/PlannedReshards.h"
#include "autopar/Support/Names.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

bool mayReshard(const GraphValue &value, const Sharding &from,
                const Sharding &to) {
  return !value.isNarrowSum || !reduces(from.partial, to.partial);
}

Sharding endPartial(Sharding sharding) {
  sharding.partial.clear();
  return sharding;
}

/// Returns the error for names that the plan has and the model has not: the
/// first in alphabetic order, and the number of others.
template <typename Node>
static Error extraItem(const StringMap<size_t> &left,
                       const std::vector<Node> &nodes, StringRef what) {
  SmallVector<StringRef> names(left.keys());
  llvm::sort(names);
  std::string others;
  if (names.size() > 1)
    others = formatv(", nor {0} other names of the plan", names.size() - 1);
  return createStringError(
      "the plan names " + what + " " + names.front() +
      ", which the model has not" + others +
      nearestNames(names.front(), nodes.size(),
                   [&](size_t i) { return StringRef(nodes[i].name); }));
}

template <typename Item, typename Node>
static Error alignItems(std::vector<Item> &items,
                        const std::vector<Node> &nodes, StringRef what) {
  StringMap<size_t> index;
  for (const auto &[position, item] : enumerate(items))
    index[item.name] = position;
  std::vector<Item> ordered;
  for (const Node &node : nodes) {
    auto it = index.find(node.name);
    if (it == index.end())
      return createStringError("the plan says nothing about " + what + " " +
                               node.name);
    ordered.push_back(std::move(items[it->second]));
    index.erase(it);
  }
  if (!index.empty())
    return extraItem(index, nodes, what);
  items = std::move(ordered);
  return Error::success();
}

static Error wrongModel(const Plan &plan, const ModelGraph &graph) {
  return createStringError(
      "the plan was made for another model (" + plan.model + ", hash " +
      utohexstr(plan.modelHash, true, 16) + "; this is " + graph.model +
      ", hash " + utohexstr(graph.hash, true, 16) +
      "): make it anew, or give --train, --precision, --bind and "
      "--check-numerics as then");
}

Error alignWith(Plan &plan, const ModelGraph &graph) {
  if (plan.modelHash != graph.hash)
    return wrongModel(plan, graph);
  if (Error error = alignItems(plan.ops, graph.ops, "op"))
    return error;
  return alignItems(plan.values, graph.values, "tensor");
}

//===----------------------------------------------------------------------===//
// Values and ops
//===----------------------------------------------------------------------===//

static Error failValue(const GraphValue &value, const Twine &what) {
  return createStringError("plan: tensor " + value.name + " " + what);
}

/// Checks a partial value, which still has to be reduced: it is not read from a
/// file or kept from setup, all its reductions are of one kind, and none is
/// over micro-batches.
static Error verifyPartial(const PlannedValue &planned, const GraphValue &value,
                           const Mesh &mesh) {
  ArrayRef<Partial> partials = planned.sharding.partial;
  if (partials.empty())
    return Error::success();
  if (value.source != ValueSource::Op || value.persistent || value.isNext)
    return failValue(value, "is read in blocks: it cannot be partial");
  for (const Partial &partial : partials) {
    if (partial.kind != partials.front().kind)
      return failValue(value, "is partial in two ways at once");
    if (mesh.subAxes()[partial.subAxis].time)
      return failValue(value, "cannot be partial over micro-batches");
  }
  return Error::success();
}

/// Checks the sharding of a value: its rank is the value's, its sub-axes exist,
/// each is used at most once, and there is no interval.
static Error verifyValue(const PlannedValue &planned, const GraphValue &value,
                         const Mesh &mesh) {
  if (planned.name != value.name)
    return failValue(value, "is called " + planned.name);
  if (planned.sharding.dims.size() != value.shape.size())
    return failValue(value, "has " + Twine(value.shape.size()) +
                                " dimensions, not " +
                                Twine(planned.sharding.dims.size()));
  std::vector<bool> used(mesh.subAxes().size(), false);
  auto use = [&](unsigned subAxis) {
    bool fresh = subAxis < used.size() && !used[subAxis];
    if (fresh)
      used[subAxis] = true;
    return fresh;
  };
  for (const DimSharding &dim : planned.sharding.dims) {
    if (dim.interval)
      return failValue(value, "cannot be sharded in overlapping intervals");
    if (!all_of(dim.subAxes, use))
      return failValue(value, "uses a mesh axis twice");
  }
  for (const Partial &partial : planned.sharding.partial)
    if (!use(partial.subAxis))
      return failValue(value, "uses a mesh axis twice");
  return verifyPartial(planned, value, mesh);
}

/// Returns the choices that each axis has in the op, to help those who edit a
/// plan.
static std::string allChoices(const ModelGraph &graph, const GraphOp &op,
                              const Mesh &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh.axes())
    if (axis.size > 1)
      text += "; " + possibleChoices(graph, op, *mesh.lookup(axis.name), mesh);
  return text;
}

/// Returns whether an assignment would mix micro-batches, which exchange
/// nothing.
static bool mixesMicroBatches(const GraphOp &op, const Assignment &assignment,
                              const Mesh &mesh) {
  return any_of(zip_equal(assignment, mesh.subAxes()), [&](auto pair) {
    auto [choice, subAxis] = pair;
    return subAxis.time && choice.kind != Choice::None &&
           (choice.kind == Choice::Pass ||
            op.facts->rule.factors[choice.index].kind != FactorKind::Parallel);
  });
}

static Error verifyOp(const Plan &plan, const PlannedOp &planned,
                      const GraphOp &op, const ModelGraph &graph,
                      StrategyTable &strategies) {
  if (planned.name != op.name)
    return createStringError("plan: op " + op.name + " is called " +
                             planned.name);
  if (!strategies.find(op, planned.assignment))
    return createStringError(
        "plan: op " + op.name + " cannot run so: " +
        whyIllegal(graph, op, planned.assignment, plan.mesh) +
        allChoices(graph, op, plan.mesh));
  if (mixesMicroBatches(op, planned.assignment, plan.mesh))
    return createStringError("plan: op " + op.name +
                             " cannot run so: it would mix micro-batches");
  if (planned.stage < 0 || planned.stage >= plan.stages)
    return createStringError("plan: op " + op.name + " is in stage " +
                             Twine(planned.stage) + ", but there are " +
                             Twine(plan.stages));
  return Error::success();
}

/// Returns why a value must not be resharded by these steps, "" if it may:
/// micro-batches exchange nothing, and a sum that is reduced in a wider type
/// must not be reduced in its own.
static std::string whyNot(const GraphValue &value, const Sharding &from,
                          const Sharding &to,
                          const PlannedReshards::Steps &steps,
                          const Mesh &mesh) {
  if (!mayReshard(value, from, to))
    return "a gradient is reduced in its own type, wider than this; the "
           "recipe's \"gradient_communication\" may allow less";
  if (mesh.timeCount() > 1 && !steps)
    return ("micro-batches (axis '" + kTimeAxis + "') exchange nothing").str();
  return "";
}

/// Checks that an op makes only reshards again that communicate. Stages send
/// each value once, so only plans of one stage make reshards again.
static Error verifyRegathers(const Plan &plan, const ModelGraph &graph,
                             const PlannedReshards &reshards) {
  for (const auto &[index, planned] : enumerate(plan.ops)) {
    const GraphOp &op = graph.ops[index];
    int64_t before = -1;
    for (unsigned operand : planned.regathers) {
      if (op.setup || plan.stages > 1)
        return createStringError(
            "plan: op " + op.name +
            " has 'regathers', which are for @step of a plan of one stage");
      if (int64_t(operand) <= before || operand >= op.operands.size())
        return createStringError(
            "plan: op " + op.name + ": 'regathers' must be numbers of its " +
            Twine(op.operands.size()) + " operands, ascending");
      const PlannedReshards::Steps &steps = reshards.ofOperand(index, operand);
      if (!steps || !communicates(*steps))
        return createStringError(
            "plan: op " + op.name + ": 'regathers' has operand " +
            Twine(operand) +
            ", which devices do not exchange before the op reads it");
      auto readsAlike = [&, index = index](unsigned other) {
        ArrayRef<Sharding> wanted = reshards.shardings(index).operands;
        return other < operand && op.operands[other] == op.operands[operand] &&
               wanted[other] == wanted[operand];
      };
      if (any_of(planned.regathers, readsAlike))
        return createStringError("plan: op " + op.name +
                                 ": 'regathers' has two operands that are one "
                                 "copy: leave one of them out");
      before = operand;
    }
  }
  return Error::success();
}

/// Checks that the sharding of a value can be resharded to or from each
/// sharding in which an op reads or makes it.
static Error verifyReshards(const Plan &plan, const ModelGraph &graph) {
  PlannedReshards reshards(graph, plan);
  auto check = [&](const Sharding &side, const PlannedReshards::Steps &steps,
                   unsigned index, bool result, const GraphOp &op) -> Error {
    const GraphValue &value = graph.values[index];
    const Sharding &sharding = plan.values[index].sharding;
    std::string why = whyNot(value, result ? side : sharding,
                             result ? sharding : side, steps, plan.mesh);
    if (why.empty())
      return Error::success();
    return createStringError("plan: tensor " + value.name + " is sharded " +
                             toString(sharding, plan.mesh) + ", but op " +
                             op.name + (result ? " gives " : " wants ") +
                             toString(side, plan.mesh) + ": " + why);
  };
  for (const auto &[index, op] : enumerate(graph.ops)) {
    const OpShardings &sides = reshards.shardings(index);
    for (const auto &[position, value] : enumerate(op.operands))
      if (Error error = check(sides.operands[position],
                              reshards.ofOperand(index, position), value,
                              /*result=*/false, op))
        return error;
    for (const auto &[position, value] : enumerate(op.results))
      if (Error error = check(sides.results[position],
                              reshards.ofResult(index, position), value,
                              /*result=*/true, op))
        return error;
  }
  return verifyRegathers(plan, graph, reshards);
}

static Error verifyStageOrder(const Plan &plan, const ModelGraph &graph) {
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    for (unsigned operand : op.operands) {
      const GraphValue &value = graph.values[operand];
      if (graph.isMadeInOneStage(value) &&
          plan.ops[value.producer].stage > plan.ops[index].stage)
        return createStringError("plan: op " + op.name +
                                 " reads from a later stage");
    }
  }
  return Error::success();
}

/// Checks that a state and its next value have the same sharding, and that a
/// model with states has one stage.
static Error verifyStates(const Plan &plan, const ModelGraph &graph) {
  for (const GraphState &state : graph.states)
    if (plan.values[state.argument].sharding !=
        plan.values[state.next].sharding)
      return createStringError(
          "plan: state " + graph.values[state.argument].name +
          " and its next value " + graph.values[state.next].name +
          " are sharded unlike: give both one sharding");
  if (!graph.states.empty() && plan.stages > 1)
    return createStringError("plan: a model with states runs in one stage");
  return Error::success();
}

void Plan::setLowerBound(double seconds) {
  lowerBoundSeconds = std::clamp(seconds, 0.0, predictedStepSeconds);
  gap = predictedStepSeconds > 0 ? 1 - lowerBoundSeconds / predictedStepSeconds
                                 : 0;
}

int64_t Plan::memoryLimit(int64_t stage) const {
  int64_t devices = cluster.deviceCount() / stages;
  return MemoryLimit(askedMemoryLimit(),
                     request.getInteger(kReservedBytes).value_or(0))
      .of(cluster.part(stage * devices, devices).memoryBytes());
}

std::vector<StageList> stagesThatRun(const ModelGraph &graph,
                                     const Plan &plan) {
  std::vector<int64_t> planned;
  for (const PlannedOp &op : plan.ops)
    planned.push_back(op.stage);
  SmallVector<unsigned> returned;
  for (unsigned value : graph.stepResults)
    if (graph.values[value].source == ValueSource::Op)
      returned.push_back(graph.values[value].producer);
  return graph.repeats.stagesThatRun(planned, returned);
}

StringRef stringifyObjective(Objective objective) {
  return kObjectives[unsigned(objective)];
}

Expected<Objective> parseObjective(StringRef text) {
  const StringRef *found = llvm::find(kObjectives, text);
  if (found != std::end(kObjectives))
    return Objective(found - std::begin(kObjectives));
  return createStringError("'" + text + "' is no objective: write one of " +
                           join(ArrayRef(kObjectives), ", ") +
                           didYouMean(text, kObjectives));
}

Error verify(const Plan &plan, const ModelGraph &graph) {
  if (plan.modelHash != graph.hash)
    return wrongModel(plan, graph);
  if (plan.ops.size() != graph.ops.size() ||
      plan.values.size() != graph.values.size())
    return createStringError("the plan has " + Twine(plan.ops.size()) +
                             " ops, the model " + Twine(graph.ops.size()));
  if (plan.stages < 1 || plan.microBatches < 1 ||
      plan.microBatches != plan.mesh.timeCount())
    return createStringError(
        "plan: micro_batches must be the size of the mesh's time axis");
  if (plan.mesh.deviceCount() * plan.stages != plan.cluster.deviceCount())
    return createStringError(
        "plan: " + Twine(plan.stages) + " stages of a mesh of " +
        Twine(plan.mesh.deviceCount()) + " devices need " +
        Twine(plan.mesh.deviceCount() * plan.stages) +
        " devices, its cluster has " + Twine(plan.cluster.deviceCount()));
  StrategyTable strategies(plan.mesh);
  for (const auto &[planned, op] : zip_equal(plan.ops, graph.ops))
    if (Error error = verifyOp(plan, planned, op, graph, strategies))
      return error;
  for (const auto &[planned, value] : zip_equal(plan.values, graph.values))
    if (Error error = verifyValue(planned, value, plan.mesh))
      return error;
  if (Error error = verifyReshards(plan, graph))
    return error;
  if (Error error = verifyStates(plan, graph))
    return error;
  return verifyStageOrder(plan, graph);
}

} // namespace autopar
