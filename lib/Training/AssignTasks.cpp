//===- AssignTasks.cpp - The task of each op of a training step -----------===//
//
//   %y = einsum %x, %w    forward: the loss depends on it
//   %d = einsum %g, %w    input_gradient: several gradients depend on it
//   %e = einsum %x, %g    weight_gradient: the gradient of %w alone does
//   %v = sub %w, %e       update
//
//===----------------------------------------------------------------------===//

#include "StepFunction.h"
#include "autopar/Training/Passes.h"

namespace autopar {
#define GEN_PASS_DEF_ASSIGNTASKS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {
namespace {

class TaskFinder {
public:
  explicit TaskFinder(func::FuncOp function);
  Task taskOf(Operation *op);

private:
  void findCones();
  void findGradients(Operation *op);

  StepFunction step;
  /// The ops on which the loss depends, and those on which a gradient does.
  DenseSet<Operation *> ofLoss, ofGradient;
  /// Per value that is a gradient, and per op of `ofGradient`: the number of
  /// the gradient to which it leads, or kSeveral.
  static constexpr unsigned kSeveral = ~0u;
  llvm::DenseMap<Value, unsigned> gradients;
  llvm::DenseMap<Operation *, unsigned> leadsTo;
  /// `isForward` has the ops of task forward that taskOf has seen, and
  /// `followsGradient` those that depend on an op of a gradient.
  DenseSet<Operation *> isForward, followsGradient;
};

} // namespace

TaskFinder::TaskFinder(func::FuncOp function) : step(function) {
  for (const auto &[number, result] : llvm::enumerate(step.results)) {
    auto output = dyn_cast_or_null<OutputAttr>(result.what);
    Operation *maker = result.value.getDefiningOp();
    if (isa_and_nonnull<GradientAttr>(result.what)) {
      auto [known, isNew] =
          gradients.try_emplace(result.value, unsigned(number));
      if (!isNew)
        known->second = kSeveral;
      if (maker)
        ofGradient.insert(maker);
    } else if (output && output.getRole() == OutputRole::Loss && maker) {
      ofLoss.insert(maker);
    }
  }
  findCones();
}

void TaskFinder::findCones() {
  for (Operation &op : llvm::reverse(step.body().without_terminator())) {
    bool isOfLoss = ofLoss.contains(&op),
         isOfGradient = ofGradient.contains(&op);
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp()) {
        if (isOfLoss)
          ofLoss.insert(maker);
        if (isOfGradient)
          ofGradient.insert(maker);
      }
    if (isOfGradient && !isOfLoss)
      findGradients(&op);
  }
}

/// Finds the gradients to which an op leads, after its users.
void TaskFinder::findGradients(Operation *op) {
  std::optional<unsigned> found;
  auto note = [&](unsigned gradient) {
    found = !found || *found == gradient ? gradient : kSeveral;
  };
  for (Value result : op->getResults()) {
    if (auto gradient = gradients.find(result); gradient != gradients.end())
      note(gradient->second);
    for (Operation *user : result.getUsers())
      if (auto known = leadsTo.find(user); known != leadsTo.end())
        note(known->second);
  }
  leadsTo[op] = found.value_or(kSeveral);
}

/// Returns the task of an op, after those of its operands.
Task TaskFinder::taskOf(Operation *op) {
  auto isAnyOf = [&](const DenseSet<Operation *> &ops) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return ops.contains(operand.getDefiningOp());
    });
  };
  auto gradient = leadsTo.find(op);
  if (gradient != leadsTo.end() || isAnyOf(followsGradient))
    followsGradient.insert(op);
  if (gradient != leadsTo.end())
    return gradient->second == kSeveral ? Task::InputGradient
                                        : Task::WeightGradient;
  if (!ofLoss.contains(op) &&
      (followsGradient.contains(op) || !isAnyOf(isForward)))
    return Task::Update;
  isForward.insert(op);
  return Task::Forward;
}

namespace {
struct AssignTasks : impl::AssignTasksBase<AssignTasks> {
  void runOnOperation() final {
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    if (!*trained)
      return;
    func::FuncOp step = (*trained)->step;
    TaskFinder tasks(step);
    for (Operation &op : step.getBody().front().without_terminator())
      op.setAttr(AutoparDialect::kTask,
                 TaskAttr::get(&getContext(), tasks.taskOf(&op)));
  }
};
} // namespace

} // namespace autopar
