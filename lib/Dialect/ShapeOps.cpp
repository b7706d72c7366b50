//===- ShapeOps.cpp - Ops that move elements and compute nothing ----------===//

#include "OpHelpers.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = getType().getShape();
  if (failed(verifyCount(*this, getDims(), from.size(), "dims")) ||
      failed(verifyIncreasing(*this, getDims(), to.size())))
    return failure();
  if (elementOf(getInput()) != elementOf(getResult()))
    return emitOpError("must keep the element type");
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (from[index] != 1 && from[index] != to[dim])
      return emitOpError() << "cannot stretch dimension " << index
                           << " of size " << from[index] << " to " << to[dim];
  return success();
}

ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    rule.results[0][dim] = rule.addFactor(size);
  for (auto [index, dim] : llvm::enumerate(getDims()))
    if (shapeOf(getInput())[index] == getType().getDimSize(dim))
      rule.operands[0][index] = rule.results[0][dim];
  addMovementPasses(rule, {0}, elementOf(getResult()));
  return rule;
}

KernelClass BroadcastOp::getKernelClass() { return KernelClass::Movement; }

LoopRole BroadcastOp::getLoopRole() { return LoopRole::Spread; }

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (elementOf(getInput()) != elementOf(getResult()))
    return emitOpError("must keep the element type");
  if (getInput().getType().getNumElements() != getType().getNumElements())
    return emitOpError() << "must keep the number of elements, "
                         << getInput().getType().getNumElements();
  return success();
}

namespace {
/// A side of a reshape while both sides are walked from the major dimension on.
struct ReshapeSide {
  ArrayRef<int64_t> shape;
  TensorFactors &dims;
  size_t dim = 0;        // the present dimension
  int64_t rest = 1;      // what is left of it
  size_t groupBegin = 0; // first dimension since both sides last met

  /// Moves on to the next dimension of size above one; false at the end.
  bool advance() {
    while (rest == 1 && dim < shape.size()) {
      rest = shape[dim];
      if (rest == 1)
        ++dim;
    }
    return rest != 1;
  }
  void take(unsigned factor, int64_t size) {
    dims[dim].factors.push_back(factor);
    rest /= size;
    if (rest == 1)
      ++dim;
  }
  void dropGroup() {
    for (size_t i = groupBegin; i < std::min(dim + 1, shape.size()); ++i)
      dims[i].factors.clear();
  }
};
} // namespace

/// No common refinement from here: the dimensions up to where both sides meet
/// again stay whole. Returns with both sides at that border.
static void skipGroup(ReshapeSide &from, ReshapeSide &to) {
  int64_t left = from.rest, right = to.rest;
  while (left != right) {
    ReshapeSide &behind = left < right ? from : to;
    int64_t &product = left < right ? left : right;
    product *= behind.shape[++behind.dim];
  }
  for (ReshapeSide *side : {&from, &to}) {
    side->dropGroup();
    side->rest = 1;
    ++side->dim;
  }
}

ShardingRule ReshapeOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  addMovementPasses(rule, {0}, elementOf(getResult()));
  if (getType().getNumElements() == 0)
    return rule;
  ReshapeSide from{shapeOf(getInput()), rule.operands[0]};
  ReshapeSide to{getType().getShape(), rule.results[0]};
  size_t groupFactors = 0; // factors before the present group
  while (true) {
    if (from.rest == 1 && to.rest == 1) {
      from.groupBegin = from.dim;
      to.groupBegin = to.dim;
      groupFactors = rule.factors.size();
    }
    if (!from.advance() || !to.advance())
      return rule;
    int64_t size = std::min(from.rest, to.rest);
    if (from.rest % size != 0 || to.rest % size != 0) {
      skipGroup(from, to);
      rule.factors.truncate(groupFactors);
      continue;
    }
    unsigned factor = rule.addFactor(size);
    from.take(factor, size);
    to.take(factor, size);
  }
}

KernelClass ReshapeOp::getKernelClass() { return KernelClass::View; }

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::verify() {
  size_t rank = shapeOf(getInput()).size();
  if (failed(verifyCount(*this, getPerm(), rank, "perm")))
    return failure();
  SmallVector<bool> seen(rank);
  SmallVector<int64_t> shape;
  for (int64_t dim : getPerm()) {
    if (failed(verifyDim(*this, dim, rank, "perm entry")))
      return failure();
    if (std::exchange(seen[dim], true))
      return emitOpError() << "perm names dimension " << dim << " twice";
    shape.push_back(shapeOf(getInput())[dim]);
  }
  return verifyResult(*this, shape, getInput());
}

ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  for (auto [to, from] : llvm::enumerate(getPerm()))
    addSharedFactor(rule, getType().getDimSize(to), 0, from, to);
  addMovementPasses(rule, {0}, elementOf(getResult()));
  return rule;
}

KernelClass TransposeOp::getKernelClass() { return KernelClass::Movement; }

/// Position of the last dimension that is not of size 1; -1 if there is none.
static int64_t innermost(ArrayRef<int64_t> shape) {
  for (int64_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1)
      return dim;
  return -1;
}

