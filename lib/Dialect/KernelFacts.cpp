//===- KernelFacts.cpp - What kernels may do with an op -------------------===//

#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar {

/// The first of `dims` if every later dimension of `shape` is one of them or
/// has size 1.
static std::optional<int64_t> rowRank(ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> dims) {
  if (dims.empty())
    return std::nullopt;
  int64_t first = *llvm::min_element(dims);
  for (int64_t dim = first, rank = shape.size(); dim < rank; ++dim)
    if (shape[dim] != 1 && !llvm::is_contained(dims, dim))
      return std::nullopt;
  return first;
}

std::optional<int64_t> rowRankOf(Operation *op) {
  using Rank = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Rank>(op)
      .Case<ReduceOp, NormalizeOp>([](auto typed) {
        return rowRank(typed.getInput().getType().getShape(), typed.getDims());
      })
      .Case<SoftmaxOp>([](SoftmaxOp softmax) {
        int64_t dim = softmax.getDim();
        return rowRank(softmax.getInput().getType().getShape(), dim);
      })
      .Default([](Operation *) -> Rank { return std::nullopt; });
}

int64_t rowCountOf(Operation *op) {
  auto type = cast<ShapedType>(op->getOperand(0).getType());
  return ShapedType::getNumElements(type.getShape().take_front(*rowRankOf(op)));
}

/// Position of the last dimension that is not of size 1; -1 if there is none.
static int64_t innermost(ArrayRef<int64_t> shape) {
  for (int64_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1)
      return dim;
  return -1;
}

static LoopRole roleOf(TransposeOp op) {
  int64_t from = innermost(op.getInput().getType().getShape());
  int64_t to = innermost(op.getType().getShape());
  return from < 0 || op.getPerm()[to] == from ? LoopRole::Remap
                                              : LoopRole::Scatter;
}

LoopRole loopRoleOf(Operation *op) {
  if (isa<ConstantOp, IotaOp, BlockOffsetOp>(op))
    return LoopRole::Source;
  if (isa<BroadcastOp>(op))
    return LoopRole::Spread;
  if (isa<MaskOp, KeepFirstOp>(op))
    return LoopRole::Pointwise;
  if (isa<SliceBlockOp>(op))
    return LoopRole::Remap;
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return roleOf(transpose);
  if (isa<GatherNdOp>(op))
    return LoopRole::Whole;
  auto kernel = dyn_cast<KernelOpInterface>(op);
  if (!kernel)
    return LoopRole::Opaque;
  switch (kernel.getKernelClass()) {
  case KernelClass::View:
    return LoopRole::View;
  case KernelClass::Elementwise:
    return LoopRole::Pointwise;
  case KernelClass::Movement:
    return LoopRole::Remap;
  case KernelClass::Reduction:
    return rowRankOf(op) ? LoopRole::RowReduction : LoopRole::Whole;
  case KernelClass::Contraction:
  case KernelClass::Convolution:
  case KernelClass::Window:
    return LoopRole::Whole;
  case KernelClass::Communication:
  case KernelClass::None:
    return LoopRole::Opaque;
  }
  return LoopRole::Opaque;
}

std::optional<UnaryKind> unaryKindOf(Operation *op) {
  auto unary = dyn_cast<UnaryOp>(op);
  return unary ? std::optional(unary.getKind()) : std::nullopt;
}

std::optional<BinaryKind> binaryKindOf(Operation *op) {
  auto binary = dyn_cast<BinaryOp>(op);
  return binary ? std::optional(binary.getKind()) : std::nullopt;
}

ArrayRef<int64_t> spreadDimsOf(Operation *op) {
  return cast<BroadcastOp>(op).getDims();
}

bool isLibraryOp(Operation *op) {
  if (auto einsum = dyn_cast<EinsumOp>(op))
    return einsumAsGemm(einsum).has_value();
  if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    size_t spatial = convolution.getStrides().size();
    return spatial >= 1 && spatial <= 3;
  }
  return false;
}

std::optional<int64_t> imagePositionsOf(Operation *op) {
  auto convolution = dyn_cast<ConvolutionOp>(op);
  if (!convolution)
    return std::nullopt;
  auto type = cast<RankedTensorType>(convolution.getInput().getType());
  return ShapedType::getNumElements(type.getShape().drop_front(2));
}

bool isBiasOf(Operation *libraryOp, Operation *spread) {
  auto from = cast<RankedTensorType>(spread->getOperand(0).getType());
  auto to = cast<RankedTensorType>(spread->getResult(0).getType());
  SmallVector<int64_t> sizes, along;
  for (int64_t dim : wideDims(from.getShape())) {
    sizes.push_back(from.getDimSize(dim));
    along.push_back(spreadDimsOf(spread)[dim]);
  }
  if (isa<ConvolutionOp>(libraryOp))
    return to.getShape() ==
               cast<RankedTensorType>(libraryOp->getResult(0).getType())
                   .getShape() &&
           along.size() == 1 && along[0] == 1 && sizes[0] == to.getDimSize(1);
  auto gemm = einsumAsGemm(cast<EinsumOp>(libraryOp));
  if (!gemm || sizes.empty() ||
      ArrayRef<int64_t>(sizes) != ArrayRef<int64_t>(gemm->columnShape))
    return false;
  SmallVector<int64_t> wide = wideDims(to.getShape());
  return wide.size() >= along.size() &&
         ArrayRef(wide).take_back(along.size()) == ArrayRef(along);
}

} // namespace autopar
