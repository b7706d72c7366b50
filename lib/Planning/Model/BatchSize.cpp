//===- BatchSize.cpp - The batch dimension of a model ---------------------===//
//
// The batch is the dimension of inputs that the whole forward graph carries to
// its outputs and no op mixes: each op splits it. It is dimension 0 as a rule,
// dimension 1 of [sequence, batch, features]. Where no dimension is carried so
// (a batch norm in training mixes the batch, too) the sizes of dimension 0 of
// inputs and outputs vote.
//
//===----------------------------------------------------------------------===//

#include "autopar/Planning/Model/BatchSize.h"
#include "autopar/Planning/Model/DimensionMarks.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <set>
#include <tuple>

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// The forward graph
//===----------------------------------------------------------------------===//

namespace {

/// The ops that compute outputs, or the loss, and the values at their end.
struct ForwardGraph {
  std::vector<unsigned> ops;
  /// The outputs of several elements. If there are none, as in a training step,
  /// the values that are reduced to one element.
  std::vector<unsigned> ends;
};

} // namespace

static int64_t elementsOf(const GraphValue &value) {
  return std::accumulate(value.shape.begin(), value.shape.end(), int64_t(1),
                         std::multiplies<>());
}

static bool isWide(int64_t size) { return size > 1; }

static bool givesOneElement(const ModelGraph &graph, const GraphOp &op) {
  return all_of(op.results, [&](unsigned result) {
    return elementsOf(graph.values[result]) == 1;
  });
}

/// Returns, per op, whether one of `results` depends on it.
static std::vector<bool> opsBefore(const ModelGraph &graph,
                                   ArrayRef<unsigned> results) {
  std::vector<bool> needed(graph.ops.size(), false);
  SmallVector<unsigned> rest(results);
  while (!rest.empty()) {
    const GraphValue &value = graph.values[rest.pop_back_val()];
    if (value.source != ValueSource::Op || needed[value.producer])
      continue;
    needed[value.producer] = true;
    append_range(rest, graph.ops[value.producer].operands);
  }
  return needed;
}

/// Returns the forward graph. In a training step, it is the ops on which the
/// loss depends, which is the step's first result.
static ForwardGraph forwardGraph(const ModelGraph &graph) {
  ForwardGraph forward;
  SmallVector<unsigned> results;
  bool trains = any_of(graph.states, [&](const GraphState &state) {
    return graph.values[state.argument].isWeight;
  });
  for (unsigned result : graph.stepResults) {
    const GraphValue &value = graph.values[result];
    trains |= value.isGradient;
    if (!value.isGradient)
      results.push_back(result);
    if (value.output && !value.isGradient && elementsOf(value) > 1)
      forward.ends.push_back(result);
  }
  if (trains && !results.empty())
    results.truncate(1);
  std::vector<bool> needed = opsBefore(graph, results);
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (!needed[index])
      continue;
    forward.ops.push_back(index);
    if (trains && givesOneElement(graph, op))
      copy_if(op.operands, std::back_inserter(forward.ends), [&](unsigned v) {
        return graph.values[v].fromInput && elementsOf(graph.values[v]) > 1;
      });
  }
  return forward;
}

/// Returns the size of the rows of an input: its dimension 0, or dimension 1
/// behind blocks of rows; 1 if it has none.
static int64_t rowsOf(const GraphValue &value) {
  return value.source == ValueSource::Input && !value.shape.empty()
             ? value.shape[value.rowDim]
             : 1;
}

/// Marks the rows of each input as its batch where there are as many as
/// `batch`.
static void markRows(ModelGraph &graph, int64_t batch) {
  for (unsigned argument : graph.stepArguments)
    if (GraphValue &value = graph.values[argument];
        batch > 1 && value.batchDim < 0 && rowsOf(value) == batch)
      value.batchDim = value.rowDim;
}

//===----------------------------------------------------------------------===//
// Dimensions that are carried
//===----------------------------------------------------------------------===//

namespace {

struct Carried {
  unsigned number; // of the class
  bool isRows;
};

/// Classes of dimensions of values: two dimensions are in one class if an op
/// splits both by one factor.
class CarriedDimensions {
public:
  CarriedDimensions(const ModelGraph &graph, const ForwardGraph &forward);

