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

/// A longer list of the best is the beginning of the sorted row.
constexpr int64_t kLongList = 64;

/// The row of `op` through `at`, which `fill` computes once: it returns a value
/// that is there when the row is done.
Value rowOf(LoopEmitter &emit, Operation *op, ArrayRef<Index> at, int64_t dim,
            Value buffer, function_ref<Value(ArrayRef<Index> fixed)> fill) {
  SmallVector<Index> fixed = without(at, dim);
  Value &row = emit.remembered(emit.key(op, fixed));
  if (!row)
    row = emit.pin(buffer, emit.depth(fill(fixed)));
  return row;
}

} // namespace

Value StackEmitter::rowBuffer(Type element, int64_t size) {
  return size <= kMaxStackRow ? stackBuffer(element, size) : Value();
}

/// Reads an element of many tensors by a table of their addresses.
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
      Value x = emit.element(op.getInput(), with(at, dim, {where}));
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

/// The number of elements of the list that stay before `x`, which comes after
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

/// Runs of 1, 2, 4, ... elements are merged in pairs, from one half of the
/// buffers into the other; of equal elements those of the first run are first.
Value StackEmitter::sortRow(TopKOp op, ArrayRef<Index> at, Value positions) {
  int64_t dim = op.getDim(), size = shapeOf(op.getInput())[dim];
  Type type = computeType(getElementTypeOrSelf(op.getInput().getType()));
  Type i64 = builder.getI64Type();
  SmallVector<Index> fixed = without(at, dim);
  unsigned outside = depth(fixed);
  findings.folds = true;
  findings.wholeFolds |= outside == 0;
  findings.foldsFound.push_back({digitsOf(fixed), size, false, false});
  Value values = stackBuffer(type, 2 * size);
  loopAt(outside, constantInt(size), [&](Index i) {
    store(element(op.getInput(), with(at, dim, {i.value})), values, type, i);
    store(i.value, positions, i64, i);
  });
  values = pin(values, outside);
  positions = pin(positions, outside);
  Value one = constantInt(1), all = constantInt(size);
  auto minimum = [&](Value a, Value b) { return make<arith::MinSIOp>(a, b); };
  auto merge = [&](Value from, Value to, Value start, Value width) {
    Value middle = minimum(addInt(start, width), all);
    Value end = minimum(addInt(middle, width), all);
    auto step = [&](Index number, ValueRange next) -> Values {
      Value left = next[0], right = next[1], last = constantInt(size - 1);
      auto read = [&](Value i) {
        return load(values, type, {addInt(from, minimum(i, last))});
      };
      Value a = read(left), b = read(right);
      using P = arith::CmpIPredicate;
      Value isOver = make<arith::CmpIOp>(P::sge, left, middle);
      Value wins = make<arith::OrIOp>(isOver, isBetter(*this, op, b, a));
      wins = make<arith::AndIOp>(wins, make<arith::CmpIOp>(P::slt, right, end));
      Value place = addInt(addInt(to, start), number.value);
      Value taken = make<arith::SelectOp>(wins, right, left);
      store(make<arith::SelectOp>(wins, b, a), values, type, {place});
      store(load(positions, i64, {addInt(from, taken)}), positions, i64,
            {place});
      Value moved = make<arith::ExtUIOp>(i64, wins);
      return {addInt(left, make<arith::SubIOp>(one, moved)),
              addInt(right, moved)};
    };
    foldRange(make<arith::SubIOp>(end, start), depth(start),
              ValueRange{start, middle}, step);
  };
  int64_t passes = llvm::Log2_64_Ceil(size);
  loopAt(outside, constantInt(passes), [&](Index pass) {
    Value width = make<arith::ShLIOp>(one, pass.value);
    Value twice = addInt(width, width);
    Value from = mulInt(make<arith::AndIOp>(pass.value, one), size);
    Value to = make<arith::SubIOp>(all, from);
    Value pairs = make<arith::DivUIOp>(
        addInt(all, make<arith::SubIOp>(twice, one)), twice);
    loopAt(outside + 1, pairs, [&](Index pair) {
      merge(from, to, make<arith::MulIOp>(pair.value, twice), width);
    });
  });
  Value sorted = pin(positions, outside);
  return address(sorted, i64, constantInt(passes % 2 * size));
}

Value StackEmitter::topKElement(TopKOp op, ArrayRef<Index> at) {
  LoopEmitter &emit = *this;
  int64_t dim = op.getDim(), count = shapeOf(op.getResult())[dim];
  int64_t size = shapeOf(op.getInput())[dim];
  if (count > kLongList && size <= kMaxStackRow) {
    SmallVector<Index> fixed = without(at, dim);
    Key row = key(op, fixed);
    if (!remembered(row)) {
      Value positions = stackBuffer(builder.getI64Type(), 2 * size);
      remembered(row) = sortRow(op, at, positions);
    }
    return load(remembered(row), builder.getI64Type(), at[dim]);
  }
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
      list.insert(emit.element(op.getInput(), with(at, dim, {i[0].value})),
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
