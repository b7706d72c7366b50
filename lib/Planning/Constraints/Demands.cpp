//===- Demands.cpp - What a named strategy asks of each op ----------------===//

#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Model/BatchSize.h"
#include "autopar/Planning/Model/DimensionMarks.h"
#include "autopar/Planning/Model/Numbering.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kNames[] = {"auto",    "replicated", "data",
                                           "row",     "column",     "tensor",
                                           "channel", "spatial",    "layer"};

StringRef stringifyStrategy(StrategyName name) {
  return kNames[unsigned(name)];
}

std::string stringifyStrategies(ArrayRef<StrategyName> names) {
  return join(map_range(names, stringifyStrategy), ",");
}

Expected<SmallVector<StrategyName>> parseStrategies(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  SmallVector<StrategyName> names;
  for (StringRef part : parts) {
    const StringLiteral *found = llvm::find(kNames, part.trim());
    if (found == std::end(kNames))
      return createStringError(
          "unknown strategy '" + part.trim() +
          "'; known: " + join(ArrayRef(kNames), ", ") +
          didYouMean(part.trim(), SmallVector<StringRef>(std::begin(kNames),
                                                         std::end(kNames))));
    StrategyName name = StrategyName(found - std::begin(kNames));
    if (name == StrategyName::Layer && is_contained(names, name))
      return createStringError("strategy 'layer' is given twice: one axis "
                               "counts stages");
    names.push_back(name);
  }
  return names;
}

//===----------------------------------------------------------------------===//
// Facts about ops
//===----------------------------------------------------------------------===//

static Choice split(unsigned factor) { return {Choice::Split, factor}; }

/// Returns whether the op is a contraction or a convolution.
static bool isLinear(const GraphOp &op) {
  return op.facts->kernel == KernelClass::Contraction ||
         op.facts->kernel == KernelClass::Convolution;
}
/// Returns whether the op works on [batch, channels, spatial...].
static bool isSpatial(const GraphOp &op) {
  return op.facts->kernel == KernelClass::Convolution ||
         op.facts->kernel == KernelClass::Window;
}

/// Returns whether some devices of an axis can get blocks of the factor: all of
/// them, or as many as the smallest prime factor of `parts`.
static bool canFollow(const GraphOp &op, unsigned factor, int64_t parts) {
  if (op.facts->rule.factors[factor].size < 2)
    return false;
  if (canSplit(op.facts->rule, factor, parts))
    return true;
  for (int64_t prime = 2; prime <= parts; ++prime)
    if (parts % prime == 0)
      return canSplit(op.facts->rule, factor, prime);
  return false;
}

static bool contains(const TensorFactors &tensor, unsigned factor) {
  return any_of(tensor, [&](const DimFactors &dim) {
    return is_contained(dim.factors, factor);
  });
}

namespace {

/// A contraction or convolution of an activation with a weight.
struct LinearOp {
  unsigned activation, weight; // operands
};

} // namespace

static std::optional<LinearOp> linearOf(const ModelGraph &graph,
                                        const GraphOp &op) {
  if (!isLinear(op) || op.operands.size() < 2 || op.setup)
    return std::nullopt;
  for (unsigned weight : {1u, 0u}) {
    unsigned activation = 1 - weight;
    if (graph.values[op.operands[weight]].fromParameter &&
        graph.values[op.operands[activation]].fromInput)
      return LinearOp{activation, weight};
  }
  return std::nullopt;
}

/// Returns the factor of the weight's contracted dimension.
static std::optional<unsigned> rowFactor(const GraphOp &op, LinearOp linear,
                                         int64_t parts) {
  for (const DimFactors &dim : op.facts->rule.operands[linear.weight])
    for (unsigned factor : dim.factors)
      if (op.facts->rule.factors[factor].kind == FactorKind::Reduce &&
          contains(op.facts->rule.operands[linear.activation], factor) &&
          canFollow(op, factor, parts))
        return factor;
  return std::nullopt;
}

/// Returns the factor of the weight's output dimension: one that only the
/// weight has, or else one that it shares with the activation (the groups of a
/// convolution).
static std::optional<unsigned> columnFactor(const GraphOp &op, LinearOp linear,
                                            int64_t parts) {
  std::optional<unsigned> shared;
  for (const DimFactors &dim : op.facts->rule.operands[linear.weight])
    for (unsigned factor : dim.factors) {
      if (op.facts->rule.factors[factor].kind != FactorKind::Parallel ||
          !contains(op.facts->rule.results[0], factor) ||
          !canFollow(op, factor, parts))
        continue;
      if (!contains(op.facts->rule.operands[linear.activation], factor))
        return factor;
      if (!shared && op.facts->kernel == KernelClass::Convolution)
        shared = factor;
    }
  return shared;
}

