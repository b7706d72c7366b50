//===- PoolRows.cpp - Windows of rows that are contiguous -----------------===//
//
//   for x: acc = init                      row[0 .. W) = init
//          for k: if x + k is inside: =>   for k: for x where x + k is inside:
//                   acc += in[x + k]                row[x] += in[x + k]
//          use acc                         for x: use row[x]
//
// The code clamps no index and selects no element, so LLVM vectorizes the inner
// loop. Windows over rows of channels do not need this: either all elements of
// their inner loop are inside, or none is.
//
//===----------------------------------------------------------------------===//

#include "StackEmitter.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar::cpu {

using namespace loops;

namespace {

/// The window's place in one dimension: out * stride + in * dilation - low.
struct Window {
  int64_t size, stride, dilation, low, extent; // of the operand

  Window(PoolOp op, unsigned d)
      : size(op.getWindow()[d]), stride(op.getStrides()[d]),
        dilation(op.getDilations()[d]), low(op.getPadLow()[d]),
        extent(shapeOf(op.getInput())[d + 2]) {}
};

/// First and end of the outputs whose element `in` of the window is inside.
std::pair<Value, Value> insideOf(LoopEmitter &emit, const Window &window,
                                 Value in, int64_t outputs) {
  Value zero = emit.constantInt(0);
  Value moved = emit.mulInt(in, window.dilation);
  auto quotient = [&](int64_t from) {
    Value number = emit.make<arith::SubIOp>(emit.constantInt(from), moved);
    number = emit.make<arith::MaxSIOp>(number, zero);
    return window.stride == 1 ? number
                              : emit.make<arith::DivUIOp>(
                                    number, emit.constantInt(window.stride));
  };
  Value last = emit.constantInt(outputs);
  Value first = quotient(window.low + window.stride - 1);
  Value end = quotient(window.extent - 1 + window.low + window.stride);
  return {emit.make<arith::MinSIOp>(first, last),
          emit.make<arith::MinSIOp>(end, last)};
}

} // namespace

Value StackEmitter::poolElement(PoolOp op, ArrayRef<Index> at) {
  unsigned last = at.size() - 3; // of the spatial dimensions
  Window row(op, last);
  auto open = dyn_cast_or_null<scf::ForOp>(scopes.back().loop);
  std::optional<int64_t> outputs =
      open ? getConstantIntValue(open.getUpperBound()) : std::nullopt;
  if (row.size == 1 || outputs != shapeOf(op.getResult()).back() ||
      *outputs > kMaxStackRow || open.getNumRegionIterArgs() != 0)
    return LoopEmitter::poolElement(op, at);
  Value column = open.getInductionVar();
  unsigned outside = scopes.size() - 2;
  if (value(at.back()) != column || depth(at.drop_back()) > outside)
    return LoopEmitter::poolElement(op, at);
  Value neutral = neutralFor(*this, op.getKind(), op.getInput());
  Type type = neutral.getType();
  bool natural = isNatural(op.getInput().getType());
  Value sums = stackBuffer(storageType(type), *outputs);
  loopAt(outside, constantInt(*outputs),
         [&](Index c) { store(neutral, sums, type, c); });
  sums = pin(sums, outside);
  // Adds the windows dimension after dimension. `inside` is 1, or 0 if the
  // outer dimensions are outside of the input.
  SmallVector<Index> source(at.take_front(2));
  auto addRow = [&](unsigned depth, Value inside) {
    loopAt(depth, constantInt(row.size), [&](Index in) {
      auto [first, end] = insideOf(*this, row, in.value, *outputs);
      Value count = make<arith::SubIOp>(end, first);
      count = make<arith::MaxSIOp>(count, constantInt(0));
      if (inside)
        count = make<arith::MulIOp>(count, inside);
      Value offset =
          addInt(mulInt(in.value, row.dilation), constantInt(-row.low));
      loopAt(depth + 1, count, [&, first = first](Index step) {
        Index c = {addInt(first, step.value)};
        source.push_back({addInt(mulInt(c.value, row.stride), offset)});
        Value x = element(op.getInput(), source);
        source.pop_back();
        Value sum = load(sums, type, c);
        store(combineElements(*this, op.getKind(), sum, x, natural), sums, type,
              c);
      });
    });
  };
  auto addDim = [&](auto &self, unsigned d, unsigned depth,
                    Value inside) -> void {
    if (d == last)
      return addRow(depth, inside);
    Window window(op, d);
    loopAt(depth, constantInt(window.size), [&](Index in) {
      Value index = addInt(addInt(mulInt(value(at[d + 2]), window.stride),
                                  constantInt(-window.low)),
                           mulInt(in.value, window.dilation));
      Value here = make<arith::ExtUIOp>(builder.getI64Type(),
                                        inRange(index, window.extent));
      source.push_back({clamp(index, window.extent)});
      self(self, d + 1, depth + 1,
           inside ? make<arith::MulIOp>(inside, here) : here);
      source.pop_back();
    });
  };
  addDim(addDim, 0, outside, nullptr);
  return load(pin(sums, outside), type, {column});
}

} // namespace autopar::cpu
