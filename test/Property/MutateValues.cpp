//===- MutateValues.cpp - Lets ops read other values ----------------------===//

#include "Mutation.h"

using namespace mlir;

namespace autopar::property {

/// Values of this type that are known before `op`.
static SmallVector<Value> valuesBefore(Operation *op, Type type) {
  SmallVector<Value> values;
  for (BlockArgument argument : op->getBlock()->getArguments())
    if (argument.getType() == type)
      values.push_back(argument);
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    for (Value result : other.getResults())
      if (result.getType() == type)
        values.push_back(result);
  }
  return values;
}

/// Exchanges two operands of one type.
static std::optional<Mutation> exchangeTwo(Operation *op, Random &random) {
  int64_t count = op ? op->getNumOperands() : 0;
  if (count < 2)
    return std::nullopt;
  unsigned first = random.below(count), second = random.below(count);
  Value a = op->getOperand(first), b = op->getOperand(second);
  if (a == b || a.getType() != b.getType())
    return std::nullopt;
  op->setOperand(first, b);
  op->setOperand(second, a);
  return mutationOf(op, "with operands " + Twine(first) + " and " +
                            Twine(second) + " exchanged");
}

std::optional<Mutation> exchangeOperands(const Mutable &program) {
  return exchangeTwo(program.pickOp([](Operation *op) {
    return isCompute(op) && op->getNumOperands() > 1;
  }),
                     program.random);
}

std::optional<Mutation> exchangeReturned(const Mutable &program) {
  return exchangeTwo(
      program.pickOp([](Operation *op) { return isa<func::ReturnOp>(op); }),
      program.random);
}

/// Lets `op` read another value of the same type.
static std::optional<Mutation> replaceIn(Operation *op, Random &random) {
  if (!op || op->getNumOperands() == 0)
    return std::nullopt;
  unsigned index = random.below(op->getNumOperands());
  Value old = op->getOperand(index);
  SmallVector<Value> others = valuesBefore(op, old.getType());
  llvm::erase(others, old);
  if (others.empty())
    return std::nullopt;
  op->setOperand(index, random.pick(ArrayRef<Value>(others)));
  return mutationOf(op, "with another operand " + Twine(index));
}

std::optional<Mutation> replaceOperand(const Mutable &program) {
  return replaceIn(
      program.pickOp([](Operation *op) { return !isa<SendOp>(op); }),
      program.random);
}

std::optional<Mutation> replaceSent(const Mutable &program) {
  return replaceIn(
      program.pickOp([](Operation *op) { return isa<SendOp>(op); }),
      program.random);
}

/// All that read a result read an earlier value of its type.
std::optional<Mutation> replaceValue(const Mutable &program) {
  Operation *op =
      program.pickOp([](Operation *op) { return op->getNumResults() == 1; });
  if (!op)
    return std::nullopt;
  Value old = op->getResult(0);
  SmallVector<Value> others = valuesBefore(op, old.getType());
  if (others.empty())
    return std::nullopt;
  Mutation mutation = mutationOf(op, "replaced by another value");
  old.replaceAllUsesWith(program.random.pick(ArrayRef<Value>(others)));
  return mutation;
}

/// What reads a compute op's result reads one of its operands.
std::optional<Mutation> bypassCompute(const Mutable &program) {
  Operation *op = program.pickOp(isCompute);
  if (!op || op->getNumOperands() == 0)
    return std::nullopt;
  Value operand = op->getOperand(program.random.below(op->getNumOperands()));
  if (operand.getType() != op->getResult(0).getType())
    return std::nullopt;
  Mutation mutation = mutationOf(op, "bypassed");
  op->getResult(0).replaceAllUsesWith(operand);
  return mutation;
}

} // namespace autopar::property
