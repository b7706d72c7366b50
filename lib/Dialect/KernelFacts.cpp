//===- KernelFacts.cpp - What kernels may do with an op -------------------===//

#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

LoopRole loopRoleOf(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel ? kernel.getLoopRole() : LoopRole::Opaque;
}

bool isCommunication(Operation *op) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && kernel.getKernelClass() == KernelClass::Communication;
}

int64_t rowRankOf(Operation *op) {
  return *cast<KernelOpInterface>(op).getRowRank();
}

int64_t rowCountOf(Operation *op) {
  auto type = cast<ShapedType>(op->getOperand(0).getType());
  return ShapedType::getNumElements(type.getShape().take_front(rowRankOf(op)));
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

/// Leading dimensions of which a slice takes one index.
static size_t singleDims(SliceOp slice) {
  ArrayRef<int64_t> part = shapeOf(slice.getResult());
  return llvm::find_if(part, [](int64_t size) { return size != 1; }) -
         part.begin();
}

std::optional<ReadBlock> readBlockOf(Operation *op) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice)
    return std::nullopt;
  ReadBlock block{0, SmallVector<int64_t>(shapeOf(slice.getInput()))};
  int64_t whole = llvm::product_of(block.shape), taken = 1;
  size_t single = singleDims(slice);
  for (size_t dim = 0; dim < block.shape.size(); ++dim) {
    int64_t size = block.shape[dim];
    bool isSingle = dim < single;
    block.first = block.first * size + (isSingle ? slice.getStarts()[dim] : 0);
    if (isSingle)
      block.shape[dim] = 1;
    taken *= block.shape[dim];
  }
  return taken < whole ? std::optional(block) : std::nullopt;
}

void readFromBlock(Operation *op) {
  auto slice = cast<SliceOp>(op);
  SmallVector<int64_t> starts(slice.getStarts());
  std::fill_n(starts.begin(), singleDims(slice), 0);
  slice.setStarts(starts);
}

bool isBiasOf(Operation *libraryOp, Operation *spread) {
  auto from = cast<RankedTensorType>(spread->getOperand(0).getType());
  auto to = cast<RankedTensorType>(spread->getResult(0).getType());
  SmallVector<int64_t> sizes, along;
  for (int64_t dim : wideDims(from.getShape())) {
    sizes.push_back(from.getDimSize(dim));
    along.push_back(spreadDimsOf(spread)[dim]);
  }
  return cast<LibraryOpInterface>(libraryOp).takesBias(sizes, along,
                                                       to.getShape());
}

} // namespace autopar
