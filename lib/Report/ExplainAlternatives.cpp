//===- ExplainAlternatives.cpp - What else, and at what cost --------------===//

#include "ExplainText.h"
#include "SplitNames.h"
#include "autopar/Planning/Constraints/EnumerateStrategies.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "autopar/Planning/Model/ChoiceText.h"
#include "autopar/Planning/Search/Search.h"
#include "autopar/Report/PlanText.h"
#include "autopar/Support/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

/// The number of alternatives for which the whole step is searched anew.
static constexpr size_t kSearched = 3;

namespace {

/// An alternative strategy or sharding, its local cost, and the constraint that
/// asks for it.
struct Alternative {
  std::string text;
  double seconds = 0; // of the op and its reshards, or of the value's reshards
  Constraint pin;
};

} // namespace

/// Searches for the best plan that satisfies `pin`, with the plan's strategy,
/// mesh and micro-batches, but without its memory limit and constraints.
static Expected<Plan> searchAgain(const Plan &plan, const ModelGraph &graph,
                                  const Constraint &pin) {
  PlanRequest request;
  request.cluster = plan.cluster;
  if (Expected<SmallVector<StrategyName>> names =
          parseStrategies(plan.strategy))
    request.strategies = *names;
  else
    consumeError(names.takeError()); // a hand-written word
  request.mesh = writtenMesh(plan, request.strategies);
  request.microBatches = plan.stages > 1 ? plan.microBatches : 0;
  request.objective = plan.objective;
  request.constraints = {"explain", {pin}};
  return searchPlan(graph, request);
}

static void sortByPrice(std::vector<Alternative> &list) {
  llvm::stable_sort(list, [](const Alternative &a, const Alternative &b) {
    return a.seconds < b.seconds;
  });
}

/// Lists the alternatives with their local costs. The first kSearched also get
/// the time of the whole step.
static std::string alternativesText(const std::vector<Alternative> &list,
                                    double now, const Plan &plan,
                                    const ModelGraph &graph) {
  if (list.empty())
    return "no alternative on this mesh\n";
  std::string text = "alternatives: here, all else as it is; of the step, all "
                     "else searched anew on this mesh without constraints "
                     "and memory limit\n";
  for (const auto &[index, item] : enumerate(list)) {
    if (index == kShownRows) {
      text += formatv("  and {0} others\n", list.size() - kShownRows);
      break;
    }
    std::string whole;
    if (index < kSearched) {
      if (Expected<Plan> other = searchAgain(plan, graph, item.pin))
        whole = formatv("{0} ({1})", secondsText(other->predictedStepSeconds),
                        signedSeconds(other->predictedStepSeconds -
                                      plan.predictedStepSeconds));
      else
        whole = toString(other.takeError());
    }
    text += formatv("  {0,12}  {1}{2}{3}\n", signedSeconds(item.seconds - now),
                    item.text, whole.empty() ? "" : "; step ", whole);
  }
  return text;
}

template <typename Item>
static Expected<unsigned> find(const std::vector<Item> &items, StringRef name,
                               StringRef what) {
  auto it =
      llvm::find_if(items, [&](const Item &item) { return item.name == name; });
  if (it != items.end())
    return it - items.begin();
  return createStringError("the plan has no " + what + " '" + name + "'" +
                           nearestNames(name, items.size(), [&](size_t i) {
                             return StringRef(items[i].name);
                           }));
}

static Alternative otherStrategy(PlanCost &cost, unsigned op,
                                 const OpStrategy &strategy, const Mesh &mesh,
                                 const SplitNames &names, StringRef name) {
  Alternative item;
  item.text = names.strategyText(op, strategy.assignment);
  item.seconds = cost.opSeconds(op, strategy) + cost.sidesSeconds(op, strategy);
  item.pin.kind = Constraint::Node;
  item.pin.number = 1;
  item.pin.name = name.str();
  for (const auto &[choice, subAxis] :
       zip_equal(strategy.assignment, mesh.subAxes()))
    if (!subAxis.time)
      item.pin.strategy.push_back({subAxis.name, choice.kind == Choice::None
                                                     ? "replicated"
                                                     : toString(choice)});
  return item;
}

