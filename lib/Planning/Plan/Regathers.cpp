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

bool regatherInEachTask(const ModelGraph &graph, Plan &plan) {
  PlannedReshards reshards(graph, plan);
  SharedReshards<unsigned, std::optional<Task>> readIn; // the last task
  bool found = false;
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (op.setup)
      continue;
    plan.ops[index].regathers.clear();
    for (const auto &[operand, value] : enumerate(op.operands)) {
      const PlannedReshards::Steps &steps = reshards.ofOperand(index, operand);
      if (!steps || !communicates(*steps))
        continue;
      std::optional<Task> &last = readIn.find(
          value,
          wantedSharding(reshards.shardings(index).operands[operand],
                         op.facts->rule.operands[operand]),
          /*stage=*/0);
      if (last && *last != copiesOf(op.task))
        plan.ops[index].regathers.push_back(operand);
      last = copiesOf(op.task);
    }
    found |= !plan.ops[index].regathers.empty();
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

void holdCopiesThatFit(const ModelGraph &graph, Plan &plan,
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
  if (!all.empty())
    holdFirst(most);
}

} // namespace autopar
