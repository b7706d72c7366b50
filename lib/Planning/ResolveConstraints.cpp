//===- ResolveConstraints.cpp - From names and axes to limits -------------===//

#include "ChoiceText.h"
#include "DimensionMarks.h"
#include "Names.h"
#include "autopar/Planning/Constraints.h"
#include "autopar/Planning/Demands.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace llvm;

namespace autopar {

static constexpr StringLiteral kAllAxes = "all";

namespace {

class Resolver {
public:
  Resolver(const Constraints &constraints, const ModelGraph &graph,
           const Mesh &mesh, int64_t stages)
      : constraints(constraints), graph(graph), mesh(mesh), stages(stages) {
    limits.constraints = &constraints;
    limits.ops.resize(graph.ops.size());
    limits.values.resize(graph.values.size());
    limits.stages.resize(graph.ops.size());
  }
  Expected<Limits> run();

private:
  Error resolveOne();
  Error resolveValue();
  Error resolveNode();
  Error resolveStage(ArrayRef<unsigned> ops);
  Error resolveStrategy(ArrayRef<unsigned> ops, StringRef axis, StringRef text);
  Error limitByName(ArrayRef<unsigned> ops, ArrayRef<unsigned> atoms,
                    StrategyName name);
  Error limitByChoice(unsigned op, ArrayRef<unsigned> atoms, StringRef text);
  Error limitOp(unsigned op, unsigned atom, ArrayRef<Choice> choices);
  Expected<ShardingLimit> limitOf(const GraphValue &value);
  Expected<SmallVector<unsigned>> atomsOfAxis(StringRef axis);
  Expected<Choice> choiceOf(const GraphOp &op, StringRef text);
  Error refuse(unsigned op, ArrayRef<unsigned> atoms, const Twine &why);
  Error nobody(StringRef what, StringRef other, bool isOther,
               const std::string &nearest);
  const std::vector<AxisDemand> &demands(StrategyName name, int64_t parts);
  Error fail(const Twine &what) { return constraints.fail(*current, what); }
  unsigned place() const { return current - constraints.list.data(); }

