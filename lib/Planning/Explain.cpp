//===- Explain.cpp - Why a plan is as it is -------------------------------===//

#include "autopar/Planning/Explain.h"
#include "ChoiceText.h"
#include "Names.h"
#include "PlanCost.h"
#include "Units.h"
#include "autopar/Planning/Search.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace autopar {

/// Rows of a list before "and N others".
static constexpr size_t kShown = 12;
/// Alternatives for which the whole step is searched anew.
static constexpr size_t kSearched = 3;
static constexpr StringLiteral kStageAxis = "layer";

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// `data: split 0, tensor: pass 1`; an axis whose primes do different things is
/// told prime by prime.
static std::string strategyText(const Assignment &assignment,
                                const Mesh &mesh) {
  SmallVector<std::string> parts;
  for (const MeshAxis &axis : mesh.axes()) {
    SmallVector<unsigned> atoms = *mesh.lookup(axis.name);
    bool same = all_of(atoms, [&](unsigned atom) {
      return assignment[atom] == assignment[atoms.front()];
    });
    for (unsigned atom : same ? ArrayRef(atoms).take_front(1) : ArrayRef(atoms))
      if (assignment[atom].kind != Choice::None)
        parts.push_back((same ? axis.name : mesh.atoms()[atom].name) + ": " +
                        toString(assignment[atom]));
  }
  return parts.empty() ? "replicated" : join(parts, ", ");
}

static std::string placeText(const ReshardPlace &place, const ModelGraph &graph,
                             const Mesh &mesh) {
  std::string name = "tensor " + graph.values[place.value].name;
  std::string from = toString(place.from, mesh), to = toString(place.to, mesh);
  if (!place.op)
    return name + " lies " + from + ", returned as " + to;
  std::string op = "op " + graph.ops[*place.op].name;
  if (place.result)
    return op + " gives " + name + " as " + from + ", users want " + to;
  return name + " lies " + from + ", " + op + " wants " + to;
}

static std::string stepsText(const ReshardPath &path, const Mesh &mesh) {
  SmallVector<std::string> parts;
  for (const ReshardStep &step : path)
    if (!isLocal(step.kind))
      parts.push_back(
          formatv("{0} over {1} of {2}", stringifyReshardKind(step.kind),
                  join(mesh.spell(step.atoms), "+"), bytesText(step.bytes)));
  return join(parts, ", ");
}

static std::string shareText(double part, double whole) {
  return whole > 0 ? formatv("{0:f1}%", 100 * part / whole).str() : "";
}

//===----------------------------------------------------------------------===//
// The whole plan
//===----------------------------------------------------------------------===//

/// Seconds of the ops of each kernel class, dearest first.
static std::vector<std::pair<double, std::string>>
secondsByClass(PlanCost &cost, const ModelGraph &graph) {
  std::map<std::string, double> sums;
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup)
      sums[stringifyKernelClass(op.kernel).str()] +=
          cost.opSeconds(index, cost.strategyOf(index));
  std::vector<std::pair<double, std::string>> list;
  for (const auto &[name, seconds] : sums)
    if (seconds > 0)
      list.push_back({seconds, name});
  llvm::stable_sort(
      list, [](const auto &a, const auto &b) { return a.first > b.first; });
  return list;
}

static std::string partsText(PlanCost &cost, const Plan &plan,
                             const ModelGraph &graph) {
  double whole = cost.compute + cost.communication;
  std::string text =
      formatv("step         {0} predicted, at least {1} on this mesh\n",
              secondsText(plan.predictedStepSeconds),
              secondsText(plan.lowerBoundSeconds));
  auto row = [&](StringRef name, double seconds) {
    text += formatv("  {0,-18} {1,12} {2,7}\n", name, secondsText(seconds),
                    shareText(seconds, whole));
  };
  for (const auto &[seconds, name] : secondsByClass(cost, graph))
    row(name, seconds);
  row("communication", cost.communication);
  if (cost.setup > 0)
    text += formatv("at load      {0}, once\n", secondsText(cost.setup));
  if (plan.stages > 1)
    text += formatv("pipeline     {0} stages, {1} micro-batches: the parts "
                    "above are of all devices together\n",
                    plan.stages, plan.microBatches);
  return text;
}

