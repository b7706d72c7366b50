//===- EmitReduction.cpp - Elements that come from many -------------------===//

#include "Emit.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar::loops {

/// The larger of two numbers; of a NaN and a number either.
static Value larger(LoopEmitter &emit, Value acc, Value x) {
  auto noNan = LLVM::FastmathFlags::nnan | LLVM::FastmathFlags::nsz;
  Value better =
      emit.make<LLVM::FCmpOp>(LLVM::FCmpPredicate::ogt, x, acc, noNan);
  return emit.make<LLVM::SelectOp>(better, x, acc, noNan);
}

static Value add(LoopEmitter &emit, Value acc, Value x) {
  return combineElements(emit, ReduceKind::Sum, acc, x, false);
}

/// Combines two elements in a form that LLVM vectorizes as a reduction.
Value combineElements(LoopEmitter &emit, ReduceKind kind, Value acc, Value x,
                      bool isUnsigned) {
  auto flags = arith::FastMathFlags::contract | arith::FastMathFlags::reassoc |
               arith::FastMathFlags::nsz;
  bool real = isa<FloatType>(x.getType());
  if (kind == ReduceKind::Sum)
    return real ? emit.make<arith::AddFOp>(acc, x, flags)
                : emit.make<arith::AddIOp>(acc, x);
  if (kind == ReduceKind::Prod)
    return real ? emit.make<arith::MulFOp>(acc, x, flags)
                : emit.make<arith::MulIOp>(acc, x);
  bool max = kind == ReduceKind::Max;
  if (!real) {
    if (isUnsigned)
      return max ? emit.make<arith::MaxUIOp>(acc, x)
                 : emit.make<arith::MinUIOp>(acc, x);
    return max ? emit.make<arith::MaxSIOp>(acc, x)
               : emit.make<arith::MinSIOp>(acc, x);
  }
  auto nsz = arith::FastMathFlags::nsz;
  return max ? emit.make<arith::MaximumFOp>(acc, x, nsz)
             : emit.make<arith::MinimumFOp>(acc, x, nsz);
}

/// Returns whether elements of `op` come from others that a loop makes: for
/// each column once, but again for each row where the rows are the outer loop.
static bool readsFolds(const LoopEmitter &emit, Operation *op) {
  SmallVector<Value> open(op->getOperands());
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    auto source = value.getDefiningOp<KernelOpInterface>();
    if (!source || emit.isInMemory(value) || !seen.insert(value).second)
      continue;
    KernelClass kind = source.getKernelClass();
    if (kind == KernelClass::Reduction || kind == KernelClass::Window)
      return true;
    llvm::append_range(open, source->getOperands());
  }
  return false;
}

/// Remembers that the reduction's operands are contiguous along what it keeps.
static void noteColumns(LoopEmitter &emit, Operation *op,
                        ArrayRef<Read> reads) {
  int64_t columns = 0;
  for (const Read &read : reads) {
    if (read.stride == 0)
      return;
    if (read.stride == 1)
      columns = std::max(columns, read.size);
  }
  if (columns > 1 && !readsFolds(emit, op))
    emit.findings.columnReductions[op] = columns;
}

