//===- MicroBatches.cpp - The batch split over time -----------------------===//

#include "DimensionMarks.h"
#include "Stages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

static SmallVector<int64_t> divisorsOf(int64_t n) {
  SmallVector<int64_t> divisors;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0)
      divisors.push_back(d);
  return divisors;
}

Expected<SmallVector<int64_t>>
microBatchCounts(const ModelGraph &graph, int64_t stages, int64_t pinned) {
  SmallVector<int64_t> divisors = divisorsOf(batchSize(graph));
  if (pinned) {
    if (is_contained(divisors, pinned))
      return SmallVector<int64_t>{pinned};
    return createStringError(
        "the batch of " + Twine(batchSize(graph)) + " cannot be cut into " +
        Twine(pinned) + " micro-batches; choose one of " +
        join(map_range(divisors, [](int64_t d) { return std::to_string(d); }),
             ", "));
  }
  // More than a few micro-batches per stage gain nothing.
  llvm::erase_if(divisors, [&](int64_t d) { return d > 4 * stages; });
  return divisors;
}

/// Whether some operand carries the batch.
static bool readsBatch(const GraphOp &op,
                       ArrayRef<std::optional<unsigned>> dims) {
  return any_of(op.operands,
                [&](unsigned value) { return dims[value].has_value(); });
}

Expected<std::vector<AxisDemand>> microBatchDemands(const ModelGraph &graph,
                                                    int64_t microBatches) {
  DimensionMarks marks(graph);
  for (const auto &[index, value] : enumerate(graph.values))
    if (value.source == ValueSource::Input && !value.shape.empty())
      marks.dims[index] = 0;
  propagateForward(graph, marks, [](const GraphOp &) { return true; });
  std::vector<AxisDemand> demands;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    std::optional<unsigned> factor = marks.factors[index];
    if (!readsBatch(op, marks.dims)) {
      demands.push_back({Choice()});
      continue;
    }
    if (!factor || op.rule.factors[*factor].kind != FactorKind::Parallel ||
        !canSplit(op.rule, *factor, microBatches))
      return createStringError("op " + op.name +
                               " cannot run on a part of the batch: the model "
                               "cannot be cut into " +
                               Twine(microBatches) + " micro-batches");
    demands.push_back({Choice{Choice::Split, *factor}});
  }
  return demands;
}

} // namespace autopar
