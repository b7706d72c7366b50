//===- DimensionMarks.cpp - Dimensions followed through a graph -----------===//

#include "autopar/Planning/Model/DimensionMarks.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

std::optional<unsigned> majorFactor(const ShardingRule &rule,
                                    const DimFactors &dim) {
  for (unsigned factor : dim.factors)
    if (rule.factors[factor].size > 1)
      return factor;
  return std::nullopt;
}

/// Returns the factor of `tensor`'s marked dimension.
static std::optional<unsigned> markedFactor(const ShardingRule &rule,
                                            const TensorFactors &tensor,
                                            std::optional<unsigned> dim) {
  if (!dim || *dim >= tensor.size())
    return std::nullopt;
  return majorFactor(rule, tensor[*dim]);
}

/// Marks the first dimension of `value` that `factor` leads. Returns whether
/// the mark is new.
static bool markValue(DimensionMarks &marks, const ShardingRule &rule,
                      const TensorFactors &tensor, unsigned value,
                      unsigned factor) {
  if (marks.dims[value])
    return false;
  for (const auto &[dim, factors] : enumerate(tensor))
    if (majorFactor(rule, factors) == factor) {
      marks.dims[value] = dim;
      return true;
    }
  return false;
}

static void findFactor(const GraphOp &op, unsigned index, DimensionMarks &marks,
                       bool fromResults) {
  auto take = [&](ArrayRef<unsigned> values, ArrayRef<TensorFactors> tensors) {
    for (const auto &[value, tensor] : zip_equal(values, tensors))
      if (!marks.factors[index])
        marks.factors[index] =
            markedFactor(op.facts->rule, tensor, marks.dims[value]);
  };
  take(op.operands, op.facts->rule.operands);
  if (fromResults)
    take(op.results, op.facts->rule.results);
}

static bool markResults(const GraphOp &op, unsigned index,
                        DimensionMarks &marks) {
  bool changed = false;
  for (const auto &[value, tensor] :
       zip_equal(op.results, op.facts->rule.results))
    changed |=
        markValue(marks, op.facts->rule, tensor, value, *marks.factors[index]);
  return changed;
}

static bool markOperands(const GraphOp &op, unsigned index,
                         DimensionMarks &marks) {
  bool changed = false;
  for (const auto &[value, tensor] :
       zip_equal(op.operands, op.facts->rule.operands))
    changed |=
        markValue(marks, op.facts->rule, tensor, value, *marks.factors[index]);
  return changed;
}

void propagateForward(const ModelGraph &graph, DimensionMarks &marks,
                      const OpFilter &through) {
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (!through(op))
      continue;
    findFactor(op, index, marks, /*fromResults=*/false);
    if (marks.factors[index])
      markResults(op, index, marks);
  }
}

void propagateBothWays(const ModelGraph &graph, DimensionMarks &marks,
                       const OpFilter &through) {
  constexpr unsigned kSweeps = 16;
  for (unsigned sweep = 0; sweep < kSweeps; ++sweep) {
    bool changed = false;
    auto visit = [&](unsigned index) {
      const GraphOp &op = graph.ops[index];
      if (!through(op))
        return;
      findFactor(op, index, marks, /*fromResults=*/true);
      if (!marks.factors[index])
        return;
      changed |= markResults(op, index, marks);
      changed |= markOperands(op, index, marks);
    };
    for (unsigned index = 0; index < graph.ops.size(); ++index)
      visit(index);
    for (unsigned index = graph.ops.size(); index-- > 0;)
      visit(index);
    if (!changed)
      return;
  }
}

} // namespace autopar