/// Neighbouring reduced dimensions make one loop.
static Value emitElement(LoopEmitter &emit, ReduceOp op, ArrayRef<Index> at) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  SmallVector<SmallVector<int64_t>> runs;
  SmallVector<int64_t> extents, dims(op.getDims());
  llvm::sort(dims);
  for (int64_t dim : dims) {
    if (runs.empty() || runs.back().back() + 1 != dim) {
      runs.emplace_back();
      extents.push_back(1);
    }
    runs.back().push_back(dim);
    extents.back() *= shape[dim];
  }
  auto read = [&](ArrayRef<Index> inner, ArrayRef<Index> outer) {
    SmallVector<Index> source(shape.size());
    for (auto [run, index] : llvm::zip_equal(runs, inner)) {
      SmallVector<int64_t> sizes;
      for (int64_t dim : run)
        sizes.push_back(shape[dim]);
      for (auto [dim, digit] :
           llvm::zip_equal(run, emit.delinearize(index, sizes)))
        source[dim] = digit;
    }
    const Index *next = outer.begin();
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (!llvm::is_contained(dims, static_cast<int64_t>(dim)))
        source[dim] = *next++;
    return emit.element(op.getInput(), source);
  };
  Value init = neutralFor(emit, op.getKind(), op.getInput());
  bool natural = isNatural(op.getInput().getType());
  auto combine = [&](Value acc, Value x) {
    return combineElements(emit, op.getKind(), acc, x, natural);
  };
  if (emit.findings.columnReductions.contains(op))
    if (Value sum = emit.foldColumns(
            extents, at, init,
            [&](ArrayRef<Index> inner, ArrayRef<Index> outer, Value acc) {
              return combine(acc, read(inner, outer));
            },
            combine, op.getKind() == ReduceKind::Sum))
      return sum;
  size_t before = emit.reads.size();
  Value folded = emit.fold(
      extents, at, init,
      [&](ArrayRef<Index> inner, Value acc) {
        return combine(acc, read(inner, at));
      },
      combine, op.getKind() == ReduceKind::Sum);
  noteColumns(emit, op, ArrayRef(emit.reads).drop_front(before));
  return folded;
}

namespace {
/// The values of a row that softmax needs; they are computed once per row and
/// remembered.
struct SoftmaxRow {
  Value max, sum, exps; // exps: a stack row or null
};
} // namespace

static SoftmaxRow emitSoftmaxRow(LoopEmitter &emit, SoftmaxOp op,
                                 ArrayRef<Index> at) {
  int64_t dim = op.getDim(), size = shapeOf(op.getInput())[dim];
  SmallVector<Index> row = without(at, dim);
  Operation *raw = op;
  const char *tag = reinterpret_cast<const char *>(raw);
  Value &max = emit.remembered(emit.key(tag, row));
  Value &sum = emit.remembered(emit.key(tag + 1, row));
  Value &exps = emit.remembered(emit.key(tag + 2, row));
  if (sum)
    return {max, sum, exps};
  Type type = computeType(getElementTypeOrSelf(op.getType()));
  max = emit.fold(
      {size}, row, emit.constant(type, neutralElement(ReduceKind::Max)),
      [&](ArrayRef<Index> i, Value acc) {
        Value x = emit.element(op.getInput(), with(at, dim, i[0]));
        return larger(emit, acc, x);
      },
      [&](Value a, Value b) { return larger(emit, a, b); });
  Value buffer = op.getLog() ? Value() : emit.rowBuffer(type, size);
  Value top = max;
  sum = emit.fold(
      {size}, row, emit.constant(type, 0),
      [&](ArrayRef<Index> i, Value acc) {
        Value x = emit.element(op.getInput(), with(at, dim, i[0]));
        Value e = emit.make<math::ExpOp>(emit.make<arith::SubFOp>(x, top));
        if (buffer)
          emit.store(e, buffer, type, i[0]);
        return add(emit, acc, e);
      },
      [&](Value a, Value b) { return add(emit, a, b); }, /*sums=*/true);
  if (buffer)
    exps = emit.pin(buffer, emit.depth(sum));
  return {max, sum, exps};
}

static Value emitElement(LoopEmitter &emit, SoftmaxOp op, ArrayRef<Index> at) {
  SoftmaxRow row = emitSoftmaxRow(emit, op, at);
  Type type = row.sum.getType();
  if (row.exps) {
    Value scale = emit.make<arith::DivFOp>(emit.constant(type, 1), row.sum);
    Value e = emit.load(row.exps, type, at[op.getDim()]);
    return emit.make<arith::MulFOp>(e, scale);
  }
  Value x = emit.make<arith::SubFOp>(emit.element(op.getInput(), at), row.max);
  if (op.getLog())
    return emit.make<arith::SubFOp>(x, emit.make<math::LogOp>(row.sum));
  return emit.make<arith::DivFOp>(emit.make<math::ExpOp>(x), row.sum);
}

