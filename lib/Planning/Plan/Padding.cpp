//===- Padding.cpp - GEMMs whose operands a plan pads ---------------------===//

#include "autopar/Planning/Plan/Padding.h"
#include "autopar/Cost/GemmPadding.h"
#include "autopar/Planning/Model/Strategies.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace autopar {

namespace {

/// The bytes that padding takes on a device of a stage.
class PaddingRoom {
public:
  /// `room` is what the plan leaves of the limit; nullopt: there is no limit.
  explicit PaddingRoom(std::optional<int64_t> room) : room(room) {}

  /// Returns whether a GEMM fits beside the bytes taken so far, and if so takes
  /// its bytes: `constants` stay, `others` are there while it runs.
  bool take(int64_t constants, int64_t others) {
    int64_t whole = std::max(taken + constants + others, most + constants);
    if (room && whole > *room)
      return false;
    taken += constants;
    most = whole;
    return true;
  }
  int64_t bytes() const { return most; }

private:
  std::optional<int64_t> room;
  int64_t taken = 0, most = 0;
};

/// One tensor of a GEMM on a device.
struct Side {
  unsigned value;
  const Sharding &sharding; // in which the GEMM reads or makes it
  SmallVector<int64_t> shape;
};

/// The padded form of a value in a stage, which all GEMMs share that want it.
using Pad = std::tuple<int64_t, unsigned, std::string, SmallVector<int64_t>>;

/// The padding of one GEMM.
struct Padding {
  int64_t constants = 0, others = 0; // bytes
  double flops = 0;                  // of the GEMM without padding
  SmallVector<Pad> pads;             // of operands, not made before
};

class Padder {
public:
  Padder(const ModelGraph &graph, Plan &plan)
      : graph(graph), plan(plan), strategies(plan.mesh) {}
  void run();

private:
  Side sideOf(unsigned value, const Sharding &sharding) const {
    return {value, sharding,
            localShape(graph.values[value].shape, sharding, plan.mesh)};
  }
  bool isConstant(unsigned op, const Side &side,
                  const TensorFactors &operand) const;
  bool makesAgain(unsigned op, unsigned value) const;
  void addSide(Padding &padding, unsigned op, const Side &side,
               ArrayRef<int64_t> more, const TensorFactors *operand) const;
  std::optional<Padding> paddingOf(unsigned op);
  bool take(unsigned op, PaddingRoom &memory);

  const ModelGraph &graph;
  Plan &plan;
  StrategyTable strategies;
  std::set<Pad> made;
};

} // namespace

/// Returns whether the GEMM reads a constant as it is stored, which is then
/// padded at load.
bool Padder::isConstant(unsigned op, const Side &side,
                        const TensorFactors &operand) const {
  const GraphValue &value = graph.values[side.value];
  if (!value.persistent || differsBetweenSteps(value.source) ||
      plan.values[side.value].sharding != side.sharding)
    return false;
  for (const auto &[dim, size] : enumerate(value.shape))
    if (isUneven(size, side.sharding.dims[dim], plan.mesh) &&
        graph.ops[op].facts->rule.factors[operand[dim].factors.front()].mask)
      return false; // a mask comes between
  return true;
}

/// Returns the multiplications and additions of a GEMM on a device.
static double localFlops(const GraphOpFacts &facts, ArrayRef<Side> sides) {
  const ShardingRule &rule = facts.rule;
  std::vector<int64_t> sizes(rule.factors.size(), 1);
  auto note = [&](const TensorFactors &tensor, ArrayRef<int64_t> shape) {
    for (auto [dim, size] : zip_equal(tensor, shape))
      sizes[dim.factors.front()] = size;
  };
  note(rule.operands[0], sides[0].shape);
  note(rule.operands[1], sides[1].shape);
  double flops = double(facts.flops);
  for (auto [factor, size] : zip_equal(rule.factors, sizes))
    flops *= double(size) / double(factor.size);
  return flops;
}

