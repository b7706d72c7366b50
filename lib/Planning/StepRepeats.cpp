//===- StepRepeats.cpp - Repeated ops of a function -----------------------===//

#include "autopar/Planning/StepRepeats.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar {

ValueSource sourceOf(func::FuncOp function, unsigned argument) {
  Attribute source = function.getArgAttr(argument, AutoparDialect::kSource);
  if (!source)
    return ValueSource::Input;
  return llvm::TypeSwitch<Attribute, ValueSource>(source)
      .Case([](ParameterAttr) { return ValueSource::Parameter; })
      .Case([](StateAttr) { return ValueSource::State; })
      .Case([](SetupResultAttr) { return ValueSource::Op; })
      .Default([](Attribute) { return ValueSource::Input; });
}

StepRepeats::StepRepeats(func::FuncOp step) {
  auto differs = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument &&
           differsBetweenSteps(sourceOf(step, argument.getArgNumber()));
  };
  for (Operation &op : step.getBody().front().without_terminator()) {
    SmallVector<unsigned> makers;
    for (Value operand : op.getOperands())
      if (Operation *maker = operand.getDefiningOp())
        makers.push_back(numbers.at(maker));
    repeats.add(makers,
                isa<RecvOp>(op) || llvm::any_of(op.getOperands(), differs));
    numbers[&op] = ops.size();
    ops.push_back(&op);
  }
  for (Value value : step.getBody().front().getTerminator()->getOperands())
    if (Operation *maker = value.getDefiningOp())
      returned.push_back(numbers.at(maker));
}

std::vector<StageList> StepRepeats::stagesThatRun() const {
  std::vector<int64_t> planned;
  for (Operation *op : ops)
    planned.push_back(stageOf(op));
  return repeats.stagesThatRun(planned, returned);
}

void StepRepeats::makeMissing(
    Operation *op, llvm::function_ref<bool(Operation *)> isThere,
    llvm::function_ref<void(Operation *)> make) const {
  repeats.makeMissing(
      numbers.at(op), [&](unsigned number) { return isThere(ops[number]); },
      [&](unsigned number) { make(ops[number]); });
}

} // namespace autopar
