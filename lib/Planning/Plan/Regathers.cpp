//===- Regathers.cpp - Copies that a plan makes again ---------------------===//

#include "autopar/Planning/Plan/Regathers.h"
#include "autopar/Planning/Plan/PlannedReshards.h"
#include "autopar/Planning/Plan/SharedReshards.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

/// Returns the first of the tasks that read the same copies as `task`. The
/// gradients of a layer are computed side by side.
static Task copiesOf(Task task) {
  return task == Task::WeightGradient ? Task::InputGradient : task;
}

/// Returns the sharding after the first step that communicates, up to which
/// reshards to different shardings may be one (CSE).
static WantedSharding afterFirst(const ReshardPath &path,
                                 const WantedSharding &wanted) {
  const auto *first = find_if(
      path, [](const ReshardStep &step) { return !isLocal(step.kind); });
  return {first->after, wanted.fill};
}

bool regatherInEachTask(const ModelGraph &graph, Plan &plan) {
  PlannedReshards reshards(graph, plan);
  // The task of the last reader of a copy, and the task that made a first step.
  SharedReshards<unsigned, std::optional<Task>> readIn, begunIn;
  bool found = false;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    SmallVectorImpl<unsigned> &regathers = plan.ops[index].regathers;
    regathers.clear();
    Task task = copiesOf(op.task);
    for (const auto &[operand, value] : enumerate(op.operands)) {
      const PlannedReshards::Steps &steps = reshards.ofOperand(index, operand);
      if (!steps || !communicates(*steps))
        continue;
      WantedSharding wanted =
          wantedSharding(reshards.shardings(index).operands[operand],
                         op.facts->rule.operands[operand]);
      std::optional<Task> &last = readIn.find(value, wanted, /*stage=*/0);
      std::optional<Task> &begun =
          begunIn.find(value, afterFirst(*steps, wanted), /*stage=*/0);
      if (last.value_or(begun.value_or(task)) != task)
        regathers.push_back(operand);
      else if (!begun)
        begun = task;
      last = task;
    }
    found |= !regathers.empty();
  }
  return found;
}

void shareReshards(Plan &plan) {
  for (PlannedOp &op : plan.ops)
    op.regathers.clear();
}

namespace {
/// A reshard that an op makes again.
struct Regather {
  unsigned op, operand;
  double secondsPerByte; // of the copy
};
} // namespace

/// Returns what the ops of a plan make again, what saves the most seconds per
/// byte first.
static std::vector<Regather> regathersOf(const ModelGraph &graph,
                                         const Plan &plan) {
  PlannedReshards reshards(graph, plan);
  std::vector<Regather> list;
  for (const auto &[index, op] : enumerate(plan.ops))
    for (unsigned operand : op.regathers) {
      const GraphValue &value =
          graph.values[graph.ops[index].operands[operand]];
      int64_t bytes = localBytes(
          value, reshards.shardings(index).operands[operand], plan.mesh);
      list.push_back({unsigned(index), operand,
                      secondsOf(*reshards.ofOperand(index, operand)) /
                          double(std::max<int64_t>(bytes, 1))});
    }
  llvm::stable_sort(list, [](const Regather &a, const Regather &b) {
    return a.secondsPerByte > b.secondsPerByte;
  });
  return list;
}

bool holdCopiesThatFit(const ModelGraph &graph, Plan &plan,
                       function_ref<bool(Plan &)> fits) {
  const std::vector<Regather> all = regathersOf(graph, plan);
  auto holdFirst = [&](size_t held) {
    shareReshards(plan);
    for (const Regather &made : ArrayRef(all).drop_front(held))
      plan.ops[made.op].regathers.push_back(made.operand);
    for (PlannedOp &op : plan.ops)
      llvm::sort(op.regathers);
    return fits(plan);
  };
  // `most` copies may be held; more than `end` do not fit.
  size_t most = 0, end = all.size();
  while (most < end) {
    size_t middle = most + (end - most + 1) / 2;
    if (holdFirst(middle))
      most = middle;
    else
      end = middle - 1;
  }
  return holdFirst(most);
}

} // namespace autopar
