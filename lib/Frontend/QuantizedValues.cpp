//===- QuantizedValues.cpp - Numbers as integers of few bits --------------===//

#include "QuantizedValues.h"
#include "ElementTypes.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

IntegerRange rangeOf(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (element.isUnsignedInteger())
    return {0, (int64_t(1) << width) - 1};
  return {-(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1};
}

Value saturate(OnnxNode &node, Value x, Value zero, Type element) {
  Value whole = node.widened(node.unary(UnaryKind::Round, x));
  if (zero)
    whole = node.binary(BinaryKind::Add, whole,
                        node.convert(zero, OnnxNode::elementOf(whole)));
  auto [low, high] = rangeOf(element);
  whole = node.binary(BinaryKind::Max, whole, double(low));
  whole = node.binary(BinaryKind::Min, whole, double(high));
  return node.convert(whole, element);
}

bool isOneNumber(Value value) {
  return OnnxNode::typeOf(value).getNumElements() == 1;
}

Value spreadNumber(OnnxNode &node, Value number, ArrayRef<int64_t> shape) {
  return node.broadcastDims(node.reshape(number, {}), shape, {});
}

LogicalResult requireBytes(OnnxNode &node, ArrayRef<unsigned> inputs) {
  for (unsigned i : inputs) {
    if (!node.has(i))
      continue;
    Type element = OnnxNode::elementOf(node.input(i));
    if (!element.isSignlessInteger(8) && !element.isUnsignedInteger(8))
      return wrongElement(node, i, "must be of type INT8 or UINT8");
  }
  return success();
}

WholeFactor wholeFactor(OnnxNode &node, Value x, Value zero,
                        const std::optional<SmallVector<double>> &known) {
  auto [low, high] = rangeOf(OnnxNode::elementOf(x));
  Type f32 = node.builder.getF32Type();
  WholeFactor factor{node.convert(x, f32), double(high - low)};
  if (!zero || known) {
    factor.most = 0;
    for (double number : known.value_or(SmallVector<double>{0}))
      factor.most =
          std::max({factor.most, double(high) - number, number - double(low)});
  }
  bool isZero = !zero || (known && llvm::all_of(*known, [](double number) {
                            return number == 0;
                          }));
  if (!isZero)
    factor.value =
        node.binary(BinaryKind::Sub, factor.value, node.convert(zero, f32));
  return factor;
}

int64_t exactTerms(const WholeFactor &a, const WholeFactor &b) {
  constexpr double kExactIntegers = 1 << 24; // of f32
  return int64_t(kExactIntegers / std::max(1.0, a.most * b.most));
}

} // namespace autopar
