//===- ScatterRows.cpp - Rows that updates are reduced into ---------------===//
//
//   for r: for c: acc = none                 block[0 .. C) = none
//          for i: if index[i] == r:     =>   for i: for c of row index[i] that
//                   acc += u[i, c]               is in the block:
//          use acc                                 block[at] += u[i, c]
//                                            for at: use block[at]
//
// Each index is looked at once for a block of the result, and a row is reduced
// in the order of the indices.
//
//===----------------------------------------------------------------------===//

#include "StackEmitter.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar::cpu {

using namespace loops;

/// The points of the indices that mean a row are found once per row.
Value StackEmitter::scatterList(ScatterOp op, ArrayRef<Index> at) {
  LoopEmitter &emit = *this;
  ArrayRef<int64_t> shape = op.getPointShape();
  int64_t size = llvm::product_of(shape);
  if (size > kMaxStackRow || size == 0)
    return LoopEmitter::scatterElement(op, at);
  Index number = at[op.getDim()];
  SmallVector<Index> row = indexAt(op, at, number); // of its batch
  Type i64 = emit.builder.getI64Type();
  Value &count = emit.remembered(emit.key(op, row));
  Value &list =
      emit.remembered(emit.key(op.getResult().getAsOpaquePointer(), row));
  if (!count) {
    Value buffer = emit.stackBuffer(i64, size);
    auto body = [&](ArrayRef<Index> i, Value found) {
      emit.store(emit.value(i[0]), buffer, i64, {found});
      Value hit = hitsRow(
          emit, op, indexAt(op, at, emit.delinearize(i[0], shape)), number);
      return emit.addInt(found, emit.make<arith::ExtUIOp>(i64, hit));
    };
    count = emit.fold({size}, row, emit.constantInt(0), body, nullptr);
    list = emit.pin(buffer, emit.depth(count));
  }
  Value numbers = list;
  bool natural = isNatural(op.getUpdates().getType());
  return emit.foldRange(
      count, std::max(emit.depth(at), emit.depth(count)),
      neutralFor(emit, op.getKind(), op.getUpdates()), [&](Index i, Value acc) {
        Index point = {emit.load(numbers, i64, i)};
        Value x = updateAt(emit, op, emit.delinearize(point, shape), at);
        return combineElements(emit, op.getKind(), acc, x, natural);
      });
}

/// The flat index over the row dimension and those behind it.
static Index flatRow(StackEmitter &emit, ScatterOp op, ArrayRef<Index> at) {
  return emit.linearize(at.drop_front(op.getDim()),
                        shapeOf(op.getResult()).drop_front(op.getDim()));
}

/// Emits all elements of the innermost open loop at once, if that loop runs
/// over a contiguous part of the rows; otherwise null.
Value StackEmitter::scatterBlock(ScatterOp op, ArrayRef<Index> at) {
  auto open = dyn_cast_or_null<scf::ForOp>(scopes.back().loop);
  std::optional<int64_t> size =
      open ? getConstantIntValue(open.getUpperBound()) : std::nullopt;
  if (!size || *size > kMaxStackRow || open.getNumRegionIterArgs() != 0)
    return nullptr;
  Value column = open.getInductionVar();
  SmallVector<Index> first;
  for (const Index &index : at) {
    std::optional<Index> moved = moveColumn(index, column, constantInt(0));
    if (!moved)
      return nullptr;
    first.push_back(*moved);
  }
  Index row = flatRow(*this, op, at);
  unsigned outside = scopes.size() - 2;
  if (!spaces.contains(row.value) || row.divisor != 1 ||
      depth(ArrayRef(first)) > outside || depth(row) <= outside)
    return nullptr;
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  ArrayRef<int64_t> inner = shape.drop_front(op.getDim() + 1);
  int64_t width = llvm::product_of(inner);
  Value base = value(flatRow(*this, op, first));
  Value none = neutralFor(*this, op.getKind(), op.getUpdates());
  Type type = none.getType();
  Value block = stackBuffer(storageType(type), *size);
  loopAt(outside, constantInt(*size),
         [&](Index c) { store(none, block, type, c); });
  block = pin(block, outside);
  int64_t count = llvm::product_of(op.getPointShape());
  loopAt(outside, constantInt(count), [&](Index number) {
    SmallVector<Index> point = delinearize(number, op.getPointShape());
    Value row = rowOfIndex(*this, op, indexAt(op, first, point));
    // The columns [from, to) of the row are in the block.
    Value begin = make<arith::SubIOp>(mulInt(row, width), base);
    Value zero = constantInt(0);
    Value from = make<arith::MaxSIOp>(make<arith::SubIOp>(zero, begin), zero);
    Value to = make<arith::MinSIOp>(
        make<arith::SubIOp>(constantInt(*size), begin), constantInt(width));
    Value columns = make<arith::MaxSIOp>(make<arith::SubIOp>(to, from), zero);
    loopAt(outside + 1, columns, [&](Index step) {
      Index c = {addInt(from, step.value)};
      SmallVector<Index> element(at.take_front(op.getDim() + 1));
      llvm::append_range(element, delinearize(c, inner));
      Value x = updateAt(*this, op, point, element);
      Index place = {addInt(begin, c.value)};
      Value reduced =
          combineElements(*this, op.getKind(), load(block, type, place), x,
                          isNatural(op.getUpdates().getType()));
      store(reduced, block, type, place);
    });
  });
  return load(pin(block, outside), type, {column});
}

Value StackEmitter::scatterElement(ScatterOp op, ArrayRef<Index> at) {
  bool isSecond = findings.scatters.contains(op);
  if (isSecond)
    if (Value reduced = scatterBlock(op, at))
      return reduced;
  Index row = flatRow(*this, op, at);
  auto space = spaces.find(row.value);
  if (isSecond || space == spaces.end() || row.divisor != 1 ||
      elementsOf(op.getIndices()) == 0 || elementsOf(op.getResult()) == 0)
    return scatterList(op, at);
  ArrayRef<int64_t> shape = shapeOf(op.getResult());
  findings.scatters[op] = {llvm::product_of(shape.drop_front(op.getDim())),
                           llvm::product_of(shape.drop_front(op.getDim() + 1))};
  findings.foldsFound.push_back(
      {digitsOf(at), llvm::product_of(op.getPointShape()), false, true});
  findings.folds = true;
  return neutralFor(*this, op.getKind(), op.getUpdates());
}

} // namespace autopar::cpu