/// Returns the legal strategies other than the chosen one, cheapest first.
static std::vector<Alternative>
strategiesBeside(PlanCost &cost, const Plan &plan, const ModelGraph &graph,
                 const SplitNames &names, unsigned index) {
  const GraphOp &op = graph.ops[index];
  std::vector<Alternative> others;
  for (const OpStrategy &strategy :
       enumerateStrategies(op.facts->rule, plan.mesh, {}))
    if (strategy.assignment != cost.strategyOf(index).assignment)
      others.push_back(
          otherStrategy(cost, index, strategy, plan.mesh, names, op.name));
  erase_if(others,
           [](const Alternative &a) { return !std::isfinite(a.seconds); });
  sortByPrice(others);
  return others;
}

/// Lists the reshards of an op that communicate. A reshard that an earlier op
/// reads too is called shared, unless one of both makes it again.
static std::string reshardsAt(const PlanCost &cost, const Plan &plan,
                              const ModelGraph &graph, unsigned op) {
  std::string text;
  ArrayRef<unsigned> operands = graph.ops[op].operands;
  ArrayRef<Sharding> wanted = cost.strategyOf(op).shardings.operands;
  auto isNewest = [&](const ReshardPlace &place) { // before `op`
    return none_of(cost.reshards, [&](const ReshardPlace &later) {
      return later.again && later.value == place.value &&
             later.to == place.to && *later.op > *place.op && *later.op <= op;
    });
  };
  for (const ReshardPlace &place : cost.reshards) {
    bool isRead = !place.result && place.op && *place.op < op;
    if (place.op == op)
      text += formatv("  {0,12}  {1}\n", secondsText(place.seconds),
                      reshardText(place, graph, plan.mesh));
    else if (isRead &&
             any_of(zip_equal(operands, wanted),
                    [&](auto pair) {
                      auto [value, sharding] = pair;
                      return value == place.value && sharding == place.to;
                    }) &&
             isNewest(place))
      text += formatv("  {0,12}  {1}\n", "shared",
                      reshardText(place, graph, plan.mesh));
  }
  return text;
}

Expected<std::string> explainOp(const Plan &plan, const ModelGraph &graph,
                                StringRef name) {
  Expected<unsigned> index = find(graph.ops, name, "op");
  if (!index)
    return index.takeError();
  PlanCost cost(plan, graph);
  SplitNames names(graph, plan.mesh);
  const GraphOp &op = graph.ops[*index];
  const OpStrategy &chosen = cost.strategyOf(*index);
  double compute = cost.opSeconds(*index, chosen);
  double sides = cost.sidesSeconds(*index, chosen);
  std::string text = formatv(
      "op {0} ({1}{2}), stage {3}\nnow          {4}: {5} computing, {6} "
      "communicating\n",
      op.name, stringifyKernelClass(op.facts->kernel),
      op.setup ? ", at load" : "", plan.ops[*index].stage,
      names.strategyText(*index, chosen.assignment), secondsText(compute),
      secondsText(cost.reshardSeconds(*index)));
  text += reshardsAt(cost, plan, graph, *index);
  for (const MeshAxis &axis : plan.mesh.axes())
    if (axis.size > 1)
      text +=
          possibleChoices(graph, op, *plan.mesh.lookup(axis.name), plan.mesh) +
          "\n";
  return text +
         alternativesText(strategiesBeside(cost, plan, graph, names, *index),
                          compute + sides, plan, graph);
}

/// Converts alternatives to ways whose seconds are the difference from `now`.
static std::vector<OtherWay> waysOf(std::vector<Alternative> list, double now) {
  std::vector<OtherWay> ways;
  for (Alternative &item : list)
    ways.push_back({std::move(item.text), item.seconds - now});
  return ways;
}

std::vector<OtherWay> otherWaysOfOp(PlanCost &cost, const Plan &plan,
                                    const ModelGraph &graph,
                                    const SplitNames &names, unsigned op) {
  const OpStrategy &chosen = cost.strategyOf(op);
  return waysOf(strategiesBeside(cost, plan, graph, names, op),
                cost.opSeconds(op, chosen) + cost.sidesSeconds(op, chosen));
}

