//===- Shape.cpp - Derivatives of ops that move elements ------------------===//

#include "Derivatives.h"

using namespace mlir;

namespace autopar {

namespace {

/// Sums what was repeated.
struct BroadcastDerivative : Derivative<BroadcastDerivative, BroadcastOp> {
  static Gradients build(BroadcastOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    ArrayRef<int64_t> from = shapeOf(op.getInput()), to = shapeOf(g);
    SmallVector<int64_t> repeated;
    for (int64_t dim = 0, rank = to.size(); dim < rank; ++dim) {
      const int64_t *source = llvm::find(op.getDims(), dim);
      if (source == op.getDims().end() ||
          from[source - op.getDims().begin()] != to[dim])
        repeated.push_back(dim);
    }
    Value sum = b.reduce(ReduceKind::Sum, g, repeated);
    return SmallVector<Value>{b.reshape(sum, from)};
  }
};

struct ReshapeDerivative : Derivative<ReshapeDerivative, ReshapeOp> {
  static Gradients build(ReshapeOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    return SmallVector<Value>{b.reshape(g, shapeOf(op.getInput()))};
  }
};

struct TransposeDerivative : Derivative<TransposeDerivative, TransposeOp> {
  static Gradients build(TransposeOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    SmallVector<int64_t> inverse(op.getPerm().size());
    for (auto [to, from] : llvm::enumerate(op.getPerm()))
      inverse[from] = to;
    return SmallVector<Value>{b.transpose(g, inverse)};
  }
};

struct SliceDerivative : Derivative<SliceDerivative, SliceOp> {
  static Gradients build(SliceOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool>) {
    return SmallVector<Value>{
        b.place(g, op.getStarts(), op.getSteps(), shapeOf(op.getInput()))};
  }
};

struct PadDerivative : Derivative<PadDerivative, PadOp> {
  static Gradients build(PadOp op, TensorBuilder &b, Value g, ArrayRef<bool>) {
    SmallVector<int64_t> steps(op.getLow().size(), 1);
    return SmallVector<Value>{
        b.slice(g, op.getLow(), shapeOf(op.getInput()), steps)};
  }
};

struct ConcatDerivative : Derivative<ConcatDerivative, ConcatOp> {
  static Gradients build(ConcatOp op, TensorBuilder &b, Value g,
                         ArrayRef<bool> wanted) {
    SmallVector<Value> gradients;
    int64_t start = 0, dim = op.getDim();
    for (auto [input, isWanted] : llvm::zip_equal(op.getInputs(), wanted)) {
      int64_t size = shapeOf(input)[dim];
      gradients.push_back(isWanted ? b.slice(g, dim, start, size) : Value());
      start += size;
    }
    return gradients;
  }
};

} // namespace

void registerShapeDerivatives(MLIRContext *context) {
  BroadcastOp::attachInterface<BroadcastDerivative>(*context);
  ReshapeOp::attachInterface<ReshapeDerivative>(*context);
  TransposeOp::attachInterface<TransposeDerivative>(*context);
  SliceOp::attachInterface<SliceDerivative>(*context);
  PadOp::attachInterface<PadDerivative>(*context);
  ConcatOp::attachInterface<ConcatDerivative>(*context);
}

} // namespace autopar
