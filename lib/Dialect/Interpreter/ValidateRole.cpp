//===- ValidateRole.cpp - Checks what kernels may assume of an op ---------===//
//
// Fusion, work in place and its verification rely on which elements of an
// operand a result element reads. The validation changes an element of an
// operand and looks at the results that change with it.
//
//===----------------------------------------------------------------------===//

#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "autopar/Dialect/Interpreter/Validate.h"
#include "autopar/Dialect/KernelFacts.h"
#include <cmath>

using namespace mlir;

namespace autopar::interpreter {

/// Elements of each operand that are changed, spread over it.
static constexpr int64_t kMostProbes = 24;

static bool sameElement(const Tensor &a, const Tensor &b, int64_t i) {
  if (!a.isFloat())
    return a.ints[i] == b.ints[i];
  return a.floats[i] == b.floats[i] ||
         (std::isnan(a.floats[i]) && std::isnan(b.floats[i]));
}

/// The cells of `validateReads` that the op's role in loops promises; nullopt:
/// it promises none.
static std::optional<int64_t> cellsOf(Operation *op) {
  int64_t elements =
      cast<ShapedType>(op->getResult(0).getType()).getNumElements();
  switch (loopRoleOf(op)) {
  case LoopRole::Pointwise:
  case LoopRole::View:
    return elements;
  case LoopRole::RowReduction:
    return rowCountOf(op);
  default:
    return std::nullopt;
  }
}

/// The first result element outside of `cell` that changing an operand changed.
static std::optional<int64_t> changedOutside(const Tensor &before,
                                             const Tensor &after, int64_t cell,
                                             int64_t cells) {
  for (int64_t i = 0, e = before.size(); i < e; ++i)
    if (i * cells / e != cell && !sameElement(before, after, i))
      return i;
  return std::nullopt;
}

LogicalResult validateReads(Operation *op, ArrayRef<const Tensor *> operands,
                            int64_t cells) {
  FailureOr<Tensor> before = evaluate(op, operands);
  if (failed(before))
    return failure();
  for (size_t number = 0; number < operands.size(); ++number) {
    int64_t size = operands[number]->size(),
            step = std::max<int64_t>(1, size / kMostProbes);
    for (int64_t position = 0; position < size; position += step) {
      Tensor changed = *operands[number];
      changed.setGarbage(position);
      SmallVector<const Tensor *> with(operands);
      with[number] = &changed;
      FailureOr<Tensor> after = evaluate(op, with);
      if (failed(after))
        return failure();
      if (auto other =
              changedOutside(*before, *after, position * cells / size, cells))
        return op->emitError()
               << "kernels take it that element " << *other
               << " of the result does not read element " << position
               << " of operand " << number << ", but it does";
    }
  }
  return success();
}

LogicalResult validateRole(Operation *op, ArrayRef<const Tensor *> operands) {
  std::optional<int64_t> cells = cellsOf(op);
  return cells && *cells > 0 ? validateReads(op, operands, *cells) : success();
}

} // namespace autopar::interpreter