  /// Returns the number that stands for all dimensions joined with this one.
  unsigned classOf(unsigned value, unsigned dim) {
    return rootOf(first[value] + dim);
  }
  bool has(unsigned value, unsigned wanted) {
    return dimOf(value, wanted).has_value();
  }
  /// Returns the first dimension of `value` that is in the class.
  std::optional<unsigned> dimOf(unsigned value, unsigned wanted) {
    for (unsigned dim = 0; dim < graph.values[value].shape.size(); ++dim)
      if (classOf(value, dim) == wanted)
        return dim;
    return std::nullopt;
  }
  /// Returns whether some value has the class before another dimension: the
  /// class then counts rows, not features.
  bool isLeading(unsigned wanted) const { return leading.contains(wanted); }
  /// Returns whether no op mixes the class, and no weight, bias or scale has
  /// it. Other parameters may have it: exporters write initial states as zeros.
  bool isCarried(unsigned wanted) const { return !mixed.contains(wanted); }

private:
  unsigned rootOf(unsigned id) {
    while (parent[id] != id)
      id = parent[id] = parent[parent[id]];
    return id;
  }
  void join(const GraphOp &op);
  void findMixed(const GraphOp &op);
  void mix(unsigned value, unsigned dim) { mixed.insert(classOf(value, dim)); }

  const ModelGraph &graph;
  std::vector<unsigned> first;  // per value: the number of its dimension 0
  std::vector<unsigned> parent; // per dimension
  DenseSet<unsigned> mixed;     // classes
  DenseSet<unsigned> leading;   // classes
};

} // namespace

CarriedDimensions::CarriedDimensions(const ModelGraph &graph,
                                     const ForwardGraph &forward)
    : graph(graph) {
  unsigned count = 0;
  for (const GraphValue &value : graph.values) {
    first.push_back(count);
    count += value.shape.size();
  }
  parent.resize(count);
  std::iota(parent.begin(), parent.end(), 0);
  for (unsigned op : forward.ops)
    join(graph.ops[op]);
  for (unsigned op : forward.ops)
    findMixed(graph.ops[op]);
  for (const auto &[index, value] : enumerate(graph.values))
    if (value.source == ValueSource::Parameter || value.isWeight) {
      if (count_if(value.shape, isWide) == 1)
        mix(index, find_if(value.shape, isWide) - value.shape.begin());
    } else {
      for (unsigned dim = 0; dim < value.shape.size(); ++dim)
        if (any_of(drop_begin(value.shape, dim + 1), isWide))
          leading.insert(classOf(index, dim));
    }
}

/// Joins the dimensions that one factor leads to one class.
void CarriedDimensions::join(const GraphOp &op) {
  const ShardingRule &rule = op.facts->rule;
  SmallVector<std::optional<unsigned>> joined(rule.factors.size());
  auto visit = [&](ArrayRef<unsigned> values, ArrayRef<TensorFactors> tensors) {
    for (const auto &[value, tensor] : zip_equal(values, tensors))
      for (const auto &[dim, factors] : enumerate(tensor)) {
        std::optional<unsigned> factor = majorFactor(rule, factors);
        if (!factor)
          continue;
        unsigned own = classOf(value, dim);
        if (joined[*factor])
          parent[own] = rootOf(*joined[*factor]);
        joined[*factor] = own;
      }
  };
  visit(op.operands, rule.operands);
  visit(op.results, rule.results);
}

/// Marks dimensions as mixed that the op reads whole, reduces, sees through a
/// window or reads as the minor part of another one, and the dimensions of a
/// weight. Reductions to one element do not count: they make a loss.
void CarriedDimensions::findMixed(const GraphOp &op) {
  const ShardingRule &rule = op.facts->rule;
  auto leads = [&](const TensorFactors &tensor, unsigned factor) {
    return any_of(tensor, [&](const DimFactors &dim) {
      return majorFactor(rule, dim) == factor;
    });
  };
  if (givesOneElement(graph, op))
    return;
  bool multiplies = op.facts->kernel == KernelClass::Contraction ||
                    op.facts->kernel == KernelClass::Convolution;
  bool readsInput = graph.values[op.results.front()].fromInput;
  for (const auto &[value, tensor] : zip_equal(op.operands, rule.operands))
    for (const auto &[dim, factors] : enumerate(tensor)) {
      std::optional<unsigned> factor = majorFactor(rule, factors);
      bool splits =
          factor && !factors.window &&
          rule.factors[*factor].kind == FactorKind::Parallel &&
          !(multiplies && readsInput && graph.values[value].fromParameter) &&
          any_of(rule.results, [&](const TensorFactors &result) {
            return leads(result, *factor);
          });
      if (!splits && graph.values[value].shape[dim] > 1)
        mix(value, dim);
    }
}

