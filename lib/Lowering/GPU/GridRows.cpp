//===- GridRows.cpp - Rows that the threads of a block work on ------------===//
//
// Running sums: the row goes to shared memory; each thread sums a segment, then
// once more with what comes before it. Best elements: one by one, each the best
// of those after the last. Of rows that are too long for shared memory every
// few elements one is kept there, from which the next few are found again.
//
//===----------------------------------------------------------------------===//

#include "GridEmitter.h"

using namespace mlir;

namespace autopar::gpu {

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

static Value combineFor(GridEmitter &emit, ScanOp op, Value a, Value b) {
  return combineElements(emit, op.getKind(), a, b,
                         loops::isNatural(op.getType()));
}

/// Elements of a row of `size` from one that is kept in shared memory to the
/// next: an op's rows take half of what is left.
int64_t GridEmitter::strideOfKept(Operation *op, int64_t size, int64_t bytes) {
  int64_t &stride = strides[op];
  if (stride == 0)
    stride =
        llvm::divideCeil(size * group.rows * bytes,
                         std::max<int64_t>(1, (kMostSharedBytes - shared) / 2));
  return stride;
}

/// Joins to `start` the elements of the row through `at` after the first
/// `before` ones, in the op's direction, at most `count` of them.
Value GridEmitter::scanFrom(ScanOp op, ArrayRef<Index> at, Value start,
                            Value before, Value count) {
  int64_t dim = op.getDim(), size = op.getType().getDimSize(dim);
  unsigned depth = this->depth(without(at, dim));
  for (Value value : {start, before, count})
    depth = std::max(depth, this->depth(value));
  return foldRange(count, depth, start, [&](Index step, Value sum) {
    Value place = addInt(before, step.value);
    Value alive = make<arith::CmpIOp>(arith::CmpIPredicate::slt, place,
                                      constantInt(size));
    place = make<arith::MinSIOp>(place, constantInt(size - 1));
    if (op.getReverse())
      place = make<arith::SubIOp>(constantInt(size - 1), place);
    Value x = element(op.getInput(), with(at, dim, {place}));
    return make<arith::SelectOp>(alive, combineFor(*this, op, sum, x), sum);
  });
}

/// Folds this thread's segment of `row` from `start`; `writes`: leaves the
/// running value in its place.
Value GridEmitter::scanSegment(ScanOp op, Value row, int64_t stride,
                               Value start, bool writes, unsigned depth) {
  int64_t size = llvm::divideCeil(op.getType().getDimSize(op.getDim()), stride);
  bool reverse = stride == 1 && op.getReverse();
  bool exclusive = stride > 1 || op.getExclusive();
  int64_t each = llvm::divideCeil(size, group.lanes);
  Type element = start.getType();
  Value first = mulInt(group.lane, each);
  Value left = make<arith::SubIOp>(constantInt(size), first);
  left = make<arith::MaxSIOp>(left, constantInt(0));
  Value count = make<arith::MinSIOp>(left, constantInt(each));
  Value base = mulInt(rowNumber(), size), array = pin(row, depth);
  return foldRange(count, depth, start, [&](Index step, Value before) {
    Value at = addInt(first, step.value);
    if (reverse)
      at = make<arith::SubIOp>(constantInt(size - 1), at);
    Value place = addInt(base, at);
    Value x = load(array, element, {place});
    Value next = combineFor(*this, op, before, x);
    if (writes)
      storeShared(exclusive ? before : next, array, element, place, nullptr,
                  this->depth(next));
    return next;
  });
}

/// Joins the totals of the lanes before this one, in turns of which each joins
/// those of twice as many lanes.
Value GridEmitter::prefixOfLanes(ScanOp op, Value total, Value neutral) {
  unsigned at = depth(total);
  Type type = total.getType();
  Value array = sharedArray(loops::storageType(type), group.threads());
  Value base = mulInt(rowNumber(), group.lanes);
  Value place = addInt(base, group.lane);
  auto exchange = [&](Value mine, int64_t distance) {
    storeShared(mine, array, type, place, nullptr, at);
    barrier(at);
    Value other = addInt(group.lane, constantInt(-distance));
    Value isThere =
        make<arith::CmpIOp>(arith::CmpIPredicate::sge, other, constantInt(0));
    other = make<arith::MaxSIOp>(other, constantInt(0));
    Value theirs = load(pin(array, at), type, {addInt(base, other)});
    barrier(at);
    return make<arith::SelectOp>(isThere, theirs, neutral);
  };
  Value before = exchange(total, 1);
  for (int64_t distance = 1; distance < group.lanes - 1; distance *= 2)
    before = combineFor(*this, op, exchange(before, distance), before);
  return before;
}

/// The row of results through `at`, in shared memory; `stride` > 1: what comes
/// before every so many elements, in the op's direction.
Value GridEmitter::scanRow(ScanOp op, ArrayRef<Index> at, int64_t stride) {
  int64_t dim = op.getDim();
  int64_t size = llvm::divideCeil(op.getType().getDimSize(dim), stride);
  SmallVector<Index> fixed = without(at, dim);
  Key what = key(op.getOperation(), fixed);
  if (Value known = remembered(what))
    return known;
  unsigned depth = this->depth(fixed);
  Value neutral = loops::neutralFor(*this, op.getKind(), op.getInput());
  Type element = neutral.getType();
  Value row = sharedArray(loops::storageType(element), size * group.rows);
  if (depth > 0)
    barrier(depth);
  Value base = mulInt(rowNumber(), size);
  forElements(size, depth, {}, [&](Index i, ValueRange, Value alive) -> Values {
    Value number = value(i), place = addInt(base, number);
    Value x = stride == 1 ? this->element(op.getInput(), with(at, dim, i))
                          : scanFrom(op, at, neutral, mulInt(number, stride),
                                     constantInt(stride));
    storeShared(x, row, element, place, alive,
                std::max(this->depth(x), this->depth(place)));
    return {};
  });
  barrier(depth);
  Value total = scanSegment(op, row, stride, neutral, /*writes=*/false, depth);
  Value before = prefixOfLanes(op, total, neutral);
  scanSegment(op, row, stride, before, /*writes=*/true, depth);
  barrier(depth);
  return remembered(what) = pin(row, depth);
}

Value GridEmitter::scanElement(ScanOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim(), size = op.getType().getDimSize(dim);
  SmallVector<Index> fixed = without(at, dim);
  findings.foldsFound.push_back({digitsOf(fixed), size, true, false});
  if (!sharesRows() || varies(fixed))
    return LoopEmitter::scanElement(op, at);
  Type element = loops::computeType(getElementTypeOrSelf(op.getType()));
  int64_t bytes = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  int64_t stride = strideOfKept(op, size, bytes);
  int64_t inRow = llvm::divideCeil(size, stride);
  Value row = scanRow(op, at, stride), here = value(at[dim]);
  if (stride > 1 && op.getReverse())
    here = make<arith::SubIOp>(constantInt(size - 1), here);
  Value number =
      stride == 1 ? here : make<arith::DivUIOp>(here, constantInt(stride));
  Value kept = load(row, element, {addInt(mulInt(rowNumber(), inRow), number)});
  if (stride == 1)
    return kept;
  Value first = mulInt(number, stride);
  Value after = make<arith::SubIOp>(here, first);
  if (!op.getExclusive())
    after = addInt(after, constantInt(1));
  return scanFrom(op, at, kept, first, after);
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

/// Returns whether element (x, i) comes before (y, j).
static Value comesBefore(GridEmitter &emit, TopKOp op, Value x, Value i,
                         Value y, Value j) {
  Value better = isBetter(emit, op, x, y), worse = isBetter(emit, op, y, x);
  Value yes = emit.make<arith::ConstantOp>(emit.builder.getBoolAttr(true));
  Value equal = emit.make<arith::XOrIOp>(worse, yes);
  Value earlier = emit.make<arith::CmpIOp>(arith::CmpIPredicate::slt, i, j);
  return emit.make<arith::OrIOp>(better,
                                 emit.make<arith::AndIOp>(equal, earlier));
}

/// The better of two (element, position); position -1: there is none.
static LoopEmitter::Values betterOf(GridEmitter &emit, TopKOp op, ValueRange a,
                                    ValueRange b) {
  using P = arith::CmpIPredicate;
  Value zero = emit.constantInt(0);
  Value none = emit.make<arith::CmpIOp>(P::slt, a[1], zero);
  Value some = emit.make<arith::CmpIOp>(P::sge, b[1], zero);
  Value better = comesBefore(emit, op, b[0], b[1], a[0], a[1]);
  Value take =
      emit.make<arith::AndIOp>(some, emit.make<arith::OrIOp>(none, better));
  return {emit.make<arith::SelectOp>(take, b[0], a[0]),
          emit.make<arith::SelectOp>(take, b[1], a[1])};
}

/// The best (element, position) of the row after `last`; of all if `isFirst`.
LoopEmitter::Values GridEmitter::bestAfter(TopKOp op, ArrayRef<Index> at,
                                           ValueRange last, Value isFirst,
                                           bool together) {
  int64_t dim = op.getDim(), size = op.getInput().getType().getDimSize(dim);
  Value none = constantInt(-1);
  auto consider = [&](Index i, ValueRange best, Value alive) -> Values {
    Value x = element(op.getInput(), with(at, dim, i)), position = value(i);
    Value enters = make<arith::OrIOp>(
        isFirst, comesBefore(*this, op, last[0], last[1], x, position));
    if (alive)
      enters = make<arith::AndIOp>(enters, alive);
    Value candidate = make<arith::SelectOp>(enters, position, none);
    return betterOf(*this, op, best, {x, candidate});
  };
  unsigned depth = std::max(this->depth(last[0]), this->depth(isFirst));
  depth = std::max(depth, this->depth(without(at, dim)));
  Values start{constant(last[0].getType(), 0), none};
  if (!together)
    return foldRange(
        constantInt(size), depth, ValueRange(start),
        [&](Index i, ValueRange best) { return consider(i, best, nullptr); });
  Values mine = forElements(size, depth, start, consider);
  return joinRow(mine, [&](ValueRange a, ValueRange b) {
    return betterOf(*this, op, a, b);
  });
}

/// The positions of the best of the row through `at`, of every `stride`th, in
/// shared memory.
Value GridEmitter::bestRow(TopKOp op, ArrayRef<Index> at, int64_t stride) {
  int64_t dim = op.getDim();
  int64_t count = op.getResult().getType().getDimSize(dim);
  int64_t kept = llvm::divideCeil(count, stride);
  SmallVector<Index> fixed = without(at, dim);
  Key what = key(op.getOperation(), fixed);
  if (Value known = remembered(what))
    return known;
  unsigned depth = this->depth(fixed);
  Type i64 = builder.getI64Type();
  Type type = loops::computeType(getElementTypeOrSelf(op.getInput().getType()));
  Value row = sharedArray(i64, kept * group.rows);
  if (depth > 0)
    barrier(depth);
  Value base = mulInt(rowNumber(), kept), zero = constantInt(0);
  auto isZero = [&](Value value) {
    return make<arith::CmpIOp>(arith::CmpIPredicate::eq, value, zero);
  };
  Value isFirstLane = isZero(group.lane);
  Values start{constant(type, 0), constantInt(-1)};
  foldRange(constantInt(count), depth, ValueRange(start),
            [&](Index number, ValueRange last) {
              Values next = bestAfter(op, at, last, isZero(number.value), true);
              Value place = number.value, writes = isFirstLane;
              if (stride > 1) {
                Value every = constantInt(stride);
                Value after = make<arith::RemUIOp>(number.value, every);
                writes = make<arith::AndIOp>(isFirstLane, isZero(after));
                place = make<arith::DivUIOp>(number.value, every);
              }
              storeShared(next[1], row, i64, addInt(base, place), writes,
                          this->depth(next[1]));
              return next;
            });
  barrier(depth);
  return remembered(what) = pin(row, depth);
}

Value GridEmitter::topKElement(TopKOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim(), size = op.getInput().getType().getDimSize(dim);
  int64_t count = op.getResult().getType().getDimSize(dim);
  SmallVector<Index> fixed = without(at, dim);
  findings.foldsFound.push_back({digitsOf(fixed), size, true, false});
  Type type = loops::computeType(getElementTypeOrSelf(op.getInput().getType()));
  Value here = value(at[dim]), none = constantInt(-1), more;
  Values start{constant(type, 0), none};
  if (sharesRows() && !varies(fixed)) {
    int64_t stride = strideOfKept(op, count, /*bytes=*/8);
    Value row = bestRow(op, at, stride), number = here;
    if (stride > 1)
      number = make<arith::DivUIOp>(here, constantInt(stride));
    int64_t kept = llvm::divideCeil(count, stride);
    Value place = addInt(mulInt(rowNumber(), kept), number);
    Value position = load(row, builder.getI64Type(), {place});
    if (stride == 1)
      return position;
    start = {element(op.getInput(), with(at, dim, {position})), position};
    more = make<arith::RemUIOp>(here, constantInt(stride));
  } else {
    more = addInt(here, constantInt(1));
  }
  unsigned depth = std::max(this->depth(more), this->depth(fixed));
  depth = std::max(depth, this->depth(start[0]));
  auto next = [&](Index, ValueRange last) {
    Value isFirst =
        make<arith::CmpIOp>(arith::CmpIPredicate::slt, last[1], constantInt(0));
    return bestAfter(op, at, last, isFirst, /*together=*/false);
  };
  return foldRange(more, depth, ValueRange(start), next)[1];
}

} // namespace autopar::gpu