/// Returns the shardings that strategies of the value's producer and readers
/// have for it, and replication, except for the planned sharding.
static std::vector<Sharding> possibleShardings(PlanCost &cost, const Plan &plan,
                                               const ModelGraph &graph,
                                               unsigned value) {
  const GraphValue &item = graph.values[value];
  bool stored = item.source != ValueSource::Op || item.persistent;
  std::vector<Sharding> ways;
  auto offer = [&](Sharding sharding) {
    for (DimSharding &dim : sharding.dims)
      dim.interval = std::nullopt;
    if (stored)
      sharding.partial.clear();
    if (sharding != plan.values[value].sharding &&
        !is_contained(ways, sharding) &&
        std::isfinite(cost.valueSeconds(value, sharding)))
      ways.push_back(std::move(sharding));
  };
  offer(Sharding::replicated(item.shape.size()));
  auto offerSides = [&](unsigned op, bool result, unsigned position) {
    for (const OpStrategy &strategy :
         enumerateStrategies(graph.ops[op].facts->rule, plan.mesh, {}))
      offer((result ? strategy.shardings.results
                    : strategy.shardings.operands)[position]);
  };
  if (item.source == ValueSource::Op)
    offerSides(item.producer, true, item.resultIndex);
  for (const GraphUse &use : item.uses)
    offerSides(use.op, false, use.operand);
  return ways;
}

static Alternative otherSharding(PlanCost &cost, unsigned value,
                                 const Sharding &sharding, const Mesh &mesh,
                                 StringRef name) {
  Alternative item;
  item.text = toString(sharding, mesh);
  item.seconds = cost.valueSeconds(value, sharding);
  item.pin.kind = Constraint::Value;
  item.pin.number = 1;
  item.pin.name = name.str();
  item.pin.sharding.emplace();
  for (const DimSharding &dim : sharding.dims) {
    SmallVector<unsigned, 2> devices;
    copy_if(dim.subAxes, std::back_inserter(devices),
            [&](unsigned subAxis) { return !mesh.subAxes()[subAxis].time; });
    DimPattern pattern;
    for (std::string &axis : mesh.spell(devices))
      pattern.axes.push_back(std::move(axis));
    item.pin.sharding->dims.push_back(std::move(pattern));
  }
  for (const Partial &partial : sharding.partial)
    item.pin.sharding->partial.push_back(
        {mesh.subAxes()[partial.subAxis].name, partial.kind});
  return item;
}

/// Returns the possible shardings other than the planned one, cheapest first.
static std::vector<Alternative> shardingsBeside(PlanCost &cost,
                                                const Plan &plan,
                                                const ModelGraph &graph,
                                                unsigned value) {
  std::vector<Alternative> others;
  for (const Sharding &way : possibleShardings(cost, plan, graph, value))
    others.push_back(
        otherSharding(cost, value, way, plan.mesh, graph.values[value].name));
  sortByPrice(others);
  return others;
}

Expected<std::string> explainTensor(const Plan &plan, const ModelGraph &graph,
                                    StringRef name) {
  Expected<unsigned> index = find(graph.values, name, "tensor");
  if (!index)
    return index.takeError();
  PlanCost cost(plan, graph);
  const GraphValue &value = graph.values[*index];
  const Sharding &planned = plan.values[*index].sharding;
  double now = cost.valueSeconds(*index, planned);
  std::string text = formatv(
      "tensor {0} ({1} bytes on a device of {2})\nnow          {3}: {4} "
      "communicating\n",
      value.name, localBytes(value, planned, plan.mesh),
      localBytes(value, Sharding::replicated(value.shape.size()), plan.mesh),
      toString(planned, plan.mesh), secondsText(now));
  if (value.source == ValueSource::Op)
    text += "  made by op " + graph.ops[value.producer].name + " (" +
            strategyText(plan.ops[value.producer].assignment, plan.mesh) +
            ")\n";
  for (const GraphUse &use : ArrayRef(value.uses).take_front(kShownRows))
    text += "  read by op " + graph.ops[use.op].name + " (" +
            strategyText(plan.ops[use.op].assignment, plan.mesh) + ")\n";
  for (const ReshardPlace &place : cost.reshards)
    if (place.value == *index)
      text += formatv("  {0,12}  {1}\n", secondsText(place.seconds),
                      reshardText(place, graph, plan.mesh));
  return text + alternativesText(shardingsBeside(cost, plan, graph, *index),
                                 now, plan, graph);
}

std::vector<OtherWay> otherWaysOfValue(PlanCost &cost, const Plan &plan,
                                       const ModelGraph &graph,
                                       unsigned value) {
  return waysOf(shardingsBeside(cost, plan, graph, value),
                cost.valueSeconds(value, plan.values[value].sharding));
}

} // namespace autopar
