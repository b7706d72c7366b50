//===- DimensionNames.cpp - What people call dimensions -------------------===//

#include "DimensionNames.h"
#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

StringRef stringifySplitName(SplitName outcome) {
  static constexpr StringLiteral kNames[] = {
      "the batch",       "weights by columns", "weights by rows", "channels",
      "height or width", "the sequence",       "heads",           "experts",
      "rows of tables",  "other dimensions"};
  return kNames[unsigned(outcome)];
}

namespace {

/// Marks dimensions and follows them.
struct Marker {
  const ModelGraph &graph;
  DimensionMarks marks;

  explicit Marker(const ModelGraph &graph) : graph(graph), marks(graph) {}

  void seed(unsigned value, unsigned dim) {
    if (dim < graph.values[value].shape.size() && !marks.dims[value])
      marks.dims[value] = dim;
  }
  DimensionMarks follow() {
    propagateBothWays(graph, marks, [](const GraphOp &) { return true; });
    return std::move(marks);
  }
};

} // namespace

static DimensionMarks batchOf(const ModelGraph &graph) {
  Marker marker(graph);
  int64_t batch = batchSize(graph);
  for (const auto &[index, value] : enumerate(graph.values))
    if (hasBatch(value, batch))
      marker.seed(index, value.batchDim);
  return marker.follow();
}

/// The dimension of a table's rows that a gather looks up: the operand's alone.
static std::optional<unsigned> gatheredDim(const GraphOp &op) {
  if (op.facts->kernel != KernelClass::Movement || op.operands.size() < 2)
    return std::nullopt;
  for (const auto &[dim, factors] : enumerate(op.facts->rule.operands[0]))
    if (std::optional<unsigned> factor = majorFactor(op.facts->rule, factors))
      if (op.facts->rule.factors[*factor].kind == FactorKind::Reduce)
        return dim;
  return std::nullopt;
}

static DimensionMarks tableRows(const ModelGraph &graph) {
  Marker marker(graph);
  for (const GraphOp &op : graph.ops)
    if (std::optional<unsigned> dim = gatheredDim(op))
      marker.seed(op.operands[0], *dim);
  return marker.follow();
}

/// The dimension beside the batch of inputs whose elements are looked up in
/// tables: [batch, sequence] or [sequence, batch].
static DimensionMarks sequence(const ModelGraph &graph) {
  Marker marker(graph);
  for (const GraphOp &op : graph.ops)
    if (gatheredDim(op))
      for (unsigned indices : ArrayRef(op.operands).drop_front()) {
        const GraphValue &value = graph.values[indices];
        bool isBatchFirst = value.batchDim <= value.rowDim;
        if (value.source == ValueSource::Input)
          marker.seed(indices, isBatchFirst ? value.rowDim + 1 : value.rowDim);
      }
  return marker.follow();
}

/// The last dimension that both operands and the result of a contraction have
/// beside the batch, where `fits` says so of its operands.
static DimensionMarks
sharedByBoth(const ModelGraph &graph, const DimensionMarks &batch,
             function_ref<bool(const GraphValue &, const GraphValue &)> fits) {
  Marker marker(graph);
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.facts->kernel != KernelClass::Contraction ||
        op.operands.size() != 2 ||
        !fits(graph.values[op.operands[0]], graph.values[op.operands[1]]))
      continue;
    const ShardingRule &rule = op.facts->rule;
    auto leads = [&](const TensorFactors &tensor, unsigned factor) {
      return any_of(tensor, [&](const DimFactors &dim) {
        return majorFactor(rule, dim) == factor;
      });
    };
    std::optional<unsigned> last;
    for (const auto &[dim, factors] : enumerate(rule.results[0])) {
      std::optional<unsigned> factor = majorFactor(rule, factors);
      if (factor && factor != batch.factors[index] &&
          leads(rule.operands[0], *factor) && leads(rule.operands[1], *factor))
        last = dim;
    }
    if (last)
      marker.seed(op.results[0], *last);
  }
  return marker.follow();
}

std::vector<NamedDimension> nameDimensions(const ModelGraph &graph) {
  auto activations = [](const GraphValue &a, const GraphValue &b) {
    return a.fromInput && b.fromInput;
  };
  auto withWeight = [](const GraphValue &a, const GraphValue &b) {
    return (a.fromInput && b.fromParameter) || (a.fromParameter && b.fromInput);
  };
  DimensionMarks batch = batchOf(graph);
  DimensionMarks heads = sharedByBoth(graph, batch, activations);
  DimensionMarks experts = sharedByBoth(graph, batch, withWeight);
  return {{SplitName::Batch, std::move(batch)},
          {SplitName::Sequence, sequence(graph)},
          {SplitName::Heads, std::move(heads)},
          {SplitName::Experts, std::move(experts)},
          {SplitName::TableRows, tableRows(graph)}};
}

} // namespace autopar
