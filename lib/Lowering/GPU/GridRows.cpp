//===- GridRows.cpp - Rows that the threads of a block work on ------------===//
//
// Running sums: the row goes to shared memory; each thread sums a segment, then
// once more with what comes before it. Best elements: one by one, each the best
// of those after the last.
//
//===----------------------------------------------------------------------===//

#include "GridEmitter.h"

using namespace mlir;

namespace autopar::gpu {

/// Shared memory for one op's rows.
static constexpr int64_t kMostRowBytes = 32 << 10;

static SmallVector<Index> with(ArrayRef<Index> at, int64_t dim, Index index) {
  SmallVector<Index> result(at);
  result[dim] = index;
  return result;
}

static SmallVector<Index> without(ArrayRef<Index> at, int64_t dim) {
  SmallVector<Index> result(at);
  result.erase(result.begin() + dim);
  return result;
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

static Value combineFor(GridEmitter &emit, ScanOp op, Value a, Value b) {
  return combineElements(emit, op.getKind(), a, b,
                         loops::isNatural(op.getType()));
}

/// Folds this thread's segment of the row from `start`; `writes`: leaves the
/// running value in its place.
Value GridEmitter::scanSegment(ScanOp op, Value row, Value start, bool writes,
                               unsigned depth) {
  int64_t size = op.getType().getDimSize(op.getDim());
  int64_t each = llvm::divideCeil(size, group.lanes);
  Type element = start.getType();
  Value first = mulInt(group.lane, each);
  Value base = mulInt(rowNumber(), size), array = pin(row, depth);
  return foldRange(constantInt(each), depth, start,
                   [&](Index step, Value before) {
                     Value at = addInt(first, step.value);
                     Value alive = make<arith::CmpIOp>(
                         arith::CmpIPredicate::slt, at, constantInt(size));
                     at = make<arith::MinSIOp>(at, constantInt(size - 1));
                     if (op.getReverse())
                       at = make<arith::SubIOp>(constantInt(size - 1), at);
                     Value place = addInt(base, at);
                     Value x = load(array, element, {place});
                     Value next = make<arith::SelectOp>(
                         alive, combineFor(*this, op, before, x), before);
                     if (writes)
                       storeShared(op.getExclusive() ? before : next, array,
                                   element, place, alive, this->depth(next));
                     return next;
                   });
}

/// What the lanes before this one have, joined.
Value GridEmitter::prefixOfLanes(ScanOp op, Value total, Value neutral) {
  unsigned at = depth(total);
  Type type = total.getType();
  Value array = sharedArray(loops::storageType(type), group.lanes * group.rows);
  Value base = mulInt(rowNumber(), group.lanes);
  storeShared(total, array, type, addInt(base, group.lane), nullptr, at);
  barrier(at);
  Value totals = pin(array, at);
  return foldRange(group.lane, at, neutral, [&](Index lane, Value before) {
    Value theirs = load(totals, type, {addInt(base, lane.value)});
    return combineFor(*this, op, before, theirs);
  });
}

/// The row of results through `at`, in shared memory.
Value GridEmitter::scanRow(ScanOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim(), size = op.getType().getDimSize(dim);
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
    Value x = this->element(op.getInput(), with(at, dim, i));
    Value place = addInt(base, value(i));
    storeShared(x, row, element, place, alive,
                std::max(this->depth(x), this->depth(place)));
    return {};
  });
  barrier(depth);
  Value total = scanSegment(op, row, neutral, /*writes=*/false, depth);
  Value before = prefixOfLanes(op, total, neutral);
  scanSegment(op, row, before, /*writes=*/true, depth);
  barrier(depth);
  return remembered(what) = pin(row, depth);
}

Value GridEmitter::scanElement(ScanOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim(), size = op.getType().getDimSize(dim);
  SmallVector<Index> fixed = without(at, dim);
  findings.foldsFound.push_back({digitsOf(fixed), size, true, false});
  Type element = loops::computeType(getElementTypeOrSelf(op.getType()));
  int64_t bytes =
      size * group.rows * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  if (!sharesRows() || bytes > kMostRowBytes || varies(fixed))
    return LoopEmitter::scanElement(op, at);
  Value row = scanRow(op, at);
  Value place = addInt(mulInt(rowNumber(), size), value(at[dim]));
  return load(row, element, {place});
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

/// Whether element (x, i) comes before (y, j).
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

/// The positions of the best of the row through `at`, in shared memory.
Value GridEmitter::bestRow(TopKOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim();
  int64_t count = op.getResult().getType().getDimSize(dim);
  SmallVector<Index> fixed = without(at, dim);
  Key what = key(op.getOperation(), fixed);
  if (Value known = remembered(what))
    return known;
  unsigned depth = this->depth(fixed);
  Type i64 = builder.getI64Type();
  Type type = loops::computeType(getElementTypeOrSelf(op.getInput().getType()));
  Value row = sharedArray(i64, count * group.rows);
  if (depth > 0)
    barrier(depth);
  Value base = mulInt(rowNumber(), count), zero = constantInt(0);
  Value writes =
      make<arith::CmpIOp>(arith::CmpIPredicate::eq, group.lane, zero);
  Values start{constant(type, 0), constantInt(-1)};
  foldRange(constantInt(count), depth, ValueRange(start),
            [&](Index number, ValueRange last) {
              Value isFirst = make<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                                  number.value, zero);
              Values next = bestAfter(op, at, last, isFirst, true);
              storeShared(next[1], row, i64, addInt(base, number.value), writes,
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
  if (sharesRows() && count * group.rows * 8 <= kMostRowBytes &&
      !varies(fixed)) {
    Value place = addInt(mulInt(rowNumber(), count), value(at[dim]));
    return load(bestRow(op, at), builder.getI64Type(), {place});
  }
  Type type = loops::computeType(getElementTypeOrSelf(op.getInput().getType()));
  Value wanted = addInt(value(at[dim]), constantInt(1));
  unsigned depth = std::max(this->depth(wanted), this->depth(fixed));
  Values start{constant(type, 0), constantInt(-1)};
  auto next = [&](Index number, ValueRange last) {
    Value isFirst = make<arith::CmpIOp>(arith::CmpIPredicate::eq, number.value,
                                        constantInt(0));
    return bestAfter(op, at, last, isFirst, /*together=*/false);
  };
  return foldRange(wanted, depth, ValueRange(start), next)[1];
}

} // namespace autopar::gpu