/// Returns whether the op reads a copy of the value that nobody read before it.
bool Padder::makesAgain(unsigned op, unsigned value) const {
  return any_of(plan.ops[op].regathers, [&](unsigned operand) {
    return graph.ops[op].operands[operand] == value;
  });
}

/// Adds what a tensor takes that grows by `more`. `operand` has its factors; it
/// is null for the result.
void Padder::addSide(Padding &padding, unsigned op, const Side &side,
                     ArrayRef<int64_t> more,
                     const TensorFactors *operand) const {
  if (all_of(more, [](int64_t by) { return by == 0; }))
    return;
  Pad pad{plan.ops[op].stage, side.value, "", SmallVector<int64_t>(more)};
  appendKey(std::get<std::string>(pad), side.sharding);
  if (operand && made.count(pad) && !makesAgain(op, side.value))
    return;
  int64_t bytes = graph.values[side.value].elementBytes;
  for (auto [size, by] : zip_equal(side.shape, more))
    bytes *= size + by;
  bool atLoad = operand && isConstant(op, side, *operand);
  (atLoad ? padding.constants : padding.others) += bytes;
  if (operand)
    padding.pads.push_back(std::move(pad));
}

/// Returns the padding that a GEMM would take; nullopt if it needs none.
std::optional<Padding> Padder::paddingOf(unsigned op) {
  const GraphOp &gemm = graph.ops[op];
  const GraphOpFacts &facts = *gemm.facts;
  if (facts.flopsKind == FlopsKind::Fp32)
    return std::nullopt;
  const OpShardings &shardings =
      strategies.find(gemm, plan.ops[op].assignment)->shardings;
  Side sides[] = {sideOf(gemm.operands[0], shardings.operands[0]),
                  sideOf(gemm.operands[1], shardings.operands[1]),
                  sideOf(gemm.results[0], shardings.results[0])};
  std::optional<GemmSizes> growth = alignedGrowth(
      facts.rule, {sides[0].shape, sides[1].shape, sides[2].shape},
      graph.values[gemm.results[0]].elementBytes, graph.table->gemmBytes());
  if (!growth)
    return std::nullopt;
  Padding padding;
  padding.flops = localFlops(facts, sides);
  addSide(padding, op, sides[0], growth->lhs, &facts.rule.operands[0]);
  addSide(padding, op, sides[1], growth->rhs, &facts.rule.operands[1]);
  addSide(padding, op, sides[2], growth->result, nullptr);
  return padding;
}

/// Decides for one GEMM. Returns false if it stays as it is.
bool Padder::take(unsigned op, PaddingRoom &memory) {
  std::optional<Padding> padding = paddingOf(op);
  // A tensor that is padded in the step is written and read once more.
  if (!padding ||
      !isWorthPadding(padding->flops, 2.0 * double(padding->others)) ||
      !memory.take(padding->constants, padding->others))
    return false;
  made.insert(padding->pads.begin(), padding->pads.end());
  return true;
}

void Padder::run() {
  std::vector<bool> isGemm(graph.ops.size(), false);
  for (const GraphStep &step : graph.steps)
    if (step.call == CallKind::Gemm)
      isGemm[step.root] = true;
  std::vector<PaddingRoom> memory;
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    int64_t limit = plan.memoryLimit(stage);
    memory.emplace_back(
        limit ? std::optional(limit - plan.predictedStageMemoryBytes[stage])
              : std::nullopt);
  }
  for (unsigned op = 0; op < graph.ops.size(); ++op)
    plan.ops[op].padded = isGemm[op] && graph.hasOwnStage(op) &&
                          take(op, memory[plan.ops[op].stage]);
  for (auto [bytes, padding] :
       zip_equal(plan.predictedStageMemoryBytes, memory))
    bytes += padding.bytes();
  plan.predictedPeakMemoryBytes =
      *llvm::max_element(plan.predictedStageMemoryBytes);
}

void padOperands(const ModelGraph &graph, Plan &plan) {
  if (graph.table->gemmBytes() != 0)
    Padder(graph, plan).run();
}

} // namespace autopar
