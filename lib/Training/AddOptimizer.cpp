//===- AddOptimizer.cpp - @step updates what it trains --------------------===//

#include "LearningRate.h"
#include "LossScale.h"
#include "Optimizers.h"
#include "StepFunction.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Training/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {
#define GEN_PASS_DEF_ADDOPTIMIZER
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {
namespace {

/// The state that counts the steps.
constexpr StringLiteral kStep = "optimizer/step";

/// A parameter and its gradient.
struct Trained {
  BlockArgument parameter;
  StringAttr name;
  Value gradient;
};

class OptimizerBuilder {
public:
  OptimizerBuilder(const Recipe &recipe, func::FuncOp function)
      : recipe(recipe), step(function), builder(step.builder()),
        b(builder, locationOf("optimizer")) {}
  LogicalResult run();

private:
  Location locationOf(const Twine &name) {
    return NameLoc::get(builder.getStringAttr(name));
  }
  LogicalResult findTrained();
  LogicalResult findDecayed();
  Value addState(StringRef name, RankedTensorType type, Attribute initial);
  void setNext(StringRef name, StateRole role, Value value);
  LogicalResult unscale();
  void addOutput(OutputRole role, Value value);
  Value globalNorm();
  void clip(Value norm);
  void update(const Trained &item, StepScalars scalars);

  const Recipe &recipe;
  StepFunction step;
  OpBuilder builder;
  TensorBuilder b; // of what all parameters share
  std::vector<Trained> trained;
  llvm::StringSet<> decayed;
  Value finite; // whether the step is not skipped; null: it never is
};

} // namespace

LogicalResult OptimizerBuilder::findTrained() {
  llvm::StringMap<BlockArgument> parameters;
  for (BlockArgument argument : step.body().getArguments())
    if (auto parameter = dyn_cast_or_null<ParameterAttr>(step.source(argument)))
      parameters[parameter.getName()] = argument;
  for (const StepFunction::Result &result : step.results)
    if (auto gradient = dyn_cast_or_null<GradientAttr>(result.what)) {
      BlockArgument parameter = parameters.lookup(gradient.getName());
      if (!parameter)
        return step.function.emitError() << "has no parameter for " << gradient;
      trained.push_back({parameter, gradient.getName(), result.value});
    }
  return success();
}

/// The parameters that weights decay of.
LogicalResult OptimizerBuilder::findDecayed() {
  llvm::StringSet<> known;
  for (const Trained &item : trained)
    known.insert(item.name.getValue());
  const auto &named = recipe.optimizer.weightDecayParameters;
  for (const std::string &name : named.value_or(std::vector<std::string>()))
    if (!known.contains(name))
      return step.function.emitError()
             << "recipe: optimizer: weight_decay_parameters: '" << name
             << "' is not trained";
    else
      decayed.insert(name);
  if (!named)
    decayed = known;
  return success();
}

Value OptimizerBuilder::addState(StringRef name, RankedTensorType type,
                                 Attribute initial) {
  return step.addArgument(type,
                          StateAttr::get(builder.getContext(),
                                         builder.getStringAttr(name), initial,
                                         StateRole::Optimizer),
                          name);
}

/// A step that is skipped leaves the state as it is.
void OptimizerBuilder::setNext(StringRef name, StateRole role, Value value) {
  if (finite) {
    TensorBuilder own(builder, value.getLoc());
    value = own.select(own.broadcast(finite, shapeOf(value)), value,
                       step.state(name, role));
  }
  step.setNext(name, role, value);
}

/// Divides the gradients by the scale that the loss had.
LogicalResult OptimizerBuilder::unscale() {
  if (recipe.lossScale.isOne())
    return success();
  Value inverse = lossScaleOf(step, b, recipe.lossScale);
  inverse = b.div(b.splatLike(inverse, 1), inverse);
  for (Trained &item : trained) {
    TensorBuilder own(builder, locationOf(item.name.getValue() + "/unscale"));
    Type element = cast<ShapedType>(item.gradient.getType()).getElementType();
    if (element.isF16())
      return step.function.emitError()
             << "recipe: loss_scale: the gradient of '" << item.name.getValue()
             << "' would not fit into f16 without the scale; export the model "
                "with fp32 parameters, of which \"precision\": \"fp16\" "
                "computes in fp16";
    Value factor =
        own.broadcast(own.convert(inverse, element), shapeOf(item.gradient));
    Value scaled = std::exchange(item.gradient, own.mul(item.gradient, factor));
    for (StepFunction::Result &result : step.results)
      if (isa_and_nonnull<GradientAttr>(result.what) && result.value == scaled)
        result.value = item.gradient;
  }
  return success();
}

void OptimizerBuilder::addOutput(OutputRole role, Value value) {
  step.results.push_back({value, OutputAttr::get(builder.getContext(), role)});
}

/// The root of the sum of squares of all gradients: one sum over a vector of
/// them, which is one all-reduce where shards hold parts of them. Rows come
/// first, for threads to share.
Value OptimizerBuilder::globalNorm() {
  SmallVector<Value> squares;
  for (const Trained &item : trained) {
    TensorBuilder own(builder, locationOf(item.name.getValue() + "/norm"));
    Value wide = own.convert(item.gradient, builder.getF32Type());
    auto inRow = llvm::to_vector(
        llvm::seq<int64_t>(1, std::max<size_t>(1, shapeOf(wide).size())));
    Value rows = own.reduce(ReduceKind::Sum, own.mul(wide, wide), inRow);
    squares.push_back(own.reshape(own.sum(rows), {1}));
  }
  return b.unary(UnaryKind::Sqrt, b.sum(b.concat(squares, 0)));
}

/// All gradients by min(1, clip/(norm + 1e-6)), as
/// torch.nn.utils.clip_grad_norm_, then each element into [-clip, clip].
void OptimizerBuilder::clip(Value norm) {
  Value factor;
  if (recipe.clipGlobalNorm) {
    Value above = b.binary(BinaryKind::Add, norm, 1e-6);
    factor =
        b.binary(BinaryKind::Min,
                 b.div(b.splatLike(norm, *recipe.clipGlobalNorm), above), 1);
  }
  for (Trained &item : trained) {
    TensorBuilder own(builder, locationOf(item.name.getValue() + "/clip"));
    Type element = cast<ShapedType>(item.gradient.getType()).getElementType();
    if (factor)
      item.gradient =
          own.mul(item.gradient, own.broadcast(own.convert(factor, element),
                                               shapeOf(item.gradient)));
    if (recipe.clipValue)
      item.gradient = own.binary(
          BinaryKind::Max,
          own.binary(BinaryKind::Min, item.gradient, *recipe.clipValue),
          -*recipe.clipValue);
  }
}

void OptimizerBuilder::update(const Trained &item, StepScalars scalars) {
  auto stateName = [&](StringRef name) {
    return (item.name.getValue() + "/" + name).str();
  };
  auto add = [&](StringRef name, RankedTensorType type, double fill) {
    return addState(stateName(name), type, builder.getF64FloatAttr(fill));
  };
  auto next = [&](StringRef name, Value value) {
    setNext(stateName(name), StateRole::Optimizer, value);
  };
  TensorBuilder own(builder, locationOf(item.name.getValue() + "/update"));
  Update update(own, recipe.optimizer, scalars, item.parameter, item.gradient,
                decayed.contains(item.name.getValue()), add, next);
  Value value = findOptimizer(recipe.optimizer.kind)->update(update);
  step.setSource(item.parameter, StateAttr::get(builder.getContext(), item.name,
                                                step.source(item.parameter)));
  setNext(item.name.getValue(), StateRole::Model, value);
}

LogicalResult OptimizerBuilder::run() {
  if (failed(findTrained()) || failed(findDecayed()))
    return failure();
  if (trained.empty())
    return step.function.emitError()
           << "returns no gradients; run autopar-differentiate first";
  Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  Value number = addState(kStep, RankedTensorType::get({}, i64),
                          builder.getI64IntegerAttr(0));
  if (failed(unscale()))
    return failure();
  Value norm = globalNorm();
  Value rate = learningRate(b, recipe, number);
  addOutput(OutputRole::GradNorm, norm);
  addOutput(OutputRole::LearningRate, rate);
  if (!recipe.lossScale.isOne()) {
    finite = b.compare(ComparePredicate::Le, norm,
                       double(std::numeric_limits<float>::max()));
    addOutput(OutputRole::LossScale, lossScaleOf(step, b, recipe.lossScale));
    addOutput(OutputRole::Skipped, b.unary(UnaryKind::Not, finite));
  }
  if (recipe.lossScale.dynamic)
    updateLossScale(step, b, finite);
  clip(norm);
  Value next = b.binary(BinaryKind::Add, number, 1);
  for (const Trained &item : trained)
    update(item, {rate, b.convert(next, f64)});
  setNext(kStep, StateRole::Optimizer, next);
  step.finish();
  return success();
}

namespace {
struct AddOptimizer : impl::AddOptimizerBase<AddOptimizer> {
  void runOnOperation() final {
    auto trained = trainedModule(getOperation());
    if (failed(trained) ||
        (*trained &&
         failed(OptimizerBuilder((*trained)->recipe, (*trained)->step).run())))
      signalPassFailure();
  }
};
} // namespace

} // namespace autopar
