//===- Gather.cpp - Derivatives of ops that read at computed indices ------===//

#include "Derivatives.h"

using namespace mlir;

namespace autopar {

namespace {

/// The rows of `size` that indices mean: negative ones count from the end, and
/// those outside are clamped.
Value wrapped(TensorBuilder &b, Value indices, double size) {
  indices = b.convert(indices, b.builder.getI64Type());
  indices = b.select(b.compare(ComparePredicate::Lt, indices, 0.0),
                     b.binary(BinaryKind::Add, indices, size), indices);
  return b.binary(BinaryKind::Max, b.binary(BinaryKind::Min, indices, size - 1),
                  0.0);
}

Value scatterRows(TensorBuilder &b, RankedTensorType type, Value updates,
                  Value indices, int64_t dim) {
  return ScatterOp::create(b.builder, b.loc, type, ReduceKind::Sum, updates,
                           indices, Value(), dim, IntegerAttr(),
                           /*batched=*/false);
}

/// A row that is read several times gets the sum.
struct GatherDerivative : Derivative<GatherDerivative, GatherOp> {
  static Gradients build(GatherOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    Value rows = scatterRows(b, cast<RankedTensorType>(op.getData().getType()),
                             g, op.getIndices(), op.getDim());
    return SmallVector<Value>{rows, Value()};
  }
};

/// Several indices address a row of the data once the batch dimensions and the
/// addressed dimensions are each joined into one.
struct GatherNdDerivative : Derivative<GatherNdDerivative, GatherNdOp> {
  static Gradients build(GatherNdOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    auto data = cast<RankedTensorType>(op.getData().getType());
    ArrayRef<int64_t> indices = shapeOf(op.getIndices());
    ArrayRef<int64_t> points = indices.drop_back();
    int64_t batch = op.getBatchDims(), depth = indices.back();
    Value row;
    int64_t rows = 1;
    auto append = [&](Value index, int64_t size) {
      row = row ? b.add(b.mul(row, double(size)), index) : index;
      rows *= size;
    };
    for (int64_t dim = 0; dim < batch; ++dim)
      append(b.iota(points, b.builder.getI64Type(), dim), data.getDimSize(dim));
    for (int64_t at = 0; at < depth; ++at) {
      Value index = b.slice(op.getIndices(), points.size(), at, 1);
      int64_t size = data.getDimSize(batch + at);
      append(wrapped(b, b.reshape(index, points), double(size)), size);
    }
    SmallVector<int64_t> shape{rows};
    llvm::append_range(shape, data.getShape().drop_front(batch + depth));
    Value flat = scatterRows(b, data.clone(shape), g, row, 0);
    return SmallVector<Value>{b.reshape(flat, data.getShape()), Value()};
  }
};

/// The gradient of a greatest or least update is shared by all updates that
/// equal it, as in torch.scatter_reduce.
struct ScatterDerivative : Derivative<ScatterDerivative, ScatterOp> {
  static Gradients build(ScatterOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    if (op.getKind() == ReduceKind::Sum)
      return SmallVector<Value>{rowsOf(op, b, g), Value()};
    Value updates = op.getUpdates();
    Value found =
        b.compare(ComparePredicate::Eq, updates, rowsOf(op, b, op.getResult()));
    Value count = ScatterOp::create(
        b.builder, b.loc, op.getResult().getType(), ReduceKind::Sum,
        b.convert(found, op.getUpdates().getType().getElementType()),
        op.getIndices(), Value(), op.getDim(), IntegerAttr(), op.getBatched());
    Value share = b.div(g, b.binary(BinaryKind::Max, count, 1.0));
    return SmallVector<Value>{b.selectOrZero(found, rowsOf(op, b, share)),
                              Value()};
  }

private:
  /// The rows of x, which is like the result, in the place of the updates.
  static Value rowsOf(ScatterOp op, TensorBuilder &b, Value x) {
    Type type = op.getUpdates().getType();
    Value indices = op.getIndices();
    if (!op.getBatched())
      return GatherOp::create(b.builder, b.loc, type, x, indices, Value(),
                              op.getDim(), IntegerAttr());
    SmallVector<int64_t> shape(shapeOf(indices));
    shape.push_back(1);
    return GatherNdOp::create(b.builder, b.loc, type, x,
                              b.reshape(indices, shape), op.getDim());
  }
};

/// Gradients are added where they came from in their row. Of a few indices, as
/// the best of a row or a target's, each element looks which mean it: that
/// needs no pass of its own.
struct GatherElementsDerivative
    : Derivative<GatherElementsDerivative, GatherElementsOp> {
  static Gradients build(GatherElementsOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    constexpr int64_t kFew = 8;
    if (shapeOf(op.getIndices())[op.getDim()] > kFew)
      return SmallVector<Value>{scattered(op, b, g), Value()};
    double size = shapeOf(op.getData())[op.getDim()];
    Value indices = spreadLast(op, b, wrapped(b, op.getIndices(), size));
    Type element = cast<ShapedType>(indices.getType()).getElementType();
    Value hit = b.compare(ComparePredicate::Eq, indices,
                          b.iota(shapeOf(indices), element, op.getDim()));
    Value found = b.selectOrZero(hit, spreadLast(op, b, g));
    int64_t last = shapeOf(indices).size() - 1;
    return SmallVector<Value>{b.reduce(ReduceKind::Sum, found, last), Value()};
  }

private:
  static Value scattered(GatherElementsOp op, TensorBuilder &b, Value g) {
    int64_t dim = op.getDim(), rank = shapeOf(g).size();
    SmallVector<int64_t> last, back(rank), shape;
    for (int64_t other = 0; other < rank; ++other)
      if (other != dim)
        last.push_back(other);
    last.push_back(dim);
    for (auto [place, other] : llvm::enumerate(last)) {
      back[other] = place;
      shape.push_back(shapeOf(op.getData())[other]);
    }
    Value rows = ScatterOp::create(
        b.builder, b.loc, cast<RankedTensorType>(g.getType()).clone(shape),
        ReduceKind::Sum, b.transpose(g, last),
        b.transpose(op.getIndices(), last), Value(), rank - 1, IntegerAttr(),
        /*batched=*/true);
    return b.transpose(rows, back);
  }
  /// [..., k, ...], of k elements along the op's dimension, as [data..., k].
  static Value spreadLast(GatherElementsOp op, TensorBuilder &b, Value x) {
    int64_t dim = op.getDim(), rank = shapeOf(x).size();
    SmallVector<int64_t> shape(shapeOf(op.getData())), perm;
    shape.push_back(shapeOf(x)[dim]);
    for (int64_t other = 0; other < rank; ++other)
      if (other != dim)
        perm.push_back(other);
    SmallVector<int64_t> dims(perm);
    perm.push_back(dim);
    dims.push_back(rank);
    return b.broadcast(b.transpose(x, perm), shape, dims);
  }
};

} // namespace

void registerGatherDerivatives(MLIRContext *context) {
  GatherOp::attachInterface<GatherDerivative>(*context);
  GatherElementsOp::attachInterface<GatherElementsDerivative>(*context);
  GatherNdOp::attachInterface<GatherNdDerivative>(*context);
  ScatterOp::attachInterface<ScatterDerivative>(*context);
}

} // namespace autopar
