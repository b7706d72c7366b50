//===- KnownValues.cpp - What follows from constants and parameters -------===//

#include "KnownValues.h"
#include "OnnxTensor.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace autopar {

/// An op that does more for an element, as matrix multiplications do, is none
/// that shapes and indices are made of.
static constexpr int64_t kFlopsPerElement = 64;

/// Elements that one import evaluates: seconds, and a gigabyte of memory.
static constexpr uint64_t kEvaluatedElements = 1 << 27;

/// The number of elements, at most INT32_MAX, so that a few of them can be
/// added up.
static uint64_t elementsOf(Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  return std::min<uint64_t>(countElements(shape, 1).value_or(INT32_MAX),
                            INT32_MAX);
}

KnownValues::Origin KnownValues::originOf(Value value) const {
  if (value.getDefiningOp<ConstantOp>())
    return elementsOf(value) <= kKnownElements ? Constants : Unknown;
  return made.lookup(value);
}

void KnownValues::note(Operation *op) {
  uint64_t work = 0;
  Origin origin = Constants;
  for (Value operand : op->getOperands()) {
    origin = originOf(operand) == Constants ? origin : originOf(operand);
    if (origin == Unknown)
      return;
    work += elementsOf(operand);
  }
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel || op->getNumResults() != 1 ||
      elementsOf(op->getResult(0)) > kKnownElements)
    return;
  work += elementsOf(op->getResult(0));
  if (kernel.getFlops() <= int64_t(work) * kFlopsPerElement)
    made[op->getResult(0)] = origin;
}

/// Failure without a word: what cannot be evaluated is just not known.
static FailureOr<interpreter::Tensor>
evaluateQuietly(Operation *op, ArrayRef<const interpreter::Tensor *> operands) {
  ScopedDiagnosticHandler quiet(op->getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(mlir::verify(op)))
    return failure();
  return interpreter::evaluate(op, operands);
}

/// The elements of a constant or parameter, or of an op whose operands are
/// known.
FailureOr<interpreter::Tensor> KnownValues::read(Value value) {
  if (Operation *op = value.getDefiningOp())
    return evaluate(op);
  return readParameter(value);
}

FailureOr<interpreter::Tensor> KnownValues::evaluate(Operation *op) {
  evaluated += elementsOf(op->getResult(0));
  if (auto constant = dyn_cast<ConstantOp>(op))
    return interpreter::fromElements(constant.getValue());
  SmallVector<const interpreter::Tensor *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand).get());
  if (llvm::is_contained(operands, nullptr) || evaluated > kEvaluatedElements)
    return failure();
  return evaluateQuietly(op, operands);
}

/// Operands first, without recursion: chains are as long as models.
interpreter::TensorRef KnownValues::get(Value value) {
  if (originOf(value) == Unknown)
    return nullptr;
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.back();
    if (Operation *op = known.contains(next) ? nullptr : next.getDefiningOp())
      for (Value operand : op->getOperands())
        if (!known.contains(operand))
          open.push_back(operand);
    if (open.back() != next)
      continue;
    open.pop_back();
    if (known.contains(next))
      continue;
    FailureOr<interpreter::Tensor> tensor = read(next);
    known[next] =
        succeeded(tensor)
            ? std::make_shared<interpreter::Tensor>(std::move(*tensor))
            : nullptr;
  }
  return known.lookup(value);
}

} // namespace autopar
