//===- GraphBuilder.cpp - A function under construction -------------------===//

#include "GraphBuilder.h"

using namespace mlir;

namespace autopar::property {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

int64_t elementCount(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

static Type elementOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType();
}

GraphBuilder::GraphBuilder(ModuleOp module, StringRef name, Random &random,
                           Type element, bool onlyParameters)
    : builder(module.getContext()), loc(builder.getUnknownLoc()),
      random(random), module(module), element(element),
      onlyParameters(onlyParameters) {
  builder.setInsertionPointToEnd(module.getBody());
  func =
      func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(func.addEntryBlock());
}

SmallVector<int64_t> GraphBuilder::randomShape(int64_t minRank,
                                               int64_t maxRank) {
  static const int64_t sizes[] = {1, 2, 3, 4, 4, 5, 6, 6, 7, 8};
  if (random.chance(80))
    maxRank = std::min(maxRank, std::max<int64_t>(minRank, 4));
  SmallVector<int64_t> shape(random.between(minRank, maxRank));
  for (int64_t &size : shape)
    size = random.pick(ArrayRef<int64_t>(sizes));
  while (elementCount(shape) > kMaxElements / 2)
    shape[random.below(shape.size())] = 2;
  return shape;
}

Value GraphBuilder::newArgument(RankedTensorType type) {
  MLIRContext *context = builder.getContext();
  unsigned index = func.getNumArguments();
  bool parameter = onlyParameters || random.chance(50);
  std::string name = (parameter ? "w" : "x") + std::to_string(index) +
                     (onlyParameters ? "s" : "");
  auto nameAttr = builder.getStringAttr(name);
  Attribute source = InputAttr::get(context, nameAttr);
  if (parameter)
    source = ParameterAttr::get(context, nameAttr, /*file_shape=*/{},
                                builder.getStringAttr("model.onnx"), -1,
                                type.getNumElements(),
                                /*constant=*/false);
  auto attributes = builder.getDictionaryAttr(
      builder.getNamedAttr(AutoparDialect::kSource, source));
  if (failed(func.insertArgument(index, type, attributes, loc)))
    llvm::report_fatal_error("cannot add an argument");
  values.push_back(func.getArgument(index));
  return values.back();
}

void GraphBuilder::addSetupResult(RankedTensorType type) {
  unsigned index = func.getNumArguments();
  auto attributes = builder.getDictionaryAttr(
      builder.getNamedAttr(AutoparDialect::kSource,
                           SetupResultAttr::get(builder.getContext(), index)));
  if (failed(func.insertArgument(index, type, attributes, loc)))
    llvm::report_fatal_error("cannot add an argument");
  values.push_back(func.getArgument(index));
}

int64_t GraphBuilder::opCount() {
  return std::distance(func.front().begin(), func.front().end());
}

Value GraphBuilder::pick(Type of, int64_t minRank, int64_t maxRank) {
  SmallVector<Value> suitable;
  for (Value value : values) {
    int64_t rank = shapeOf(value).size();
    if (elementOf(value) == of && rank >= minRank && rank <= maxRank)
      suitable.push_back(value);
  }
  if (suitable.empty() || random.chance(15))
    return newArgument(
        type(randomShape(std::max<int64_t>(minRank, 1), maxRank), of));
  // Recent values more often: long chains find more than wide ones.
  int64_t last = suitable.size() - 1;
  return suitable[std::max(random.below(last + 1), random.below(last + 1))];
}

Value GraphBuilder::pickOf(RankedTensorType type) {
  SmallVector<Value> suitable;
  for (Value value : values)
    if (value.getType() == type)
      suitable.push_back(value);
  if (suitable.empty() || random.chance(20))
    return newArgument(type);
  return random.pick(ArrayRef<Value>(suitable));
}

Value GraphBuilder::bounded(Value value) {
  return UnaryOp::create(builder, loc, value.getType(), UnaryKind::Tanh, value);
}

Value GraphBuilder::splat(RankedTensorType type, double value) {
  return ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          type, Attribute(builder.getFloatAttr(type.getElementType(), value))));
}

/// Inputs and what only moves their elements.
bool GraphBuilder::isExact(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    bool moves = isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp>(op);
    if (!moves)
      return false;
    value = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(value);
  return !isa<SetupResultAttr>(
      func.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource));
}

SmallVector<Type> GraphBuilder::finish() {
  SmallVector<Value> results;
  int percent = random.chance(50) ? 5 : 40;
  for (Operation &op : func.front())
    for (Value result : op.getResults())
      if (result.use_empty() || kept.contains(result) || random.chance(percent))
        results.push_back(result);
  func::ReturnOp::create(builder, loc, results);
  SmallVector<Type> types(ValueRange(results).getTypes());
  func.setType(builder.getFunctionType(func.getArgumentTypes(), types));
  MLIRContext *context = builder.getContext();
  for (size_t i = 0; i < results.size(); ++i) {
    auto name =
        builder.getStringAttr((onlyParameters ? "s" : "y") + std::to_string(i));
    func.setResultAttr(i, AutoparDialect::kResult,
                       onlyParameters
                           ? Attribute(SetupValueAttr::get(context, name))
                           : Attribute(OutputAttr::get(context, name)));
  }
  return types;
}

} // namespace autopar::property