//===----------------------------------------------------------------------===//
// The batch
//===----------------------------------------------------------------------===//

static DimensionMarks batchMarks(const ModelGraph &graph) {
  DimensionMarks marks(graph);
  int64_t batch = batchSize(graph);
  for (const auto &[index, value] : enumerate(graph.values))
    if (hasBatch(value, batch))
      marks.dims[index] = value.batchDim;
  propagateForward(graph, marks, [](const GraphOp &) { return true; });
  return marks;
}

//===----------------------------------------------------------------------===//
// Demands of each name
//===----------------------------------------------------------------------===//

using Demands = std::vector<AxisDemand>;

static Demands demandMarked(const ModelGraph &graph,
                            const DimensionMarks &marks, int64_t parts) {
  Demands demands(graph.ops.size());
  for (const auto &[index, op] : enumerate(graph.ops))
    if (!op.setup && marks.factors[index] &&
        canFollow(op, *marks.factors[index], parts))
      demands[index] = {split(*marks.factors[index])};
  return demands;
}

/// Follows dimension `dim` of the operands and results of convolutions and
/// poolings to the ops between them.
static DimensionMarks spatialMarks(const ModelGraph &graph, unsigned dim,
                                   const OpFilter &through) {
  DimensionMarks marks(graph);
  auto seed = [&](unsigned value) {
    if (graph.values[value].shape.size() > std::max(dim, 2u))
      marks.dims[value] = dim;
  };
  for (const GraphOp &op : graph.ops)
    if (!op.setup && isSpatial(op)) {
      seed(op.operands[0]);
      seed(op.results[0]);
    }
  propagateBothWays(graph, marks, through);
  return marks;
}

/// Demands splits of channels: a convolution splits those of its outputs or of
/// its inputs.
static Demands demandChannel(const ModelGraph &graph, int64_t parts) {
  DimensionMarks marks =
      spatialMarks(graph, 1, [](const GraphOp &op) { return !isLinear(op); });
  Demands demands = demandMarked(graph, marks, parts);
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup || op.facts->kernel != KernelClass::Convolution)
      continue;
    for (const TensorFactors *tensor :
         {&op.facts->rule.results[0], &op.facts->rule.operands[0]})
      if (std::optional<unsigned> factor =
              majorFactor(op.facts->rule, (*tensor)[1]))
        if (canFollow(op, *factor, parts) &&
            !is_contained(demands[index], split(*factor)))
          demands[index].push_back(split(*factor));
  }
  return demands;
}

/// Demands a split of the height, or of the width if there are fewer rows than
/// devices. If there are fewer columns, too, both are allowed: either one
/// alone, or some of the devices split the height and the others the width.
static Demands demandSpatial(const ModelGraph &graph, int64_t parts) {
  OpFilter through = [](const GraphOp &op) {
    return op.facts->kernel != KernelClass::Contraction;
  };
  DimensionMarks height = spatialMarks(graph, 2, through);
  DimensionMarks width = spatialMarks(graph, 3, through);
  Demands demands(graph.ops.size());
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    AxisDemand &demand = demands[index];
    for (const DimensionMarks *marks : {&height, &width})
      if (std::optional<unsigned> factor = marks->factors[index];
          factor && canFollow(op, *factor, parts) &&
          !is_contained(demand, split(*factor)))
        demand.push_back(split(*factor));
    const auto &factors = op.facts->rule.factors;
    const Choice *enough = llvm::find_if(demand, [&](const Choice &choice) {
      return factors[choice.index].size >= parts;
    });
    if (enough != demand.end())
      demand = {Choice(*enough)};
  }
  return demands;
}

using FactorOfLinearOp = std::optional<unsigned> (*)(const GraphOp &, LinearOp,
                                                     int64_t);

static Demands demandWeights(const ModelGraph &graph, int64_t parts,
                             FactorOfLinearOp factorOf) {
  Demands demands(graph.ops.size());
  for (const auto &[index, op] : enumerate(graph.ops))
    if (std::optional<LinearOp> linear = linearOf(graph, op))
      if (std::optional<unsigned> factor = factorOf(op, *linear, parts))
        demands[index] = {split(*factor)};
  return demands;
}

