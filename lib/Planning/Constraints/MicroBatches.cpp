//===- MicroBatches.cpp - The batch split over time -----------------------===//

#include "autopar/Planning/Constraints/MicroBatches.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "autopar/Planning/Model/DimensionMarks.h"
#include "autopar/Planning/Model/Strategies.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

/// Returns the divisors in ascending order.
static SmallVector<int64_t> divisorsOf(int64_t n) {
  SmallVector<int64_t> divisors;
  for (int64_t d = 1; d <= n / d; ++d)
    if (n % d == 0) {
      divisors.push_back(d);
      if (d != n / d)
        divisors.push_back(n / d);
    }
  llvm::sort(divisors);
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
  // More than four micro-batches per stage gain nothing.
  llvm::erase_if(divisors, [&](int64_t d) { return d > 4 * stages; });
  return divisors;
}

//===----------------------------------------------------------------------===//
// Demands along the time axis
//===----------------------------------------------------------------------===//

namespace {

/// Cuts all values that carry the batch into parts, op by op. Micro-batches
/// exchange nothing: if an op needs all parts of a value at once, every
/// micro-batch computes the whole value, and all values that it is computed
/// from.
class BatchCutter {
public:
  BatchCutter(const ModelGraph &graph, int64_t parts)
      : graph(graph), batch(batchSize(graph)), mesh({{kTimeAxis.str(), parts}}),
        strategies(mesh), whole(graph.values.size(), false) {}

  Expected<std::vector<AxisDemand>> run();

private:
  bool settle();
  void cutForward(unsigned index);
  void cutBackward(unsigned index);
  const OpShardings *cut(const GraphOp &op, unsigned factor);
  unsigned misfits(const GraphOp &op, const OpShardings &shardings) const;
  bool isCut(const GraphOp &op) const;
  std::optional<unsigned> wantedDim(unsigned value) const;
  void accept(unsigned index, unsigned factor, const OpShardings &list);
  void needWhole(unsigned value);

  const ModelGraph &graph;
  int64_t batch; // a multiple of the parts
  Mesh mesh;
  StrategyTable strategies;
  std::vector<bool> whole;                      // per value
  std::vector<std::optional<unsigned>> dims;    // per value: the dimension cut
  std::vector<std::optional<unsigned>> factors; // per op
  std::vector<const OpShardings *> shardings;   // per op
  bool changed = false;
  std::optional<unsigned> mixing; // the last op that needs all parts of a value
};

} // namespace

/// Returns the dimension that is split, if any.
static std::optional<unsigned> splitDim(const Sharding &sharding) {
  for (const auto &[index, dim] : enumerate(sharding.dims))
    if (!dim.subAxes.empty())
      return index;
  return std::nullopt;
}

/// Returns the op's shardings if `factor` is cut, or null if it cannot be.
/// Intervals are refused: they would read the part of a neighbour.
const OpShardings *BatchCutter::cut(const GraphOp &op, unsigned factor) {
  if (op.facts->rule.factors[factor].kind != FactorKind::Parallel)
    return nullptr;
  Assignment assignment(mesh.subAxes().size(), Choice{Choice::Split, factor});
  const OpStrategy *strategy = strategies.find(op, assignment);
  if (!strategy ||
      any_of(strategy->shardings.operands, [](const Sharding &sharding) {
        return any_of(sharding.dims,
                      [](const DimSharding &dim) { return dim.interval; });
      }))
    return nullptr;
  return &strategy->shardings;
}

/// Returns how many operands are cut in another dimension than the one in which
/// the op would read them.
unsigned BatchCutter::misfits(const GraphOp &op,
                              const OpShardings &shardings) const {
  unsigned count = 0;
  for (const auto &[value, sharding] :
       zip_equal(op.operands, shardings.operands))
    count += dims[value] && splitDim(sharding) != dims[value];
  return count;
}

bool BatchCutter::isCut(const GraphOp &op) const {
  return any_of(op.operands, [&](unsigned v) { return dims[v].has_value(); });
}

/// Marks a value, and all values that it is computed from, as whole.
void BatchCutter::needWhole(unsigned value) {
  SmallVector<unsigned> todo{value};
  while (!todo.empty()) {
    unsigned next = todo.pop_back_val();
    if (whole[next])
      continue;
    whole[next] = changed = true;
    const GraphValue &info = graph.values[next];
    if (info.source == ValueSource::Op)
      append_range(todo, graph.ops[info.producer].operands);
  }
}

