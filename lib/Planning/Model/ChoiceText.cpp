//===- ChoiceText.cpp - Choices of ops as text ----------------------------===//

#include "autopar/Planning/Model/ChoiceText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

std::string toString(const Choice &choice) {
  if (choice.kind == Choice::None)
    return "nothing";
  return (choice.kind == Choice::Split ? "split " : "pass ") +
         std::to_string(choice.index);
}

/// Returns where a factor stands, results first: `dimension 1 of tensor h`.
static std::string placeOf(const ModelGraph &graph, const GraphOp &op,
                           unsigned factor) {
  auto find = [&](ArrayRef<TensorFactors> tensors,
                  ArrayRef<unsigned> values) -> std::string {
    for (const auto &[tensor, value] : zip_equal(tensors, values))
      for (const auto &[dim, factors] : enumerate(tensor))
        if (is_contained(factors.factors, factor))
          return "dimension " + std::to_string(dim) + " of tensor " +
                 graph.values[value].name;
    return "";
  };
  std::string place = find(op.facts->rule.results, op.results);
  return place.empty() ? find(op.facts->rule.operands, op.operands) : place;
}

static std::string describeFactor(const ModelGraph &graph, const GraphOp &op,
                                  unsigned factor) {
  return "split " + std::to_string(factor) + " (" + placeOf(graph, op, factor) +
         ", " + std::to_string(op.facts->rule.factors[factor].size) +
         " elements" +
         (op.facts->rule.factors[factor].kind == FactorKind::Reduce
              ? ", summed up"
              : "") +
         ")";
}

static std::string describePass(const ModelGraph &graph, const GraphOp &op,
                                unsigned pass) {
  const PartialPass &item = op.facts->rule.passes[pass];
  SmallVector<std::string> names;
  for (unsigned operand : item.operands)
    names.push_back(graph.values[op.operands[operand]].name);
  return "pass " + std::to_string(pass) + " (partial " +
         stringifyReduceKind(item.kind).str() + " of " + join(names, ", ") +
         ")";
}

/// Returns why one choice of some sub-axes, by itself, is not legal; "" if it
/// is.
static std::string whyChoice(const ModelGraph &graph, const GraphOp &op,
                             const Choice &choice, int64_t parts) {
  if (choice.kind == Choice::Pass &&
      choice.index >= op.facts->rule.passes.size())
    return "the op has " + std::to_string(op.facts->rule.passes.size()) +
           " passes";
  if (choice.kind != Choice::Split)
    return "";
  if (choice.index >= op.facts->rule.factors.size())
    return "the op has " + std::to_string(op.facts->rule.factors.size()) +
           " factors";
  if (canSplit(op.facts->rule, choice.index, parts))
    return "";
  return placeOf(graph, op, choice.index) + " is made of several factors, of " +
         "which only the outermost can be cut, and only evenly: it has " +
         std::to_string(op.facts->rule.factors[choice.index].size) +
         " elements for " + std::to_string(parts) + " blocks";
}

std::string whyIllegal(const ModelGraph &graph, const GraphOp &op,
                       const Assignment &assignment, const Mesh &mesh) {
  for (const auto &[subAxis, choice] : enumerate(assignment)) {
    SmallVector<unsigned> subAxes;
    for (const auto &[other, otherChoice] : enumerate(assignment))
      if (otherChoice == choice)
        subAxes.push_back(other);
    std::string why = whyChoice(graph, op, choice, mesh.product(subAxes));
    if (!why.empty())
      return "axis " + join(mesh.spell(subAxes), ", ") + " cannot " +
             toString(choice) + ": " + why;
  }
  auto clash = [&](ArrayRef<TensorFactors> tensors,
                   ArrayRef<unsigned> values) -> std::string {
    for (const auto &[tensor, value] : zip_equal(tensors, values))
      for (const auto &[dim, factors] : enumerate(tensor))
        if (count_if(factors.factors, [&](unsigned factor) {
              return !subAxesOf(assignment, factor).empty();
            }) > 1)
          return "two factors of dimension " + std::to_string(dim) +
                 " of tensor " + graph.values[value].name +
                 " would be split at once";
    return "";
  };
  std::string why = clash(op.facts->rule.results, op.results);
  if (why.empty())
    why = clash(op.facts->rule.operands, op.operands);
  return why.empty() ? "a tensor would be partial in two ways at once" : why;
}

std::string possibleChoices(const ModelGraph &graph, const GraphOp &op,
                            ArrayRef<unsigned> subAxes, const Mesh &mesh) {
  SmallVector<std::string> texts;
  int64_t parts = mesh.product(subAxes);
  bool time = !subAxes.empty() && mesh.subAxes()[subAxes.front()].time;
  for (const auto &[index, factor] : enumerate(op.facts->rule.factors))
    if (factor.size > 1 && canSplit(op.facts->rule, index, parts) &&
        (!time || factor.kind == FactorKind::Parallel))
      texts.push_back(describeFactor(graph, op, index));
  for (unsigned pass = 0; pass < op.facts->rule.passes.size() && !time; ++pass)
    texts.push_back(describePass(graph, op, pass));
  if (texts.empty())
    return "over axis " + join(mesh.spell(subAxes), ", ") +
           " it can do nothing but repeat";
  return "over axis " + join(mesh.spell(subAxes), ", ") +
         " it can: " + join(texts, ", ");
}

} // namespace autopar