/// Sum over the normalized dimensions of f(x).
static Value emitMoment(LoopEmitter &emit, NormalizeOp op, ArrayRef<Index> at,
                        ArrayRef<Index> row, function_ref<Value(Value)> f) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  SmallVector<int64_t> sizes;
  int64_t count = 1;
  for (int64_t dim : op.getDims()) {
    sizes.push_back(shape[dim]);
    count *= shape[dim];
  }
  Type type = computeType(getElementTypeOrSelf(op.getType()));
  Value total = emit.fold(
      {count}, row, emit.constant(type, 0),
      [&](ArrayRef<Index> flat, Value acc) {
        SmallVector<Index> source(at.begin(), at.end());
        for (auto [dim, index] :
             llvm::zip_equal(op.getDims(), emit.delinearize(flat[0], sizes)))
          source[dim] = index;
        return add(emit, acc, f(emit.element(op.getInput(), source)));
      },
      [&](Value a, Value b) { return add(emit, a, b); }, /*sums=*/true);
  return emit.make<arith::MulFOp>(total, emit.constant(type, 1.0 / count));
}

static Value emitElement(LoopEmitter &emit, NormalizeOp op,
                         ArrayRef<Index> at) {
  SmallVector<Index> row;
  for (auto [dim, index] : llvm::enumerate(at))
    if (!llvm::is_contained(op.getDims(), static_cast<int64_t>(dim)))
      row.push_back(index);
  Operation *raw = op;
  const char *tag = reinterpret_cast<const char *>(raw);
  Value &mean = emit.remembered(emit.key(tag, row));
  Value &scale = emit.remembered(emit.key(tag + 1, row));
  bool layer = op.getKind() == NormKind::Layer;
  auto contract = arith::FastMathFlags::contract;
  if (!scale) {
    if (layer)
      mean = emitMoment(emit, op, at, row, [](Value x) { return x; });
    Value centre = mean;
    Value variance = emitMoment(emit, op, at, row, [&](Value x) -> Value {
      Value d = layer ? emit.make<arith::SubFOp>(x, centre) : x;
      return emit.make<arith::MulFOp>(d, d, contract);
    });
    Type type = variance.getType();
    Value shifted = emit.make<arith::AddFOp>(
        variance, emit.constant(type, op.getEpsilon().convertToDouble()));
    scale = emit.make<arith::DivFOp>(emit.constant(type, 1),
                                     emit.make<math::SqrtOp>(shifted));
  }
  Value x = emit.element(op.getInput(), at);
  Value centred = layer ? emit.make<arith::SubFOp>(x, mean) : x;
  return emit.make<arith::MulFOp>(centred, scale, contract);
}

/// The operand index of one window position, clamped, and whether it is inside.
static Value windowIndex(LoopEmitter &emit, Index out, Index in, int64_t stride,
                         int64_t dilation, int64_t low) {
  Value first =
      emit.addInt(emit.mulInt(emit.value(out), stride), emit.constantInt(-low));
  return emit.addInt(first, emit.mulInt(emit.value(in), dilation));
}

/// Reads `tensor` at window position `in` of the spatial dimensions; outside
/// it reads `fill`.
static Value readWindow(LoopEmitter &emit, Value tensor,
                        SmallVector<Index> source, ArrayRef<Index> out,
                        ArrayRef<Index> in, ArrayRef<int64_t> strides,
                        ArrayRef<int64_t> dilations, ArrayRef<int64_t> low,
                        Value fill) {
  Value inside;
  for (size_t d = 0; d < out.size(); ++d) {
    int64_t size = shapeOf(tensor)[d + 2];
    Value index =
        windowIndex(emit, out[d], in[d], strides[d], dilations[d], low[d]);
    Value here = emit.inRange(index, size);
    inside = inside ? emit.make<arith::AndIOp>(inside, here) : here;
    source.push_back({emit.clamp(index, size)});
  }
  Value read = emit.element(tensor, source);
  if (!inside)
    return read;
  return emit.make<arith::SelectOp>(inside, read, fill);
}

