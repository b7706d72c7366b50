//===- ReplayKernels.cpp - What a kernel reads where it writes ------------===//
//
// A kernel's iterations run in any order and at the same time. Iteration i
// computes the i-th element in memory of each output, or, if rows are reduced,
// the i-th row, and reads before it writes. So an output may be stored over an
// input only if each iteration reads only those elements of the input that it
// writes itself, for all outputs.
//
//===----------------------------------------------------------------------===//

#include "ElementOrder.h"
#include "Replay.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {
namespace {

/// The elements of a value that are read for element k of an output; numbers
/// are row-major.
struct Reach {
  bool element = false; // number k
  bool row = false;     // some of the row of k
  bool any = false;     // others

  bool isEmpty() const { return !element && !row && !any; }
  void join(Reach other) {
    element |= other.element;
    row |= other.row;
    any |= other.any;
  }
};

/// Finds for each value of a kernel's body the elements that are read for an
/// element of an output.
class KernelReach {
public:
  explicit KernelReach(KernelOp kernel);

  /// The elements of input `input` that output `output` reads.
  Reach of(unsigned output, unsigned input) const;
  /// Rows that the body reduces; 1 where it reduces none.
  int64_t rows = 1;

private:
  Reach through(Operation *op, Reach reach) const;

  Block &body;
  bool mixed = false; // reductions over different rows
};
} // namespace

KernelReach::KernelReach(KernelOp kernel) : body(kernel.getBody().front()) {
  bool reduces = false;
  for (Operation &op : body) {
    if (loopRoleOf(&op) != LoopRole::RowReduction)
      continue;
    mixed |= reduces && rows != rowCountOf(&op);
    rows = rowCountOf(&op);
    reduces = true;
  }
}

/// Returns whether `spread` repeats each element for a run of neighbours:
/// dimensions of its operand are the leading ones of its result.
static bool repeatsRuns(Operation *spread) {
  auto from = cast<ShapedType>(spread->getOperand(0).getType());
  auto to = cast<ShapedType>(spread->getResult(0).getType());
  int64_t next = 0; // dimension of the result
  for (auto [size, dim] : llvm::zip(from.getShape(), spreadDimsOf(spread))) {
    if (size == 1)
      continue;
    while (next < dim && to.getDimSize(next) == 1)
      ++next;
    if (dim != next++)
      return false;
  }
  return true;
}

/// The elements of its operands that `op` reads if its result is read by
/// `reach`.
Reach KernelReach::through(Operation *op, Reach reach) const {
  LoopRole role = loopRoleOf(op);
  Reach row{false, true, reach.any}, any{false, false, true};
  if (mixed || reach.isEmpty())
    return reach.isEmpty() ? reach : any;
  switch (role) {
  case LoopRole::Pointwise:
  case LoopRole::View:
    return reach;
  case LoopRole::RowReduction:
    return row;
  case LoopRole::Spread: {
    int64_t read = elementsOf(op->getOperand(0));
    if (read == elementsOf(op->getResult(0)))
      return reach;
    return read == rows && repeatsRuns(op) ? row : any;
  }
  default:
    return any;
  }
}

Reach KernelReach::of(unsigned output, unsigned input) const {
  llvm::DenseMap<Value, Reach> reaches;
  reaches[body.getTerminator()->getOperand(output)] = {true, false, false};
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    Reach reach;
    for (Value result : op.getResults())
      reach.join(reaches.lookup(result));
    for (Value operand : op.getOperands())
      reaches[operand].join(through(&op, reach));
  }
  return reaches.lookup(body.getArgument(input));
}

static ElementOrder orderOf(Value buffer) {
  return *ElementOrder::of(cast<ShapedType>(buffer.getType()));
}

LogicalResult replayInPlace(KernelOp kernel, unsigned output, unsigned input) {
  Value written = kernel.getOutputs()[output], read = kernel.getInputs()[input];
  auto error = [&] {
    return kernel.emitError()
           << "writes result " << output << " over input " << input << ", ";
  };
  if (!(orderOf(written) == orderOf(read)))
    return error() << "whose elements are stored in another order: "
                   << written.getType() << " and " << read.getType();
  KernelReach reach(kernel);
  for (auto [reader, buffer] : llvm::enumerate(kernel.getOutputs())) {
    Reach how = reach.of(reader, input);
    if (how.any)
      return error() << "of which result " << reader
                     << " reads other elements than it writes";
    if (how.element && !(orderOf(buffer) == orderOf(read)))
      return error() << "which result " << reader
                     << " reads in another order of memory";
    bool apart = orderOf(buffer).keepsRows(reach.rows) &&
                 orderOf(read).keepsRows(reach.rows);
    if (how.row && (!apart || kernel.getOutputs().size() > 1))
      return error() << "of which result " << reader << " reads rows: they "
                     << "must be stored one after another, and be read for one "
                     << "result alone";
  }
  return success();
}

} // namespace autopar