/// Returns the class of the first dimension of the first input that all ends
/// have, and whether it is the input's rows. Labels come after the model's
/// inputs. An input that nobody reads shows nothing but its number of rows:
/// then the vote decides.
static std::optional<Carried> findCarried(const ModelGraph &graph,
                                          const ForwardGraph &forward,
                                          CarriedDimensions &carried) {
  std::optional<Carried> best;
  if (forward.ends.empty())
    return best;
  for (unsigned argument : graph.stepArguments) {
    const GraphValue &value = graph.values[argument];
    if (value.source != ValueSource::Input)
      continue;
    if (value.uses.empty())
      return std::nullopt;
    for (unsigned dim = value.rowDim; !best && dim < value.shape.size();
         ++dim) {
      unsigned found = carried.classOf(argument, dim);
      bool isRows = dim == value.rowDim;
      if (isWide(value.shape[dim]) && carried.isCarried(found) &&
          (isRows || carried.isLeading(found)) &&
          all_of(forward.ends,
                 [&](unsigned end) { return carried.has(end, found); }))
        best = Carried{found, isRows};
    }
  }
  return best;
}

/// Marks the inputs' batch; returns false if no dimension is carried.
static bool markCarried(ModelGraph &graph, const ForwardGraph &forward) {
  CarriedDimensions carried(graph, forward);
  std::optional<Carried> best = findCarried(graph, forward, carried);
  if (!best)
    return false;
  for (unsigned argument : graph.stepArguments)
    if (GraphValue &value = graph.values[argument];
        value.source == ValueSource::Input)
      if (std::optional<unsigned> dim = carried.dimOf(argument, best->number))
        value.batchDim = *dim;
  if (best->isRows)
    markRows(graph, batchSize(graph));
  return true;
}

//===----------------------------------------------------------------------===//
// The vote
//===----------------------------------------------------------------------===//

/// Returns the size above 1, of those that the inputs' rows have, that the most
/// ends have. Among equals it is the one that divides the rows of the most
/// ends, then of the most inputs, then the least. Returns 1 if there is none.
static int64_t votedSize(const ModelGraph &graph, const ForwardGraph &forward) {
  std::vector<int64_t> inputs, outputs;
  auto add = [](std::vector<int64_t> &list, int64_t rows) {
    if (rows > 1)
      list.push_back(rows);
  };
  for (unsigned argument : graph.stepArguments)
    add(inputs, rowsOf(graph.values[argument]));
  for (unsigned end : forward.ends)
    add(outputs, graph.values[end].shape.front());
  auto fitOf = [&](int64_t size) {
    auto isMultiple = [&](int64_t rows) { return rows % size == 0; };
    return std::tuple(llvm::count(outputs, size),
                      llvm::count_if(outputs, isMultiple),
                      llvm::count_if(inputs, isMultiple), -size);
  };
  std::set<int64_t> sizes(inputs.begin(), inputs.end());
  auto best = llvm::max_element(
      sizes, [&](int64_t a, int64_t b) { return fitOf(a) < fitOf(b); });
  return best == sizes.end() ? 1 : *best;
}

void findBatch(ModelGraph &graph) {
  ForwardGraph forward = forwardGraph(graph);
  if (markCarried(graph, forward))
    return;
  markRows(graph, votedSize(graph, forward));
}

int64_t batchSize(const ModelGraph &graph) {
  for (unsigned argument : graph.stepArguments)
    if (const GraphValue &value = graph.values[argument]; value.batchDim >= 0)
      return value.shape[value.batchDim];
  return 1;
}

bool hasBatch(const GraphValue &value, int64_t batch) {
  return batch > 1 && value.batchDim >= 0;
}

} // namespace autopar
