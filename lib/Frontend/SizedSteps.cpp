//===- SizedSteps.cpp - A model imported at several sizes -----------------===//

#include "SizedSteps.h"
#include "autopar/Support/Names.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

LogicalResult SizedSteps::refuse(Operation *op, const Twine &why) const {
  return op->emitError() << "node '" << nodeName(op->getLoc()) << "' ("
                         << op->getName() << ") cannot follow the size '"
                         << growing.symbol
                         << "' that grows by the step: " << why;
}

LogicalResult SizedSteps::differ(Operation *op) const {
  std::string node;
  if (!isa<func::FuncOp>(op))
    node = "node '" + nodeName(op->getLoc()).str() + "': ";
  return op->emitError() << node << "the graph is another one where '"
                         << growing.symbol << "', which grows by the step, is "
                         << sizes[0] << ", " << sizes[1] << " and " << sizes[2]
                         << "; try another size";
}

std::optional<double> SizedSteps::slope(const Sample<double> &values) const {
  double slope = (values[0] - values[1]) / double(sizes[0] - sizes[1]);
  bool isAffine = values[0] - values[2] == slope * double(sizes[0] - sizes[2]);
  return isAffine ? std::optional(slope) : std::nullopt;
}

LogicalResult SizedSteps::noteGrowth(Value value, const Sample<Type> &all,
                                     Location loc) {
  Sample<RankedTensorType> types;
  for (unsigned i = 0; i < 3; ++i)
    types[i] = cast<RankedTensorType>(all[i]);
  auto wrong = [&](const Twine &what) {
    return emitError(loc) << "node '" << nodeName(loc) << "': " << what
                          << " where '" << growing.symbol << "' is " << sizes[0]
                          << ", " << sizes[1] << ", " << sizes[2]
                          << "; a size that grows by the step may be that one, "
                             "or it and a constant";
  };
  for (RankedTensorType type : types)
    if (type.getRank() != types[0].getRank() ||
        type.getElementType() != types[0].getElementType())
      return wrong("what it makes is of other types");
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < types[0].getRank(); ++dim) {
    Sample<int64_t> size;
    for (unsigned i = 0; i < 3; ++i)
      size[i] = types[i].getDimSize(dim);
    if (size[0] == size[1] && size[0] == size[2])
      continue;
    if (size[0] - size[1] != sizes[0] - sizes[1] ||
        size[0] - size[2] != sizes[0] - sizes[2])
      return wrong("dimension " + Twine(dim) + " of what it makes is " +
                   Twine(size[0]) + ", " + Twine(size[1]) + ", " +
                   Twine(size[2]));
    dims.push_back(dim);
  }
  if (!dims.empty())
    grown[value] = dims;
  return success();
}

void SizedSteps::copyGrowth(Value from, Value to) {
  SmallVector<int64_t> dims = growth(from);
  if (!dims.empty())
    grown[to] = dims;
}

void SizedSteps::need(int64_t rows, Operation *op) {
  if (rows > least.rows)
    least = {rows, nodeName(op->getLoc()).str()};
}

void SizedSteps::noteNeed(const Sample<Operation *> &ops) {
  for (Value result : ops[0]->getResults())
    for (int64_t dim : growth(result))
      need(sizes[0] - cast<ShapedType>(result.getType()).getDimSize(dim),
           ops[0]);
  auto op = dyn_cast<SliceOp>(ops[0]);
  for (int64_t dim = 0; op && dim < op.getInput().getType().getRank(); ++dim) {
    int64_t start = op.getStarts()[dim];
    int64_t last = start + (op.getResult().getType().getDimSize(dim) - 1) *
                               op.getSteps()[dim];
    int64_t slope = start - cast<SliceOp>(ops[1]).getStarts()[dim];
    if (slope > 0)
      need(sizes[0] - std::min(start, last) / slope, op);
    else if (grows(op.getInput(), dim) && !grows(op.getResult(), dim))
      need(sizes[0] + std::max(start, last) + 1 -
               op.getInput().getType().getDimSize(dim),
           op);
  }
}

LogicalResult SizedSteps::alignArguments() {
  for (unsigned i = 1; i < 3; ++i)
    if (steps[i].getNumArguments() != step().getNumArguments())
      return differ(step());
  for (unsigned n = 0; n < step().getNumArguments(); ++n) {
    Sample<Type> types;
    for (unsigned i = 0; i < 3; ++i) {
      types[i] = steps[i].getArgumentTypes()[n];
      if (steps[i].getArgAttr(n, AutoparDialect::kSource) !=
          step().getArgAttr(n, AutoparDialect::kSource))
        return differ(step());
    }
    BlockArgument argument = step().getArgument(n);
    if (failed(noteGrowth(argument, types, argument.getLoc())))
      return failure();
  }
  return success();
}

LogicalResult SizedSteps::align() {
  if (failed(alignArguments()))
    return failure();
  Sample<SmallVector<Operation *>> ops;
  Sample<DenseMap<Value, unsigned>> numbers;
  for (unsigned i = 0; i < 3; ++i) {
    for (Operation &op : steps[i].getBody().front())
      if (!isa<ConstantOp>(op))
        ops[i].push_back(&op);
    for (BlockArgument argument : steps[i].getArguments())
      numbers[i].try_emplace(argument, argument.getArgNumber());
    if (ops[i].size() != ops[0].size())
      return differ(step());
  }
  auto operandNumbers = [&](unsigned i, Operation *op) {
    return llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return operand.getDefiningOp<ConstantOp>() ? ~0u
                                                 : numbers[i].lookup(operand);
    });
  };
  for (unsigned n = 0; n < ops[0].size(); ++n) {
    Sample<Operation *> op{ops[0][n], ops[1][n], ops[2][n]};
    for (unsigned i = 1; i < 3; ++i)
      if (op[i]->getName() != op[0]->getName() ||
          op[i]->getNumResults() != op[0]->getNumResults() ||
          operandNumbers(i, op[i]) != operandNumbers(0, op[0]))
        return differ(op[0]);
    for (unsigned r = 0; r < op[0]->getNumResults(); ++r) {
      Sample<Type> types;
      for (unsigned i = 0; i < 3; ++i) {
        numbers[i].try_emplace(op[i]->getResult(r), numbers[i].size());
        types[i] = op[i]->getResult(r).getType();
      }
      if (failed(noteGrowth(op[0]->getResult(r), types, op[0]->getLoc())))
        return failure();
    }
    noteNeed(op);
    aligned.push_back(op);
  }
  return success();
}

} // namespace autopar
