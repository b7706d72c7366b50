//===- ConstantTables.cpp - Constants as data beside kernels --------------===//

#include "ConstantTables.h"
#include "LoopEmitter.h"

using namespace mlir;

namespace autopar::loops {

/// The elements as a vector of what kernels read.
static DenseElementsAttr asRead(DenseElementsAttr elements) {
  Type element = elements.getElementType();
  Type read = storageType(computeType(element));
  auto type = RankedTensorType::get({elements.getNumElements()}, read);
  unsigned width = read.getIntOrFloatBitWidth();
  if (width == element.getIntOrFloatBitWidth())
    return elements.bitcast(read).reshape(type);
  if (isa<IntegerType>(read))
    return elements
        .mapValues(read, [&](const APInt &value) { return value.zext(width); })
        .reshape(type);
  const llvm::fltSemantics &semantics =
      cast<FloatType>(read).getFloatSemantics();
  auto widen = [&](APFloat value) {
    bool inexact;
    value.convert(semantics, APFloat::rmNearestTiesToEven, &inexact);
    return value.bitcastToAPInt();
  };
  return elements.mapValues(read, widen).reshape(type);
}

LLVM::GlobalOp ConstantTables::get(DenseElementsAttr elements) {
  LLVM::GlobalOp &global = known[elements];
  if (global)
    return global;
  DenseElementsAttr data = asRead(elements);
  auto type =
      LLVM::LLVMArrayType::get(data.getElementType(), data.getNumElements());
  OpBuilder builder = OpBuilder::atBlockBegin(&module->getRegion(0).front());
  global = LLVM::GlobalOp::create(
      builder, module->getLoc(), type, /*isConstant=*/true,
      LLVM::Linkage::Internal, (kTablePrefix + Twine(known.size() - 1)).str(),
      data,
      /*alignment=*/64, addressSpace);
  return global;
}

} // namespace autopar::loops
