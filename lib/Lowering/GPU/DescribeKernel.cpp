//===- DescribeKernel.cpp - What a kernel computes, in words --------------===//

#include "CudaSource.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace autopar::gpu {

/// "2x8xf32"
static std::string shapeText(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto shaped = dyn_cast<ShapedType>(type)) {
    for (int64_t size : shaped.getShape())
      os << size << 'x';
    type = shaped.getElementType();
  }
  os << type;
  return text;
}

/// "add(2x8xf32, 8xf32) -> 2x8xf32"
static std::string opText(Operation &op) {
  auto list = [](TypeRange types) {
    return llvm::join(llvm::map_range(types, shapeText), ", ");
  };
  return (op.getName().stripDialect() + "(" + list(op.getOperandTypes()) +
          ") -> " + list(op.getResultTypes()))
      .str();
}

std::string descriptionOf(KernelOp kernel) {
  std::string text;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    StringRef node = nodeName(op.getLoc());
    text += ((node.empty() ? StringRef("(derived)") : node) + ": " +
             opText(op) + "\n")
                .str();
  }
  if (text.empty())
    text = "copy of " + shapeText(kernel->getOperandTypes().front()) + "\n";
  return text;
}

} // namespace autopar::gpu
