//===- Reduction.cpp - Derivatives of reductions and what is made of them -===//

#include "Derivatives.h"

using namespace mlir;

namespace autopar {

namespace {

struct ReduceDerivative : Derivative<ReduceDerivative, ReduceOp> {
  static Gradients build(ReduceOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    ArrayRef<int64_t> dims = op.getDims();
    Value x = op.getInput(), all = b.spread(g, x, dims);
    switch (op.getKind()) {
    case ReduceKind::Sum:
      return SmallVector<Value>{all};
    case ReduceKind::Max:
    case ReduceKind::Min:
      return SmallVector<Value>{ofExtremes(op, b, all)};
    case ReduceKind::Prod:
      return SmallVector<Value>{b.mul(all, productOfOthers(op, b))};
    }
    llvm_unreachable("unknown reduction");
  }

private:
  /// Equal ones share it, as in torch.amax.
  static Value ofExtremes(ReduceOp op, TensorBuilder &b, Value all) {
    Value x = op.getInput();
    Value found = b.compare(ComparePredicate::Eq, x,
                            b.spread(op.getResult(), x, op.getDims()));
    Value ones =
        b.convert(found, cast<ShapedType>(x.getType()).getElementType());
    Value count = b.reduce(ReduceKind::Sum, ones, op.getDims());
    return b.selectOrZero(found, b.div(all, b.spread(count, x, op.getDims())));
  }
  /// The product of the other elements for each element: of those before it and
  /// of those after it.
  static Value productOfOthers(ReduceOp op, TensorBuilder &b) {
    Value others, x = op.getInput();
    // Along each dimension the others, of what the dimensions before it gave.
    for (int64_t dim : op.getDims()) {
      Value before = ScanOp::create(b.builder, b.loc, x.getType(),
                                    ReduceKind::Prod, x, dim, true, false);
      Value after = ScanOp::create(b.builder, b.loc, x.getType(),
                                   ReduceKind::Prod, x, dim, true, true);
      Value along = b.mul(before, after);
      others = others ? b.mul(others, along) : along;
      x = b.spread(b.reduce(ReduceKind::Prod, x, dim), x, dim);
    }
    return others ? others : b.splatLike(op.getInput(), 1);
  }
};

/// The gradient of a running sum is a running sum from the other end.
struct ScanDerivative : Derivative<ScanDerivative, ScanOp> {
  static Gradients build(ScanOp op, TensorBuilder &b, Value g, ArrayRef<bool>) {
    if (op.getKind() != ReduceKind::Sum)
      return op.emitOpError("has a derivative for sums only");
    Value result =
        ScanOp::create(b.builder, b.loc, g.getType(), ReduceKind::Sum, g,
                       op.getDim(), op.getExclusive(), !op.getReverse());
    return SmallVector<Value>{result};
  }
};

/// Returns whether something asks whether the value is NaN, or, with
/// `bySelect`, chooses between it and another one: a row whose elements are all
/// masked is NaN, and not used.
bool isGuarded(Value value, bool bySelect) {
  constexpr unsigned kMostReaders = 16;
  SmallVector<Value> same{value};
  for (unsigned i = 0; i < same.size() && i < kMostReaders; ++i)
    for (OpOperand &use : same[i].getUses()) {
      Operation *reader = use.getOwner();
      auto unary = dyn_cast<UnaryOp>(reader);
      if ((unary && unary.getKind() == UnaryKind::IsNan) ||
          (bySelect && isa<SelectOp>(reader) && use.getOperandNumber() > 0))
        return true;
      if (isa<ConvertOp, ReshapeOp, TransposeOp>(reader) ||
          (isa<FunctionOp>(reader) && use.getOperandNumber() == 0))
        same.push_back(reader->getResult(0));
    }
  return false;
}

/// y * (g - sum(g * y)); of the logarithm g - exp(y) * sum(g). A guarded NaN
/// has no part in it.
struct SoftmaxDerivative : Derivative<SoftmaxDerivative, SoftmaxOp> {
  static Gradients build(SoftmaxOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    Value y = op.getResult();
    int64_t dim = op.getDim();
    auto rowSum = [&](Value value) {
      return b.spread(b.reduce(ReduceKind::Sum, value, dim), y, dim);
    };
    // Losses choose from logarithms, by labels.
    bool guarded = isGuarded(y, /*bySelect=*/!op.getLog());
    if (op.getLog())
      y = b.unary(UnaryKind::Exp, y);
    if (guarded)
      y = b.select(b.unary(UnaryKind::IsNan, y), b.splatLike(y, 0), y);
    if (op.getLog())
      return SmallVector<Value>{b.sub(g, b.mul(y, rowSum(g)))};
    return SmallVector<Value>{b.mul(y, b.sub(g, rowSum(b.mul(g, y))))};
  }
};

/// The gradient is s * (g - mean(g) - y * mean(g * y)), where y is the result
/// and s its scale 1/sqrt(...); for rms it has no mean(g).
struct NormalizeDerivative : Derivative<NormalizeDerivative, NormalizeOp> {
  static Gradients build(NormalizeOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    Value x = op.getInput(), y = op.getResult();
    ArrayRef<int64_t> dims = op.getDims();
    double count = 1;
    for (int64_t dim : dims)
      count *= shapeOf(x)[dim];
    auto mean = [&](Value value) {
      return b.mul(b.reduce(ReduceKind::Sum, value, dims), 1 / count);
    };
    Value centred = x;
    if (op.getKind() == NormKind::Layer)
      centred = b.sub(x, b.spread(mean(x), x, dims));
    Value variance = mean(b.mul(centred, centred));
    Value scale =
        b.unary(UnaryKind::Rsqrt, b.binary(BinaryKind::Add, variance,
                                           op.getEpsilon().convertToDouble()));
    Value rest = b.sub(g, b.mul(y, b.spread(mean(b.mul(g, y)), x, dims)));
    if (op.getKind() == NormKind::Layer)
      rest = b.sub(rest, b.spread(mean(g), x, dims));
    return SmallVector<Value>{b.mul(rest, b.spread(scale, x, dims))};
  }
};

} // namespace

void registerReductionDerivatives(MLIRContext *context) {
  ReduceOp::attachInterface<ReduceDerivative>(*context);
  ScanOp::attachInterface<ScanDerivative>(*context);
  SoftmaxOp::attachInterface<SoftmaxDerivative>(*context);
  NormalizeOp::attachInterface<NormalizeDerivative>(*context);
}

} // namespace autopar