  const Constraints &constraints;
  const ModelGraph &graph;
  const Mesh &mesh;
  int64_t stages;
  const Constraint *current = nullptr;
  std::map<std::pair<StrategyName, int64_t>, std::vector<AxisDemand>> cache;
  Limits limits;
};

} // namespace

//===----------------------------------------------------------------------===//
// Names and axes
//===----------------------------------------------------------------------===//

Error Resolver::nobody(StringRef what, StringRef other, bool isOther,
                       const std::string &nearest) {
  if (isOther)
    return fail("no " + what + " has this name, but a " + other +
                " has: write "
                "\"" +
                (other == "tensor" ? "value" : "node") + "\"");
  return fail("no " + what +
              " of the model has this name; `autopar plan "
              "--json` lists them" +
              nearest);
}

template <typename Item>
static SmallVector<unsigned> namedSo(const std::vector<Item> &items,
                                     StringRef pattern) {
  SmallVector<unsigned> list;
  for (const auto &[index, item] : enumerate(items))
    if (matchesName(pattern, item.name))
      list.push_back(index);
  return list;
}

template <typename Item>
static std::string nearest(const std::vector<Item> &items, StringRef name) {
  return nearestNames(name, items.size(),
                      [&](size_t i) { return StringRef(items[i].name); });
}

Expected<SmallVector<unsigned>> Resolver::atomsOfAxis(StringRef axis) {
  SmallVector<unsigned> all;
  for (const auto &[index, atom] : enumerate(mesh.atoms()))
    if (!atom.time)
      all.push_back(index);
  if (axis == kAllAxes)
    return all;
  std::optional<SmallVector<unsigned>> atoms = mesh.lookup(axis);
  if (atoms &&
      all_of(*atoms, [&](unsigned a) { return !mesh.atoms()[a].time; }))
    return *atoms;
  return fail("names axis '" + axis + "'; this mesh has '" +
              join(mesh.spell(all), "', '") +
              "': fix it with --mesh, or write \"all\"");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// The pattern with "..." written out for a value.
static std::optional<SmallVector<DimPattern>>
expand(const ShardingPattern &pattern, size_t rank) {
  SmallVector<DimPattern> dims;
  for (const DimPattern &dim : pattern.dims) {
    if (dim.kind != DimPattern::Rest) {
      dims.push_back(dim);
      continue;
    }
    size_t others = pattern.dims.size() - 1;
    for (size_t i = others; i < rank; ++i)
      dims.push_back({DimPattern::Any, {}});
  }
  if (dims.size() != rank)
    return std::nullopt;
  return dims;
}

static std::string shapeText(const GraphValue &value) {
  return join(
      map_range(value.shape, [](int64_t size) { return std::to_string(size); }),
      "x");
}

Expected<ShardingLimit> Resolver::limitOf(const GraphValue &value) {
  std::optional<SmallVector<DimPattern>> dims =
      expand(*current->sharding, value.shape.size());
  if (!dims)
    return fail("tensor " + value.name + " has " + Twine(value.shape.size()) +
                " dimensions (" + shapeText(value) + "), 'sharding' " +
                Twine(current->sharding->dims.size()) +
                "; \"...\" stands for all others");
  ShardingLimit limit;
  limit.from = place();
  std::vector<bool> used(mesh.atoms().size(), false);
  auto use = [&](StringRef axis, ArrayRef<unsigned> atoms) -> Error {
    for (unsigned atom : atoms) {
      if (used[atom])
        return fail("axis '" + axis + "' is used twice");
      used[atom] = true;
    }
    return Error::success();
  };
  for (const DimPattern &dim : *dims) {
    std::optional<SmallVector<unsigned, 2>> &wanted = limit.dims.emplace_back();
    if (dim.kind == DimPattern::Any)
      continue;
    wanted.emplace();
    for (StringRef axis : dim.axes) {
      Expected<SmallVector<unsigned>> atoms = atomsOfAxis(axis);
      if (!atoms)
        return atoms.takeError();
      if (Error error = use(axis, *atoms))
        return std::move(error);
      append_range(*wanted, *atoms);
    }
  }
  for (const auto &[axis, kind] : current->sharding->partial) {
    Expected<SmallVector<unsigned>> atoms = atomsOfAxis(axis);
    if (!atoms)
      return atoms.takeError();
    if (Error error = use(axis, *atoms))
      return std::move(error);
    for (unsigned atom : *atoms)
      limit.partial.push_back({atom, kind});
  }
  llvm::sort(limit.partial, [](const Partial &a, const Partial &b) {
    return a.atom < b.atom;
  });
  return limit;
}

Error Resolver::resolveValue() {
  SmallVector<unsigned> values = namedSo(graph.values, current->name);
  if (values.empty())
    return nobody("tensor", "node", !namedSo(graph.ops, current->name).empty(),
                  nearest(graph.values, current->name));
  for (unsigned index : values) {
    const GraphValue &value = graph.values[index];
    Expected<ShardingLimit> limit = limitOf(value);
    if (!limit)
      return limit.takeError();
    bool stored = value.source != ValueSource::Op || value.persistent;
    if (!current->forbid && stored && !limit->partial.empty())
      return fail("tensor " + value.name +
                  " is read in blocks: it cannot be partial");
    ValueLimit &of = limits.values[index];
    (current->forbid ? of.forbids : of.pins).push_back(std::move(*limit));
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

const std::vector<AxisDemand> &Resolver::demands(StrategyName name,
                                                 int64_t parts) {
  auto [it, inserted] = cache.try_emplace({name, parts});
  if (inserted)
    it->second = demandsOf(graph, name, parts);
  return it->second;
}

/// Constraint by constraint what an atom may do gets less.
Error Resolver::limitOp(unsigned op, unsigned atom, ArrayRef<Choice> choices) {
  OpLimit &limit = limits.ops[op];
  limit.atoms.resize(mesh.atoms().size());
  AtomLimit &of = limit.atoms[atom];
  if (current->forbid)
    append_range(of.never, choices);
  else if (!of.only)
    of.only = SmallVector<Choice, 2>(choices);
  else
    erase_if(*of.only,
             [&](const Choice &c) { return !is_contained(choices, c); });
  bool none = of.only && all_of(*of.only, [&](const Choice &choice) {
                return is_contained(of.never, choice);
              });
  if (none)
    return fail("op " + graph.ops[op].name + ", axis " +
                mesh.atoms()[atom].name + ": excludes what constraint " +
                Twine(constraints.list[limit.from.front()].number) + " says");
  if (limit.from.empty() || limit.from.back() != place())
    limit.from.push_back(place());
  return Error::success();
}

Error Resolver::refuse(unsigned op, ArrayRef<unsigned> atoms,
                       const Twine &why) {
  return fail("op " + graph.ops[op].name + " cannot: " + why + "; " +
              possibleChoices(graph, graph.ops[op], atoms, mesh));
}

/// As many of the atoms, major first, as the op can follow with.
Error Resolver::limitByName(ArrayRef<unsigned> ops, ArrayRef<unsigned> atoms,
                            StrategyName name) {
  const std::vector<AxisDemand> &wanted = demands(name, mesh.product(atoms));
  bool followed = false;
  for (unsigned op : ops) {
    if (wanted[op].empty())
      continue;
    followed = true;
    for (size_t count = 1; count <= atoms.size(); ++count) {
      SmallVector<Choice> choices;
      for (const Choice &choice : wanted[op])
        if (choice.kind != Choice::Split ||
            canSplit(graph.ops[op].rule, choice.index,
                     mesh.product(atoms.take_front(count))))
          choices.push_back(choice);
      if (choices.empty())
        choices.push_back(Choice());
      if (current->forbid && choices.front() == Choice() &&
          name != StrategyName::Replicated)
        continue;
      if (Error error = limitOp(op, atoms[count - 1], choices))
        return error;
    }
  }
  if (followed || current->forbid)
    return Error::success();
  return refuse(ops.front(), atoms,
                "none of the " + Twine(ops.size()) +
                    " ops of this name can follow '" + stringifyStrategy(name) +
                    "' over " + Twine(mesh.product(atoms)) + " devices");
}

Expected<Choice> Resolver::choiceOf(const GraphOp &op, StringRef text) {
  auto [word, number] = text.split(' ');
  unsigned index;
  bool known = word == "split" || word == "pass" || word == "dimension";
  if (!known || number.getAsInteger(10, index))
    return fail("'" + text +
                "' is neither 'split N', 'pass N', 'dimension N' nor one of "
                "replicated, data, row, column, tensor, channel, spatial");
  if (word == "split")
    return Choice{Choice::Split, index};
  if (word == "pass")
    return Choice{Choice::Pass, index};
  const TensorFactors &result = op.rule.results[0];
  if (index >= result.size())
    return fail("op " + op.name + ": its result has " + Twine(result.size()) +
                " dimensions");
  std::optional<unsigned> factor = majorFactor(op.rule, result[index]);
  if (!factor)
    return fail("op " + op.name + " cannot split dimension " + Twine(index) +
                " of its result (" +
                Twine(graph.values[op.results[0]].shape[index]) + " elements)");
  return Choice{Choice::Split, *factor};
}

Error Resolver::limitByChoice(unsigned op, ArrayRef<unsigned> atoms,
                              StringRef text) {
  const GraphOp &item = graph.ops[op];
  Expected<Choice> choice = choiceOf(item, text);
  if (!choice)
    return choice.takeError();
  Assignment alone(mesh.atoms().size());
  for (unsigned atom : atoms)
    alone[atom] = *choice;
  if (!current->forbid && !shardingsOf(item.rule, alone, mesh))
    return refuse(op, atoms, whyIllegal(graph, item, alone, mesh));
  for (unsigned atom : atoms)
    if (Error error = limitOp(op, atom, *choice))
      return error;
  return Error::success();
}

Error Resolver::resolveStrategy(ArrayRef<unsigned> ops, StringRef axis,
                                StringRef text) {
  Expected<SmallVector<unsigned>> atoms = atomsOfAxis(axis);
  if (!atoms)
    return atoms.takeError();
  if (atoms->empty()) // an axis of one device
    return Error::success();
  Expected<SmallVector<StrategyName>> names = parseStrategies(text);
  if (names && names->size() == 1 && names->front() != StrategyName::Auto &&
      names->front() != StrategyName::Layer)
    return limitByName(ops, *atoms, names->front());
  consumeError(names.takeError());
  for (unsigned op : ops)
    if (Error error = limitByChoice(op, *atoms, text))
      return error;
  return Error::success();
}

Error Resolver::resolveStage(ArrayRef<unsigned> ops) {
  int64_t stage = *current->stage;
  if (stages == 1)
    return fail("names stage " + Twine(stage) +
                ", but the plan has no stages: add layer to --strategy or to "
                "--mesh");
  if (stage >= stages)
    return fail("names stage " + Twine(stage) + ", but the plan has " +
                Twine(stages) + ", from 0");
  bool applied = false;
  for (unsigned op : ops) {
    if (graph.ops[op].setup)
      continue;
    applied = true;
    StageLimit &limit = limits.stages[op];
    if (current->forbid)
      limit.never.push_back(stage);
    else if (!limit.only)
      limit.only = stage;
    if (limit.only && (!limit.allows(*limit.only) ||
                       (!current->forbid && *limit.only != stage)))
      return fail("op " + graph.ops[op].name + ": excludes what constraint " +
                  Twine(constraints.list[limit.from].number) + " says");
    limit.from = place();
  }
  if (!applied)
    return fail("its ops are computed once, at load, in the stage that reads "
                "them first: they have no stage of their own");
  return Error::success();
}

Error Resolver::resolveNode() {
  SmallVector<unsigned> ops = namedSo(graph.ops, current->name);
  if (ops.empty())
    return nobody("node", "tensor",
                  !namedSo(graph.values, current->name).empty(),
                  nearest(graph.ops, current->name));
  for (const auto &[axis, text] : current->strategy)
    if (Error error = resolveStrategy(ops, axis, text))
      return error;
  return current->stage ? resolveStage(ops) : Error::success();
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

Error Resolver::resolveOne() {
  if (current->kind == Constraint::Value)
    return resolveValue();
  return current->kind == Constraint::Node ? resolveNode() : Error::success();
}

Expected<Limits> Resolver::run() {
  for (const Constraint &constraint : constraints.list) {
    current = &constraint;
    if (Error error = resolveOne())
      return std::move(error);
  }
  return std::move(limits);
}

Expected<Limits> resolve(const Constraints &constraints,
                         const ModelGraph &graph, const Mesh &mesh,
                         int64_t stages) {
  return Resolver(constraints, graph, mesh, stages).run();
}

} // namespace autopar