LoopRole TransposeOp::getLoopRole() {
  int64_t from = innermost(shapeOf(getInput())), to = innermost(shapeOf(*this));
  return from < 0 || getPerm()[to] == from ? LoopRole::Remap
                                           : LoopRole::Scatter;
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

std::optional<int64_t> SliceOp::cutDim() {
  std::optional<int64_t> cut;
  for (auto [dim, size] : llvm::enumerate(getType().getShape())) {
    if (getSteps()[dim] != 1)
      return std::nullopt;
    if (size == shapeOf(getInput())[dim])
      continue;
    if (cut)
      return std::nullopt;
    cut = dim;
  }
  return cut;
}

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput()), to = getType().getShape();
  if (failed(verifyCount(*this, getStarts(), from.size(), "starts")) ||
      failed(verifyCount(*this, getSteps(), from.size(), "steps")))
    return failure();
  if (to.size() != from.size() ||
      elementOf(getInput()) != elementOf(getResult()))
    return emitOpError("must keep rank and element type");
  for (auto [dim, size] : llvm::enumerate(to)) {
    int64_t start = getStarts()[dim], step = getSteps()[dim];
    if (step == 0)
      return emitOpError() << "step of dimension " << dim << " must not be 0";
    int64_t last = start + (size - 1) * step;
    if (size > 0 &&
        (std::min(start, last) < 0 || std::max(start, last) >= from[dim]))
      return emitOpError() << "reads indices " << start << " to " << last
                           << " of dimension " << dim << " of size "
                           << from[dim];
  }
  return success();
}

ShardingRule SliceOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    if (size == shapeOf(getInput())[dim] && getSteps()[dim] == 1)
      addSharedFactor(rule, size, 0, dim, dim);
  addMovementPasses(rule, {0}, elementOf(getResult()));
  return rule;
}

KernelClass SliceOp::getKernelClass() { return KernelClass::Movement; }

/// The slice is one piece of a row-major tensor if it takes one index of
/// leading dimensions, then any part of a dimension, then whole dimensions.
std::optional<int64_t> SliceOp::getReadRun() {
  ArrayRef<int64_t> whole = shapeOf(getInput()), part = shapeOf(getResult());
  if (llvm::any_of(getSteps(), [](int64_t step) { return step != 1; }))
    return std::nullopt;
  int64_t first = 0;
  bool began = false;
  for (auto [size, taken, start] : llvm::zip_equal(whole, part, getStarts())) {
    first = first * size + start;
    if (began && taken != size)
      return std::nullopt;
    began |= taken != 1;
  }
  return first;
}

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

LogicalResult PadOp::verify() {
  ArrayRef<int64_t> from = shapeOf(getInput());
  if (failed(verifyCount(*this, getLow(), from.size(), "low")) ||
      failed(verifyCount(*this, getHigh(), from.size(), "high")))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(from)) {
    if (getLow()[dim] < 0 || getHigh()[dim] < 0)
      return emitOpError("low and high must not be negative; use autopar.slice "
                         "to cut");
    shape.push_back(getLow()[dim] + size + getHigh()[dim]);
  }
  return verifyResult(*this, shape, getInput());
}

ShardingRule PadOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    if (getLow()[dim] == 0 && getHigh()[dim] == 0)
      addSharedFactor(rule, size, 0, dim, dim);
  if (getValue().isZero() && !elementOf(getResult()).isInteger(1))
    addPass(rule, {0}, ReduceKind::Sum);
  return rule;
}

KernelClass PadOp::getKernelClass() { return KernelClass::Movement; }

//===----------------------------------------------------------------------===//
// concat
//===----------------------------------------------------------------------===//

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("needs at least one operand");
  SmallVector<int64_t> shape(shapeOf(getInputs().front()));
  if (failed(verifyDim(*this, getDim(), shape.size())))
    return failure();
  for (Value input : getInputs().drop_front()) {
    ArrayRef<int64_t> other = shapeOf(input);
    bool same = other.size() == shape.size() &&
                elementOf(input) == elementOf(getInputs().front());
    for (size_t dim = 0; same && dim < shape.size(); ++dim)
      same = int64_t(dim) == int64_t(getDim()) || other[dim] == shape[dim];
    if (!same)
      return emitOpError() << "operands must agree in element type and in all "
                              "dimensions but "
                           << getDim();
    shape[getDim()] += other[getDim()];
  }
  return verifyResult(*this, shape, getInputs().front());
}

ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule = wholeRule(*this);
  for (auto [dim, size] : llvm::enumerate(getType().getShape())) {
    if (int64_t(dim) == int64_t(getDim()))
      continue;
    unsigned factor = rule.addFactor(size);
    rule.results[0][dim] = factor;
    for (TensorFactors &operand : rule.operands)
      operand[dim] = factor;
  }
  SmallVector<unsigned> operands =
      llvm::to_vector(llvm::seq<unsigned>(0, getInputs().size()));
  addMovementPasses(rule, operands, elementOf(getResult()));
  return rule;
}

KernelClass ConcatOp::getKernelClass() { return KernelClass::Movement; }

bool ConcatOp::joinsOperands() {
  return llvm::all_of(getType().getShape().take_front(getDim()),
                      [](int64_t size) { return size == 1; });
}

} // namespace autopar
