//===- ResolveNodes.cpp - What constraints say of nodes -------------------===//

#include "Resolver.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Model/ChoiceText.h"
#include "autopar/Planning/Model/DimensionMarks.h"

using namespace llvm;

namespace autopar {

const std::vector<AxisDemand> &Resolver::demands(StrategyName name,
                                                 int64_t parts) {
  auto [it, inserted] = cache.try_emplace({name, parts});
  if (inserted)
    it->second = demandsOf(graph, name, parts);
  return it->second;
}

/// Narrows the choices of a sub-axis by those that a constraint names.
Error Resolver::limitOp(unsigned op, unsigned subAxis,
                        ArrayRef<Choice> choices) {
  OpLimit &limit = limits.ops[op];
  limit.subAxes.resize(mesh.subAxes().size());
  SubAxisLimit &of = limit.subAxes[subAxis];
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
                mesh.subAxes()[subAxis].name + ": excludes what constraint " +
                Twine(constraints.list[limit.from.front()].number) + " says");
  if (limit.from.empty() || limit.from.back() != place())
    limit.from.push_back(place());
  return Error::success();
}

Error Resolver::refuse(unsigned op, ArrayRef<unsigned> subAxes,
                       const Twine &why) {
  return fail("op " + graph.ops[op].name + " cannot: " + why + "; " +
              possibleChoices(graph, graph.ops[op], subAxes, mesh));
}

/// Limits as many of the sub-axes, major first, as the op can follow with.
Error Resolver::limitByName(ArrayRef<unsigned> ops, ArrayRef<unsigned> subAxes,
                            StrategyName name) {
  const std::vector<AxisDemand> &wanted = demands(name, mesh.product(subAxes));
  bool followed = false;
  for (unsigned op : ops) {
    if (wanted[op].empty())
      continue;
    followed = true;
    for (size_t count = 1; count <= subAxes.size(); ++count) {
      SmallVector<Choice> choices;
      for (const Choice &choice : wanted[op])
        if (choice.kind != Choice::Split ||
            canSplit(graph.ops[op].facts->rule, choice.index,
                     mesh.product(subAxes.take_front(count))))
          choices.push_back(choice);
      if (choices.empty())
        choices.push_back(Choice());
      if (current->forbid && choices.front() == Choice() &&
          name != StrategyName::Replicated)
        continue;
      if (Error error = limitOp(op, subAxes[count - 1], choices))
        return error;
    }
  }
  if (followed || current->forbid)
    return Error::success();
  return refuse(ops.front(), subAxes,
                "none of the " + Twine(ops.size()) +
                    " ops of this name can follow '" + stringifyStrategy(name) +
                    "' over " + Twine(mesh.product(subAxes)) + " devices");
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
  const TensorFactors &result = op.facts->rule.results[0];
  if (index >= result.size())
    return fail("op " + op.name + ": its result has " + Twine(result.size()) +
                " dimensions");
  std::optional<unsigned> factor = majorFactor(op.facts->rule, result[index]);
  if (!factor)
    return fail("op " + op.name + " cannot split dimension " + Twine(index) +
                " of its result (" +
                Twine(graph.values[op.results[0]].shape[index]) + " elements)");
  return Choice{Choice::Split, *factor};
}

Error Resolver::limitByChoice(unsigned op, ArrayRef<unsigned> subAxes,
                              StringRef text) {
  const GraphOp &item = graph.ops[op];
  Expected<Choice> choice = choiceOf(item, text);
  if (!choice)
    return choice.takeError();
  Assignment alone(mesh.subAxes().size());
  for (unsigned subAxis : subAxes)
    alone[subAxis] = *choice;
  if (!current->forbid && !shardingsOf(item.facts->rule, alone, mesh))
    return refuse(op, subAxes, whyIllegal(graph, item, alone, mesh));
  for (unsigned subAxis : subAxes)
    if (Error error = limitOp(op, subAxis, *choice))
      return error;
  return Error::success();
}

Error Resolver::resolveStrategy(ArrayRef<unsigned> ops, StringRef axis,
                                StringRef text) {
  Expected<SmallVector<unsigned>> subAxes = subAxesOfAxis(axis);
  if (!subAxes)
    return subAxes.takeError();
  if (subAxes->empty()) // an axis of one device
    return Error::success();
  Expected<SmallVector<StrategyName>> names = parseStrategies(text);
  if (names && names->size() == 1 && names->front() != StrategyName::Auto &&
      names->front() != StrategyName::Layer)
    return limitByName(ops, *subAxes, names->front());
  consumeError(names.takeError());
  for (unsigned op : ops)
    if (Error error = limitByChoice(op, *subAxes, text))
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
    if (!graph.hasOwnStage(op))
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
    return fail("its ops depend on no input: each stage that reads them "
                "computes them, they have no stage of their own");
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

} // namespace autopar