static std::string dearestOps(PlanCost &cost, const Plan &plan,
                              const ModelGraph &graph) {
  std::vector<std::pair<double, unsigned>> list;
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup)
      list.push_back({cost.opSeconds(index, cost.strategyOf(index)), index});
  llvm::stable_sort(
      list, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string text = "dearest ops\n";
  for (auto [seconds, index] : ArrayRef(list).take_front(kShown))
    if (seconds > 0)
      text += formatv("  {0,12}  {1}  ({2})\n", secondsText(seconds),
                      graph.ops[index].name,
                      strategyText(plan.ops[index].assignment, plan.mesh));
  return text;
}

static std::string origins(const PlanCost &cost, const Plan &plan,
                           const ModelGraph &graph) {
  if (cost.reshards.empty())
    return "no collective\n";
  std::vector<const ReshardPlace *> list;
  for (const ReshardPlace &place : cost.reshards)
    list.push_back(&place);
  llvm::stable_sort(list, [](const ReshardPlace *a, const ReshardPlace *b) {
    return a->seconds > b->seconds;
  });
  std::string text = "where collectives come from\n";
  for (const ReshardPlace *place : ArrayRef(list).take_front(kShown))
    text += formatv("  {0,12}  {1}: {2}\n", secondsText(place->seconds),
                    stepsText(place->path, plan.mesh),
                    placeText(*place, graph, plan.mesh));
  if (list.size() > kShown)
    text += formatv("  and {0} others\n", list.size() - kShown);
  return text;
}

std::string explainPlan(const Plan &plan, const ModelGraph &graph) {
  PlanCost cost(plan, graph);
  return partsText(cost, plan, graph) + dearestOps(cost, plan, graph) +
         origins(cost, plan, graph);
}

//===----------------------------------------------------------------------===//
// Alternatives
//===----------------------------------------------------------------------===//

namespace {

/// Another way, what it costs where it is, and the constraint that asks for it.
struct Alternative {
  std::string text;
  double seconds = 0; // of the op and its reshards, or of the value's reshards
  Constraint pin;
};

} // namespace

/// The same question that the plan answered, with `pin` beside it.
static Expected<Plan> searchAgain(const Plan &plan, const ModelGraph &graph,
                                  const Constraint &pin) {
  PlanRequest request;
  request.cluster = plan.cluster;
  if (Expected<SmallVector<StrategyName>> names =
          parseStrategies(plan.strategy))
    request.strategies = *names;
  else
    consumeError(names.takeError()); // a hand-written word
  if (plan.stages > 1)
    request.mesh.push_back({kStageAxis.str(), plan.stages});
  for (const MeshAxis &axis : plan.mesh.axes())
    if (axis.name != kTimeAxis && axis.size > 1)
      request.mesh.push_back(axis);
  request.microBatches = plan.stages > 1 ? plan.microBatches : 0;
  request.constraints = {"explain", {pin}};
  return searchPlan(graph, request);
}

static std::string signedSeconds(double seconds) {
  return (seconds < 0 ? "-" : "+") + secondsText(std::abs(seconds));
}

