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
