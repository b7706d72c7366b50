//===- Gather.cpp - Derivatives of ops that read at computed indices ------===//

#include "Derivatives.h"

using namespace mlir;

namespace autopar {

namespace {

/// A row that is read several times gets the sum.
struct GatherDerivative : Derivative<GatherDerivative, GatherOp> {
  static Gradients build(GatherOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    Value rows =
        ScatterOp::create(b.builder, b.loc, op.getData().getType(), g,
                          op.getIndices(), Value(), op.getDim(), IntegerAttr());
    return SmallVector<Value>{rows, Value()};
  }
};

struct ScatterDerivative : Derivative<ScatterDerivative, ScatterOp> {
  static Gradients build(ScatterOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    Value rows =
        GatherOp::create(b.builder, b.loc, op.getUpdates().getType(), g,
                         op.getIndices(), Value(), op.getDim(), IntegerAttr());
    return SmallVector<Value>{rows, Value()};
  }
};

/// Each element sums the gradients of the indices in its row that mean it: few
/// where the indices are the best of a row.
struct GatherElementsDerivative
    : Derivative<GatherElementsDerivative, GatherElementsOp> {
  static Gradients build(GatherElementsOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    Value indices = spreadLast(op, b, wrapped(op, b));
    Type element = cast<ShapedType>(indices.getType()).getElementType();
    Value hit = b.compare(ComparePredicate::Eq, indices,
                          b.iota(shapeOf(indices), element, op.getDim()));
    Value found = b.selectOrZero(hit, spreadLast(op, b, g));
    int64_t last = shapeOf(indices).size() - 1;
    return SmallVector<Value>{b.reduce(ReduceKind::Sum, found, last), Value()};
  }

private:
  /// The rows that the indices mean.
  static Value wrapped(GatherElementsOp op, TensorBuilder &b) {
    double size = shapeOf(op.getData())[op.getDim()];
    Value indices = b.convert(op.getIndices(), b.builder.getI64Type());
    indices = b.select(b.compare(ComparePredicate::Lt, indices, 0.0),
                       b.binary(BinaryKind::Add, indices, size), indices);
    return b.binary(BinaryKind::Max,
                    b.binary(BinaryKind::Min, indices, size - 1), 0.0);
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
  ScatterOp::attachInterface<ScatterDerivative>(*context);
}

} // namespace autopar