/// The cheapest of the alternatives first; of some the whole step too.
static std::string alternativesText(std::vector<Alternative> list, double now,
                                    const Plan &plan, const ModelGraph &graph) {
  if (list.empty())
    return "no alternative on this mesh\n";
  llvm::stable_sort(list, [](const Alternative &a, const Alternative &b) {
    return a.seconds < b.seconds;
  });
  std::string text = "alternatives: here, all else as it is; of the step, all "
                     "else searched anew\n";
  for (const auto &[index, item] : enumerate(list)) {
    if (index == kShown) {
      text += formatv("  and {0} others\n", list.size() - kShown);
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
                                 StringRef name) {
  Alternative item;
  item.text = strategyText(strategy.assignment, mesh);
  item.seconds = cost.opSeconds(op, strategy) + cost.sidesSeconds(op, strategy);
  item.pin.kind = Constraint::Node;
  item.pin.number = 1;
  item.pin.name = name.str();
  for (const auto &[choice, atom] :
       zip_equal(strategy.assignment, mesh.atoms()))
    if (!atom.time)
      item.pin.strategy.push_back({atom.name, choice.kind == Choice::None
                                                  ? "replicated"
                                                  : toString(choice)});
  return item;
}

Expected<std::string> explainOp(const Plan &plan, const ModelGraph &graph,
                                StringRef name) {
  Expected<unsigned> index = find(graph.ops, name, "op");
  if (!index)
    return index.takeError();
  PlanCost cost(plan, graph);
  const GraphOp &op = graph.ops[*index];
  const OpStrategy &chosen = cost.strategyOf(*index);
  double compute = cost.opSeconds(*index, chosen);
  double sides = cost.sidesSeconds(*index, chosen);
  std::string text = formatv(
      "op {0} ({1}{2}), stage {3}\nnow          {4}: {5} computing, {6} "
      "communicating\n",
      op.name, stringifyKernelClass(op.kernel), op.setup ? ", at load" : "",
      plan.ops[*index].stage, strategyText(chosen.assignment, plan.mesh),
      secondsText(compute), secondsText(sides));
  for (const ReshardPlace &place : cost.reshards)
    if (place.op == *index)
      text += formatv("  {0,12}  {1}: {2}\n", secondsText(place.seconds),
                      stepsText(place.path, plan.mesh),
                      placeText(place, graph, plan.mesh));
  std::vector<Alternative> others;
  for (const OpStrategy &strategy : enumerateStrategies(op.rule, plan.mesh, {}))
    if (strategy.assignment != chosen.assignment)
      others.push_back(
          otherStrategy(cost, *index, strategy, plan.mesh, op.name));
  erase_if(others,
           [](const Alternative &a) { return !std::isfinite(a.seconds); });
  for (const MeshAxis &axis : plan.mesh.axes())
    if (axis.size > 1)
      text +=
          possibleChoices(graph, op, *plan.mesh.lookup(axis.name), plan.mesh) +
          "\n";
  return text +
         alternativesText(std::move(others), compute + sides, plan, graph);
}

/// All that the value's ops give and want, the planned way aside.
static std::vector<Sharding> waysToLie(PlanCost &cost, const Plan &plan,
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
         enumerateStrategies(graph.ops[op].rule, plan.mesh, {}))
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
    copy_if(dim.atoms, std::back_inserter(devices),
            [&](unsigned atom) { return !mesh.atoms()[atom].time; });
    DimPattern pattern;
    for (std::string &axis : mesh.spell(devices))
      pattern.axes.push_back(std::move(axis));
    item.pin.sharding->dims.push_back(std::move(pattern));
  }
  for (const Partial &partial : sharding.partial)
    item.pin.sharding->partial.push_back(
        {mesh.atoms()[partial.atom].name, partial.kind});
  return item;
}