Value LoopEmitter::poolElement(PoolOp op, ArrayRef<Index> at) {
  Value neutral = neutralFor(*this, op.getKind(), op.getInput());
  auto combine = [&](Value acc, Value x) {
    return combineElements(*this, op.getKind(), acc, x,
                           isNatural(op.getInput().getType()));
  };
  return fold(
      op.getWindow(), at, neutral,
      [&](ArrayRef<Index> in, Value acc) {
        Value x = readWindow(*this, op.getInput(),
                             SmallVector<Index>(at.take_front(2)),
                             at.drop_front(2), in, op.getStrides(),
                             op.getDilations(), op.getPadLow(), neutral);
        return combine(acc, x);
      },
      combine);
}

static Value emitElement(LoopEmitter &emit, PoolOp op, ArrayRef<Index> at) {
  return emit.poolElement(op, at);
}

/// Naive: where no library call fits.
static Value emitElement(LoopEmitter &emit, ConvolutionOp op,
                         ArrayRef<Index> at) {
  ArrayRef<int64_t> filter = shapeOf(op.getFilter());
  int64_t perGroup = shapeOf(op.getResult())[1] / op.getGroups();
  Type type = computeType(getElementTypeOrSelf(op.getType()));
  Value group =
      emit.make<arith::DivUIOp>(emit.value(at[1]), emit.constantInt(perGroup));
  Value base = emit.mulInt(group, filter[1]);
  Value zero = emit.constant(type, 0);
  return emit.fold(
      filter.drop_front(1), at, zero,
      [&](ArrayRef<Index> in, Value acc) {
        Index channel{emit.addInt(base, emit.value(in[0]))};
        Value x =
            readWindow(emit, op.getInput(), {at[0], channel}, at.drop_front(2),
                       in.drop_front(1), op.getStrides(), op.getDilations(),
                       op.getPadLow(), zero);
        SmallVector<Index> weight{at[1]};
        llvm::append_range(weight, in);
        Value w = emit.element(op.getFilter(), weight);
        return add(
            emit, acc,
            emit.make<arith::MulFOp>(x, w, arith::FastMathFlags::contract));
      },
      [&](Value a, Value b) { return add(emit, a, b); }, /*sums=*/true);
}

/// Naive: where no library call fits, such as integers.
static Value emitElement(LoopEmitter &emit, EinsumOp op, ArrayRef<Index> at) {
  StringRef lhs = op.getLhsLetters(), rhs = op.getRhsLetters();
  std::map<char, Index> where;
  for (auto [letter, index] : llvm::zip_equal(op.getResultLetters(), at))
    where[letter] = index;
  SmallVector<char> contracted;
  SmallVector<int64_t> extents;
  for (auto [letter, size] : llvm::zip_equal(lhs, shapeOf(op.getLhs())))
    if (!where.count(letter)) {
      contracted.push_back(letter);
      extents.push_back(size);
    }
  Type type = computeType(getElementTypeOrSelf(op.getType()));
  bool real = isa<FloatType>(type);
  return emit.fold(
      extents, at, emit.constant(type, 0),
      [&](ArrayRef<Index> in, Value acc) {
        for (auto [letter, index] : llvm::zip_equal(contracted, in))
          where[letter] = index;
        SmallVector<Index> left, right;
        for (char letter : lhs)
          left.push_back(where[letter]);
        for (char letter : rhs)
          right.push_back(where[letter]);
        Value x = emit.element(op.getLhs(), left);
        Value y = emit.element(op.getRhs(), right);
        Value product =
            real
                ? emit.make<arith::MulFOp>(x, y, arith::FastMathFlags::contract)
                : emit.make<arith::MulIOp>(x, y);
        return add(emit, acc, product);
      },
      [&](Value a, Value b) { return add(emit, a, b); }, /*sums=*/true);
}

static Value emitElement(LoopEmitter &emit, ScanOp op, ArrayRef<Index> at) {
  return emit.scanElement(op, at);
}

static Value emitElement(LoopEmitter &emit, TopKOp op, ArrayRef<Index> at) {
  return emit.topKElement(op, at);
}

void addReduction(EmitTable &table) {
  table.add([](auto op, LoopEmitter &emit,
               At at) -> decltype(emitElement(emit, op, at)) {
    return emitElement(emit, op, at);
  });
}

} // namespace autopar::loops