void BatchCutter::accept(unsigned index, unsigned factor,
                         const OpShardings &list) {
  const GraphOp &op = graph.ops[index];
  factors[index] = factor;
  for (const auto &[value, sharding] : zip_equal(op.results, list.results))
    dims[value] = splitDim(sharding);
  shardings[index] = &list;
}

/// Cuts the results of an op that reads parts, if it can make parts.
void BatchCutter::cutForward(unsigned index) {
  const GraphOp &op = graph.ops[index];
  if (op.setup || !isCut(op) ||
      any_of(op.results, [&](unsigned value) { return whole[value]; }))
    return;
  std::optional<unsigned> best;
  const OpShardings *bestShardings = nullptr;
  unsigned fewest = op.operands.size() + 1;
  for (unsigned factor = 0; factor < op.facts->rule.factors.size(); ++factor)
    if (const OpShardings *list = cut(op, factor))
      if (unsigned count = misfits(op, *list);
          count < fewest && count < op.operands.size()) {
        best = factor;
        fewest = count;
        bestShardings = list;
      }
  if (best)
    accept(index, *best, *bestShardings);
}

/// Returns whether all ops read values as they are cut. If an op does not,
/// marks the value as whole; the caller then starts again.
bool BatchCutter::settle() {
  dims.assign(graph.values.size(), std::nullopt);
  factors.assign(graph.ops.size(), std::nullopt);
  shardings.assign(graph.ops.size(), nullptr);
  changed = false;
  for (const auto &[index, value] : enumerate(graph.values))
    if (hasBatch(value, batch) && !whole[index])
      dims[index] = value.batchDim;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    cutForward(index);
    for (const auto &[operand, value] : enumerate(op.operands))
      if (dims[value] &&
          (!factors[index] ||
           splitDim(shardings[index]->operands[operand]) != dims[value])) {
        needWhole(value);
        mixing = index;
      }
  }
  return !changed;
}

/// Returns the dimension in which all users read parts of `value`.
std::optional<unsigned> BatchCutter::wantedDim(unsigned value) const {
  const GraphValue &info = graph.values[value];
  std::optional<unsigned> wanted;
  for (const GraphUse &use : info.uses) {
    if (!factors[use.op])
      return std::nullopt;
    std::optional<unsigned> dim =
        splitDim(shardings[use.op]->operands[use.operand]);
    if (!dim || (wanted && wanted != dim))
      return std::nullopt;
    wanted = dim;
  }
  return info.output ? std::nullopt : wanted;
}

/// Lets an op that reads no parts compute only the part that its users read.
void BatchCutter::cutBackward(unsigned index) {
  const GraphOp &op = graph.ops[index];
  if (op.setup || factors[index] || op.results.size() != 1)
    return;
  std::optional<unsigned> dim = wantedDim(op.results[0]);
  if (!dim)
    return;
  std::optional<unsigned> factor =
      majorFactor(op.facts->rule, op.facts->rule.results[0][*dim]);
  if (!factor)
    return;
  if (const OpShardings *list = cut(op, *factor))
    if (splitDim(list->results[0]) == dim)
      accept(index, *factor, *list);
}

Expected<std::vector<AxisDemand>> BatchCutter::run() {
  while (!settle()) {
  }
  if (mixing && none_of(factors, [](auto f) { return f.has_value(); }))
    return createStringError("op " + graph.ops[*mixing].name +
                             " needs the whole batch, and so does all before "
                             "it: the model cannot be cut into " +
                             Twine(mesh.timeCount()) + " micro-batches");
  for (unsigned index = graph.ops.size(); index-- > 0;)
    cutBackward(index);
  std::vector<AxisDemand> demands;
  for (std::optional<unsigned> factor : factors)
    demands.push_back({factor ? Choice{Choice::Split, *factor} : Choice()});
  return demands;
}

Expected<std::vector<AxisDemand>> microBatchDemands(const ModelGraph &graph,
                                                    int64_t microBatches) {
  return BatchCutter(graph, microBatches).run();
}

} // namespace autopar