Expected<std::string> explainTensor(const Plan &plan, const ModelGraph &graph,
                                    StringRef name) {
  Expected<unsigned> index = find(graph.values, name, "tensor");
  if (!index)
    return index.takeError();
  PlanCost cost(plan, graph);
  const GraphValue &value = graph.values[*index];
  const Sharding &lies = plan.values[*index].sharding;
  double now = cost.valueSeconds(*index, lies);
  std::string text = formatv(
      "tensor {0} ({1} bytes on a device of {2})\nnow          {3}: {4} "
      "communicating\n",
      value.name, localBytes(value, lies, plan.mesh),
      localBytes(value, Sharding::replicated(value.shape.size()), plan.mesh),
      toString(lies, plan.mesh), secondsText(now));
  if (value.source == ValueSource::Op)
    text += "  made by op " + graph.ops[value.producer].name + " (" +
            strategyText(plan.ops[value.producer].assignment, plan.mesh) +
            ")\n";
  for (const GraphUse &use : ArrayRef(value.uses).take_front(kShown))
    text += "  read by op " + graph.ops[use.op].name + " (" +
            strategyText(plan.ops[use.op].assignment, plan.mesh) + ")\n";
  for (const ReshardPlace &place : cost.reshards)
    if (place.value == *index)
      text += formatv("  {0,12}  {1}: {2}\n", secondsText(place.seconds),
                      stepsText(place.path, plan.mesh),
                      placeText(place, graph, plan.mesh));
  std::vector<Alternative> others;
  for (const Sharding &way : waysToLie(cost, plan, graph, *index))
    others.push_back(otherSharding(cost, *index, way, plan.mesh, value.name));
  return text + alternativesText(std::move(others), now, plan, graph);
}

//===----------------------------------------------------------------------===//
// Two plans
//===----------------------------------------------------------------------===//

static std::string meshText(const Plan &plan) {
  SmallVector<std::string> axes;
  if (plan.stages > 1)
    axes.push_back("layer=" + std::to_string(plan.stages));
  for (const MeshAxis &axis : plan.mesh.axes())
    axes.push_back(axis.name + "=" + std::to_string(axis.size));
  return join(axes, ",");
}

std::string explainAgainst(const Plan &plan, const Plan &other,
                           const ModelGraph &graph) {
  PlanCost first(plan, graph), second(other, graph);
  std::string text;
  auto row = [&](StringRef name, const Twine &a, const Twine &b) {
    text += formatv("{0,-22} {1,16} {2,16}\n", name, a.str(), b.str());
  };
  auto seconds = [&](StringRef name, double a, double b) {
    row(name, secondsText(a), secondsText(b));
  };
  row("", "this plan", "the other");
  row("strategy", plan.strategy, other.strategy);
  row("mesh", meshText(plan), meshText(other));
  seconds("step", plan.predictedStepSeconds, other.predictedStepSeconds);
  std::map<std::string, std::pair<double, double>> classes;
  for (const auto &[s, name] : secondsByClass(first, graph))
    classes[name].first = s;
  for (const auto &[s, name] : secondsByClass(second, graph))
    classes[name].second = s;
  for (const auto &[name, pair] : classes)
    seconds("  " + name, pair.first, pair.second);
  seconds("  communication", first.communication, second.communication);
  row("memory", bytesText(plan.predictedPeakMemoryBytes),
      bytesText(other.predictedPeakMemoryBytes));
  std::vector<std::pair<double, unsigned>> list;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    auto costOf = [&](PlanCost &cost) {
      const OpStrategy &strategy = cost.strategyOf(index);
      return cost.opSeconds(index, strategy) +
             cost.sidesSeconds(index, strategy);
    };
    if (double gain = costOf(second) - costOf(first); !op.setup && gain != 0)
      list.push_back({gain, index});
  }
  llvm::stable_sort(list, [](const auto &a, const auto &b) {
    return std::abs(a.first) > std::abs(b.first);
  });
  text += formatv("ops whose cost differs: {0}; the other plan's against this "
                  "one's\n",
                  list.size());
  for (auto [gain, index] : ArrayRef(list).take_front(kShown))
    text += formatv("  {0,12}  {1}: {2} | {3}\n", signedSeconds(gain),
                    graph.ops[index].name,
                    strategyText(plan.ops[index].assignment, plan.mesh),
                    strategyText(other.ops[index].assignment, other.mesh));
  return text;
}

} // namespace autopar
