//===- Precision.cpp - In which type an op is computed --------------------===//

#include "autopar/Dialect/Precision.h"
#include "autopar/Dialect/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar {

static PrecisionClass classOf(UnaryOp op) {
  switch (op.getKind()) {
  case UnaryKind::Exp:
  case UnaryKind::Log:
  case UnaryKind::Reciprocal:
  case UnaryKind::Rsqrt:
    return PrecisionClass::Full;
  default:
    return PrecisionClass::Operands;
  }
}

/// An outer product adds nothing up: it is a product of elements. Positions
/// times frequencies must not lose their digits.
static PrecisionClass classOf(EinsumOp op) {
  auto shape = op.getLhs().getType().getShape();
  for (auto [letter, size] : llvm::zip_equal(op.getLhsLetters(), shape))
    if (size > 1 && !op.getResultLetters().contains(letter))
      return PrecisionClass::Low;
  return PrecisionClass::Operands;
}

static PrecisionClass classOf(ReduceKind kind) {
  bool chooses = kind == ReduceKind::Max || kind == ReduceKind::Min;
  return chooses ? PrecisionClass::Operands : PrecisionClass::Full;
}

PrecisionClass precisionClassOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, PrecisionClass>(op)
      .Case<UnaryOp, EinsumOp>([](auto typed) { return classOf(typed); })
      .Case<ReduceOp, ScanOp, PoolOp>(
          [](auto typed) { return classOf(typed.getKind()); })
      .Case<BinaryOp>([](BinaryOp binary) {
        return binary.getKind() == BinaryKind::Pow ? PrecisionClass::Full
                                                   : PrecisionClass::Operands;
      })
      .Case<ConvolutionOp>([](Operation *) { return PrecisionClass::Low; })
      .Case<SoftmaxOp, NormalizeOp>(
          [](Operation *) { return PrecisionClass::Full; })
      .Case<ConvertOp>([](Operation *) { return PrecisionClass::Fixed; })
      .Default([](Operation *) { return PrecisionClass::Operands; });
}

static bool rounds(UnaryOp op) {
  switch (op.getKind()) {
  case UnaryKind::Abs:
  case UnaryKind::Ceil:
  case UnaryKind::Floor:
  case UnaryKind::IsInf:
  case UnaryKind::IsNan:
  case UnaryKind::Neg:
  case UnaryKind::Not:
  case UnaryKind::Relu:
  case UnaryKind::Round:
  case UnaryKind::Sign:
    return false;
  default:
    return true;
  }
}

/// The remainder with the dividend's sign is a multiple of the last place of
/// both operands; with the divisor's sign a sum may follow.
static bool rounds(BinaryOp op) {
  switch (op.getKind()) {
  case BinaryKind::Max:
  case BinaryKind::Min:
  case BinaryKind::FMod:
    return false;
  default:
    return true;
  }
}

static bool rounds(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Prod;
}

bool roundsResult(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<UnaryOp, BinaryOp>([](auto typed) { return rounds(typed); })
      .Case<ReduceOp, ScanOp, PoolOp>(
          [](auto typed) { return rounds(typed.getKind()); })
      .Case<ConstantOp, SelectOp, MaskOp, KeepFirstOp>(
          [](Operation *) { return false; })
      .Default([](Operation *other) {
        KernelClass kind = cast<KernelOpInterface>(other).getKernelClass();
        return kind != KernelClass::View && kind != KernelClass::Movement;
      });
}

Value convertTo(OpBuilder &builder, Location loc, Value value, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  return builder.createOrFold<ConvertOp>(loc, type.clone(element), value);
}

bool allowsTf32(ModuleOp module) {
  auto precision = module->getAttrOfType<StringAttr>(kPrecision);
  return precision && precision == "tf32";
}

} // namespace autopar
