//===- StackRows.cpp - Rows that are computed as a whole ------------------===//
//
// A running sum or the best elements of a row cannot be had one by one: the row
// is computed once into a buffer on the stack, from which its elements are
// read.
//
//===----------------------------------------------------------------------===//

#include "StackEmitter.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar::cpu {

using namespace loops;

namespace {

SmallVector<Index> with(ArrayRef<Index> at, int64_t dim, Value index) {
  SmallVector<Index> result(at.begin(), at.end());
  result[dim] = {index};
  return result;
}

/// The row of `op` through `at`, which `fill` computes once: it returns a value
/// that is there when the row is done.
Value rowOf(LoopEmitter &emit, Operation *op, ArrayRef<Index> at, int64_t dim,
            Value buffer, function_ref<Value(ArrayRef<Index> fixed)> fill) {
  SmallVector<Index> fixed(at.begin(), at.end());
  fixed.erase(fixed.begin() + dim);
  Value &row = emit.remembered(emit.key(op, fixed));
  if (!row)
    row = emit.pin(buffer, emit.depth(fill(fixed)));
  return row;
}

} // namespace

Value StackEmitter::rowBuffer(Type element, int64_t size) {
  return size <= kMaxStackRow ? stackBuffer(element, size) : Value();
}

/// By a table of their addresses.
Value StackEmitter::elementOfMany(ValueRange tensors, Index which,
                                  ArrayRef<Index> at) {
  auto type = cast<RankedTensorType>(tensors.front().getType());
  for (Value tensor : tensors)
    if (!memory.contains(tensor) || tensor.getType() != type ||
        memory[tensor].layout != memory[tensors.front()].layout)
      return nullptr;
  Layout layout = memory[tensors.front()].layout;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Key what{this};
  for (Value tensor : tensors)
    what.push_back(tensor.getAsOpaquePointer());
  Value table = remembered(what);
  if (!table) {
    table = stackBuffer(pointer, tensors.size());
    for (auto [number, tensor] : llvm::enumerate(tensors))
      store(memory[tensor].pointer, table, pointer, constantIndex(number));
    table = remembered(what) = pin(table, 0);
  }
  auto places = inMemoryOrder(at, layout);
  auto shape = inMemoryOrder(type.getShape(), layout);
  noteRead(places, shape);
  return load(load(table, pointer, which), type.getElementType(),
              linearize(places, shape));
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

Value StackEmitter::scanElement(ScanOp op, ArrayRef<Index> at) {
  LoopEmitter &emit = *this;
  int64_t dim = op.getDim(), size = shapeOf(op.getInput())[dim];
  Type element = computeType(getElementTypeOrSelf(op.getType()));
  if (size > kMaxStackRow)
    return LoopEmitter::scanElement(op, at);
  bool natural = isNatural(op.getType());
  Value buffer = emit.stackBuffer(element, std::max<int64_t>(size, 1));
  auto fill = [&](ArrayRef<Index> fixed) {
    Value start = neutralFor(emit, op.getKind(), op.getInput());
    auto body = [&](ArrayRef<Index> i, Value acc) {
      Value where = i[0].value;
      if (op.getReverse())
        where = emit.make<arith::SubIOp>(emit.constantInt(size - 1), where);
      Value x = emit.element(op.getInput(), with(at, dim, where));
      Value next = combineElements(emit, op.getKind(), acc, x, natural);
      emit.store(op.getExclusive() ? acc : next, buffer, element, {where});
      return next;
    };
    return emit.fold({size}, fixed, start, body, nullptr);
  };
  Value row = rowOf(emit, op, at, dim, buffer, fill);
  return emit.load(row, element, at[dim]);
}

//===----------------------------------------------------------------------===//
// top_k
//===----------------------------------------------------------------------===//

namespace {

/// The best elements seen so far, best first, in two stack buffers. Place
/// `count` is for what is not wanted.
struct BestList {
  LoopEmitter &emit;
  Value values, positions;
  Type element;
  int64_t count;
  TopKOp op;

  Value getPosition(Value at) {
    return emit.load(positions, emit.builder.getI64Type(), {at});
  }
  void put(Value x, Value position, Value at) {
    emit.store(x, values, element, {at});
    emit.store(position, positions, emit.builder.getI64Type(), {at});
  }
  Value placeOf(Value x, Value number);
  void insert(Value x, Value number);
};

/// How many of the elements in the list stay before `x`, the element after
/// `number` others; `count` if it does not enter.
Value BestList::placeOf(Value x, Value number) {
  Value wanted = emit.constantInt(count);
  Value partial =
      emit.make<arith::CmpIOp>(arith::CmpIPredicate::slt, number, wanted);
  Value here = emit.pin(values, emit.depth(number));
  Value last = emit.load(here, element, emit.constantIndex(count - 1));
  Value enters = emit.make<arith::OrIOp>(partial, isBetter(emit, op, x, last));
  Value zero = emit.constantInt(0), one = emit.constantInt(1);
  Value filled = emit.make<arith::MinSIOp>(number, wanted);
  Value place = emit.foldRange(
      emit.make<arith::SelectOp>(enters, filled, zero), emit.depth(enters),
      zero, [&](Index at, Value before) {
        Value better = isBetter(emit, op, x, emit.load(values, element, at));
        return emit.make<arith::SelectOp>(
            better, before, emit.make<arith::AddIOp>(before, one));
      });
  return emit.make<arith::SelectOp>(enters, place, wanted);
}

void BestList::insert(Value x, Value number) {
  Value place = placeOf(x, number);
  Value end = emit.make<arith::MinSIOp>(number, emit.constantInt(count - 1));
  Value moved =
      emit.openLoop(emit.constantInt(0), emit.make<arith::SubIOp>(end, place));
  Value to = emit.make<arith::SubIOp>(end, moved);
  Value from = emit.make<arith::SubIOp>(to, emit.constantInt(1));
  put(emit.load(values, element, {from}), getPosition(from), to);
  emit.closeLoop();
  put(x, number, place);
}

} // namespace

Value StackEmitter::topKElement(TopKOp op, ArrayRef<Index> at) {
  LoopEmitter &emit = *this;
  int64_t dim = op.getDim(), count = shapeOf(op.getResult())[dim];
  Type element = getElementTypeOrSelf(op.getInput().getType());
  Type i64 = emit.builder.getI64Type();
  BestList list{emit,
                emit.stackBuffer(computeType(element), count + 1),
                emit.stackBuffer(i64, count + 1),
                computeType(element),
                count,
                op};
  auto fill = [&](ArrayRef<Index> fixed) {
    auto body = [&](ArrayRef<Index> i, Value done) {
      list.insert(emit.element(op.getInput(), with(at, dim, i[0].value)),
                  i[0].value);
      return done;
    };
    return emit.fold({shapeOf(op.getInput())[dim]}, fixed, emit.constantInt(0),
                     body, nullptr);
  };
  Value row = rowOf(emit, op, at, dim, list.positions, fill);
  return emit.load(row, i64, at[dim]);
}

} // namespace autopar::cpu
