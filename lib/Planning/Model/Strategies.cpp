//===- Strategies.cpp - Ways to run an op and their costs -----------------===//

#include "autopar/Planning/Model/Strategies.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

int64_t localBytes(const GraphValue &value, const Sharding &sharding,
                   const Mesh &mesh) {
  int64_t bytes = value.elementBytes;
  for (int64_t size : localShape(value.shape, sharding, mesh))
    bytes *= size;
  return bytes;
}

const OpStrategy *StrategyTable::find(const GraphOp &op,
                                      const Assignment &assignment) {
  SmallVector<Known, 1> &list = known[op.facts.get()];
  auto *it = llvm::find_if(
      list, [&](const Known &item) { return item.assignment == assignment; });
  if (it == list.end()) {
    std::optional<OpShardings> shardings =
        shardingsOf(op.facts->rule, assignment, mesh);
    list.push_back({assignment, shardings
                                    ? std::make_unique<OpStrategy>(
                                          OpStrategy{assignment, *shardings})
                                    : nullptr});
    it = &list.back();
  }
  return it->strategy.get();
}

//===----------------------------------------------------------------------===//
// Seconds
//===----------------------------------------------------------------------===//

/// Returns the largest share of the factors' points that one device computes.
static double shareOf(const ShardingRule &rule, const Assignment &assignment,
                      const Mesh &mesh) {
  double share = 1;
  for (const auto &[index, factor] : enumerate(rule.factors)) {
    int64_t parts = mesh.product(subAxesOf(assignment, index));
    if (parts > 1)
      share *= double(ceilDiv(factor.size, parts)) / factor.size;
  }
  return share;
}

/// Returns the bytes that pass through memory: those read from and written
/// outside the op's kernel group. An op that only moves elements reads no more
/// than it writes.
static double trafficOf(const ModelGraph &graph, const GraphOp &op,
                        const OpStrategy &strategy, const Mesh &mesh) {
  double written = 0, stored = 0, read = 0;
  for (const auto &[result, value] : enumerate(op.results)) {
    double bytes = localBytes(graph.values[value],
                              strategy.shardings.results[result], mesh);
    written += bytes;
    stored += op.writes[result] ? bytes : 0;
  }
  for (const auto &[operand, value] : enumerate(op.operands)) {
    if (!op.reads[operand])
      continue;
    double bytes = localBytes(graph.values[value],
                              strategy.shardings.operands[operand], mesh);
    read += op.facts->kernel == KernelClass::Movement ? std::min(bytes, written)
                                                      : bytes;
  }
  return stored + read;
}

std::optional<ReshardStep> combiningStep(const ModelGraph &graph,
                                         const GraphOp &op,
                                         const OpStrategy &strategy,
                                         const Mesh &mesh,
                                         CommunicationModel &communication) {
  constexpr int64_t kLeastBytes = 4; // of a number that is summed up
  ReshardStep step;
  step.kind = ReshardKind::AllReduce;
  int64_t reduced = 1; // elements of a row on a device
  for (const auto &[index, factor] : enumerate(op.facts->rule.factors)) {
    if (factor.kind != FactorKind::Decompose)
      continue;
    SmallVector<unsigned, 2> subAxes = subAxesOf(strategy.assignment, index);
    append_range(step.subAxes, subAxes);
    reduced *= ceilDiv(factor.size, mesh.product(subAxes));
  }
  if (step.subAxes.empty())
    return std::nullopt;
  llvm::sort(step.subAxes);
  const GraphValue &result = graph.values[op.results[0]];
  step.bytes = localBytes(result, strategy.shardings.results[0], mesh) /
               reduced / result.elementBytes *
               std::max(kLeastBytes, result.elementBytes);
  step.seconds = communication.seconds(step);
  return step;
}

double strategySeconds(const ModelGraph &graph, const GraphOp &op,
                       const OpStrategy &strategy, const Mesh &mesh,
                       const DeviceType &device,
                       CommunicationModel &communication) {
  if (op.facts->kernel == KernelClass::View ||
      op.facts->kernel == KernelClass::None)
    return 0;
  KernelWork work;
  work.flops =
      op.facts->flops * shareOf(op.facts->rule, strategy.assignment, mesh);
  work.bytes = trafficOf(graph, op, strategy, mesh);
  work.launches = op.launches ? 1 : 0;
  work.kind = op.facts->flopsKind;
  double seconds = kernelSeconds(device, work);
  if (std::optional<ReshardStep> step =
          combiningStep(graph, op, strategy, mesh, communication))
    seconds += op.facts->reductions * step->seconds;
  return seconds;
}

} // namespace autopar