/// Finds the dimension in which a result of `op` is split because its operand
/// is: the one with the same factor. An op that cannot split the dimension (a
/// slice) keeps its position; a reduction or normalisation over the dimension
/// ends the split.
static void carrySplit(const GraphOp &op,
                       std::vector<std::optional<unsigned>> &dims) {
  for (const auto &[operand, value] : enumerate(op.operands)) {
    if (!dims[value])
      continue;
    const DimFactors &dim = op.facts->rule.operands[operand][*dims[value]];
    std::optional<unsigned> factor = majorFactor(op.facts->rule, dim);
    for (const auto &[result, tensor] :
         zip_equal(op.results, op.facts->rule.results)) {
      if (!factor && dim.factors.empty() &&
          tensor.size() == op.facts->rule.operands[operand].size())
        dims[result] = dims[value];
      if (!factor ||
          op.facts->rule.factors[*factor].kind != FactorKind::Parallel)
        continue;
      for (const auto &[position, factors] : enumerate(tensor))
        if (majorFactor(op.facts->rule, factors) == factor)
          dims[result] = position;
    }
  }
}

/// Demands a split of columns where the activation's contracted dimension
/// arrives whole, and a split of rows where it arrives split.
static Demands demandTensor(const ModelGraph &graph, int64_t parts) {
  Demands demands(graph.ops.size());
  std::vector<std::optional<unsigned>> dims(graph.values.size());
  for (const auto &[index, op] : enumerate(graph.ops)) {
    std::optional<LinearOp> linear = linearOf(graph, op);
    if (!linear) {
      carrySplit(op, dims);
      continue;
    }
    std::optional<unsigned> row = rowFactor(op, *linear, parts);
    if (dims[op.operands[linear->activation]] && row) {
      demands[index] = {split(*row)};
      continue;
    }
    std::optional<unsigned> column = columnFactor(op, *linear, parts);
    if (!column)
      continue;
    demands[index] = {split(*column)};
    for (const auto &[dim, factors] : enumerate(op.facts->rule.results[0]))
      if (is_contained(factors.factors, *column))
        dims[op.results[0]] = dim;
  }
  return demands;
}

Demands demandsOf(const ModelGraph &graph, StrategyName name, int64_t parts) {
  switch (name) {
  case StrategyName::Auto:
  case StrategyName::Layer:
    break;
  case StrategyName::Replicated:
    return Demands(graph.ops.size(), AxisDemand{Choice()});
  case StrategyName::Data:
    return demandMarked(graph, batchMarks(graph), parts);
  case StrategyName::Row:
    return demandWeights(graph, parts, rowFactor);
  case StrategyName::Column:
    return demandWeights(graph, parts, columnFactor);
  case StrategyName::Tensor:
    return demandTensor(graph, parts);
  case StrategyName::Channel:
    return demandChannel(graph, parts);
  case StrategyName::Spatial:
    return demandSpatial(graph, parts);
  }
  return Demands(graph.ops.size());
}

//===----------------------------------------------------------------------===//
// Demands of all axes
//===----------------------------------------------------------------------===//

static void appendMark(std::string &mark, const OpDemand &demand) {
  for (const AxisDemand &axis : demand) {
    for (const Choice &choice : axis)
      mark += std::to_string(choice.kind) + "." + std::to_string(choice.index) +
              ",";
    mark += ';';
  }
}

/// Numbers marks in the order of their first op, so that many meshes give the
/// same marks.
OpDemands::OpDemands(const ModelGraph &graph, std::vector<OpDemand> demands)
    : ofOps(std::move(demands)) {
  Numbering number;
  std::string mark;
  for (const auto &[op, demand] : zip_equal(graph.ops, ofOps)) {
    mark.clear();
    appendMark(mark, demand);
    mark += op.launches ? "L" : "";
    for (bool read : op.reads)
      mark += read ? 'r' : '-';
    for (bool write : op.writes)
      mark += write ? 'w' : '-';
    marks.push_back(number(mark));
  }
}

bool anyFollows(ArrayRef<AxisDemand> demands) {
  return any_of(demands, [](const AxisDemand &d) { return !d.empty(); });
}

Error cannotFollow(const ModelGraph &graph, StrategyName name, int64_t parts) {
  std::string others;
  for (unsigned other = 0; other < std::size(kNames); ++other)
    if (StrategyName(other) == StrategyName::Auto ||
        StrategyName(other) == StrategyName::Layer ||
        anyFollows(demandsOf(graph, StrategyName(other), parts)))
      others += (others.empty() ? "" : ", ") + kNames[other].str();
  const char *why = name == StrategyName::Data && batchSize(graph) == 1
                        ? ": the batch is 1 (--bind gives a symbolic one "
                          "another size)"
                        : "";
  return createStringError("no op of this model can follow strategy '" +
                           stringifyStrategy(name) + "' over " + Twine(parts) +
                           " devices" + why +
                           "; those that can be followed: " + others);
}

} // namespace autopar
