//===- AddOptimizer.cpp - @step updates what it trains --------------------===//

#include "GradientNorm.h"
#include "LearningRate.h"
#include "LossScale.h"
#include "Losses.h"
#include "Optimizers.h"
#include "ParameterGroups.h"
#include "StepFunction.h"
#include "autopar/Dialect/Precision.h"
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
  LogicalResult findGroupsOfTrained();
  Value addState(StringRef name, RankedTensorType type, Attribute initial,
                 StateRole role = StateRole::Optimizer);
  void setNext(StringRef name, StateRole role, Value value);
  LogicalResult unscale();
  void addOutput(OutputRole role, Value value);
  void decideSkip(Value norm);
  void clip(Value norm);
  StepNumber number(StringRef name, double otherwise) {
    return numberOf(step, recipe, name, otherwise);
  }
  StepNumber hyperparameter(const OptimizerRecipe &optimizer, StringRef name,
                            unsigned index = 0);
  LogicalResult checkAtRunTime();
  Value rateOf(const ParameterGroup *group, Value number);
  void update(const TrainedParameter &item, Value rate, Value count);
  void addAverage(const TrainedParameter &item, Attribute initial, Value value,
                  Value count);

  const Recipe &recipe;
  StepFunction step;
  OpBuilder builder;
  TensorBuilder b; // of what all parameters share
  std::vector<TrainedParameter> trained;
  llvm::StringSet<> decayed;
  llvm::StringMap<const ParameterGroup *> groups; // by parameters' names
  bool hasGradients = false;
  Value taken; // whether the step is not skipped; null: it never is
};

} // namespace

LogicalResult OptimizerBuilder::findTrained() {
  llvm::StringMap<BlockArgument> parameters;
  for (BlockArgument argument : step.body().getArguments())
    if (auto parameter = dyn_cast_or_null<ParameterAttr>(step.source(argument)))
      parameters[parameter.getName()] = argument;
  for (const StepFunction::Result &result : step.results)
    if (auto gradient = dyn_cast_or_null<GradientAttr>(result.what)) {
      hasGradients = true;
      BlockArgument parameter = parameters.lookup(gradient.getName());
      if (!parameter && step.state(gradient.getName(), StateRole::Model))
        continue; // it stays
      if (!parameter)
        return step.function.emitError() << "has no parameter for " << gradient;
      trained.push_back({parameter, gradient.getName(), result.value});
    }
  return success();
}

/// The parameters that weights decay of.
LogicalResult OptimizerBuilder::findDecayed() {
  llvm::StringSet<> known;
  for (const TrainedParameter &item : trained)
    known.insert(item.name.getValue());
  const auto &named = recipe.optimizer.weightDecayParameters;
  for (const std::string &name : named.value_or(std::vector<std::string>()))
    if (known.contains(name))
      decayed.insert(name);
    else if (!step.state(
                 name,
                 StateRole::Model)) // one is a parameter that no loss reaches
      return step.function.emitError()
             << "recipe: optimizer: weight_decay_parameters: '" << name
             << "' is not trained"
             << (llvm::StringRef(name).contains('*')
                     ? "; patterns are for 'groups', as in {\"parameters\": "
                       "[\"*.bias\"], \"weight_decay\": 0}"
                     : "");
  if (!named)
    decayed = known;
  return success();
}

LogicalResult OptimizerBuilder::findGroupsOfTrained() {
  SmallVector<StringRef> names;
  for (const TrainedParameter &item : trained)
    names.push_back(item.name);
  auto found = findGroups(recipe, /*frozen=*/false, names, step.function);
  if (failed(found))
    return failure();
  groups = std::move(*found);
  return success();
}

Value OptimizerBuilder::addState(StringRef name, RankedTensorType type,
                                 Attribute initial, StateRole role) {
  return step.addArgument(type,
                          StateAttr::get(builder.getContext(),
                                         builder.getStringAttr(name), initial,
                                         role),
                          name);
}

/// A step that is skipped leaves the state as it is.
void OptimizerBuilder::setNext(StringRef name, StateRole role, Value value) {
  if (taken) {
    TensorBuilder own(builder, value.getLoc());
    value = own.select(own.broadcast(taken, shapeOf(value)), value,
                       step.state(name, role));
  }
  step.setNext(name, role, value);
}

/// Divides the gradients by the scale that the loss had.
LogicalResult OptimizerBuilder::unscale() {
  if (recipe.lossScale.isOne())
    return success();
  Value inverse = lossScaleOf(step, b, recipe);
  inverse = b.div(b.splatLike(inverse, 1), inverse);
  for (TrainedParameter &item : trained) {
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

/// A step changes nothing whose gradients are not finite, where the loss is
/// scaled, or that counts no label.
void OptimizerBuilder::decideSkip(Value norm) {
  if (!recipe.lossScale.isOne()) {
    taken = allFinite(b, trained, norm);
    addOutput(OutputRole::LossScale, lossScaleOf(step, b, recipe));
    if (recipe.lossScale.dynamic)
      updateLossScale(step, b, taken);
  }
  auto counted = llvm::find_if(step.results, [](const auto &result) {
    auto output = dyn_cast_or_null<OutputAttr>(result.what);
    return output && output.getRole() == OutputRole::CountedLabels;
  });
  if (counted != step.results.end()) {
    Value some = b.compare(ComparePredicate::Gt, counted->value, 0.0);
    step.results.erase(counted);
    addOutput(OutputRole::NoLabels, b.unary(UnaryKind::Not, some));
    taken = taken ? b.binary(BinaryKind::And, taken, some) : some;
  }
  if (taken)
    addOutput(OutputRole::Skipped, b.unary(UnaryKind::Not, taken));
}

/// Multiplies all gradients by min(1, clip/(norm + 1e-6)), as
/// torch.nn.utils.clip_grad_norm_ does, and then clips each element to [-clip,
/// clip].
void OptimizerBuilder::clip(Value norm) {
  Value factor;
  if (recipe.clipGlobalNorm) {
    StepNumber most = number("clip_global_norm", *recipe.clipGlobalNorm);
    Value above = b.binary(BinaryKind::Add, norm, 1e-6);
    factor = b.binary(BinaryKind::Min, b.div(most.like(b, norm), above), 1);
  }
  for (TrainedParameter &item : trained) {
    TensorBuilder own(builder, locationOf(item.name.getValue() + "/clip"));
    Type element = cast<ShapedType>(item.gradient.getType()).getElementType();
    if (factor)
      item.gradient =
          own.mul(item.gradient, own.broadcast(own.convert(factor, element),
                                               shapeOf(item.gradient)));
    if (!recipe.clipValue)
      continue;
    StepNumber most = number("clip_value", *recipe.clipValue),
               least = StepNumber(0).combine(b, BinaryKind::Sub, most);
    item.gradient =
        least.applyTo(own, BinaryKind::Max,
                      most.applyTo(own, BinaryKind::Min, item.gradient));
  }
}

/// A group that does not say a number itself has the recipe's.
StepNumber OptimizerBuilder::hyperparameter(const OptimizerRecipe &optimizer,
                                            StringRef name, unsigned index) {
  size_t count = optimizer.values.at(name.str()).size();
  auto known = optimizer.atRunTime.find(elementName(name, index, count));
  double value = optimizer.value(name, index);
  return known == optimizer.atRunTime.end() ? StepNumber(value)
                                            : number(known->second, value);
}

/// The schedule's, from the learning rate of the group, times its scale.
Value OptimizerBuilder::rateOf(const ParameterGroup *group, Value number) {
  const OptimizerRecipe &optimizer =
      group ? group->optimizer : recipe.optimizer;
  Value rate =
      learningRate(b, step, recipe, hyperparameter(optimizer, "lr"), number);
  if (!group)
    return rate;
  size_t place = group - recipe.groups.data();
  StepNumber scale =
      this->number(groupName(place, "lr_scale"), group->rateScale);
  return scale.is(1) ? rate : scale.applyTo(b, BinaryKind::Mul, rate);
}

void OptimizerBuilder::update(const TrainedParameter &item, Value rate,
                              Value count) {
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
  const ParameterGroup *group = groups.lookup(item.name);
  const OptimizerRecipe &optimizer =
      group ? group->optimizer : recipe.optimizer;
  auto find = [&](StringRef name, unsigned index) {
    return hyperparameter(optimizer, name, index);
  };
  Update update(own, optimizer, {rate, count}, item.parameter, item.gradient,
                decayed.contains(item.name.getValue()), find, add, next);
  Value value = findOptimizer(optimizer.kind)->update(update);
  Attribute initial = step.source(item.parameter);
  step.setSource(item.parameter,
                 StateAttr::get(builder.getContext(), item.name, initial));
  setNext(item.name.getValue(), StateRole::Model, value);
  if (recipe.average)
    addAverage(item, initial, value, count);
}

/// Adds the average of torch.optim.swa_utils: average + (1 - decay) * (value -
/// average), or the value itself after the first step.
void OptimizerBuilder::addAverage(const TrainedParameter &item,
                                  Attribute initial, Value value, Value count) {
  TensorBuilder own(builder, locationOf(item.name.getValue() + "/average"));
  StringRef name = item.name.getValue();
  Value old = addState(name, cast<RankedTensorType>(value.getType()), initial,
                       StateRole::Average);
  StepNumber part = number("average", *recipe.average).restToOne(own);
  Value next =
      own.add(old, part.applyTo(own, BinaryKind::Mul, own.sub(value, old)));
  Value isFirst = own.compare(ComparePredicate::Eq, count, 1.0);
  setNext(name, StateRole::Average,
          own.select(own.broadcast(isFirst, shapeOf(value)), value, next));
}

/// Refuses a hyperparameter on which nothing depends: setting it would have no
/// effect.
LogicalResult OptimizerBuilder::checkAtRunTime() {
  for (const RunTimeNumber &each : recipe.atRunTime)
    if (!step.state(each.name, StateRole::Hyperparameter))
      return step.function.emitError()
             << "recipe: at_run_time: the step does not depend on '"
             << each.name << "'; leave it out";
  return success();
}

LogicalResult OptimizerBuilder::run() {
  if (failed(findTrained()) || failed(findDecayed()) ||
      failed(findGroupsOfTrained()))
    return failure();
  if (!hasGradients)
    return step.function.emitError()
           << "returns no gradients; run autopar-differentiate first";
  const ScheduleRecipe &schedule = recipe.schedule;
  if (recipe.steps > 0 && schedule.perStep.empty() &&
      schedule.warmupSteps >= recipe.steps)
    step.function.emitWarning()
        << "recipe: schedule: 'warmup_steps' are " << schedule.warmupSteps
        << " and all 'steps' " << recipe.steps
        << ": the learning rate rises to the end, and 'kind' means nothing";
  Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  Value number = addState(kStep, RankedTensorType::get({}, i64),
                          builder.getI64IntegerAttr(0));
  if (failed(unscale()))
    return failure();
  Value norm = globalNorm(b, trained);
  addOutput(OutputRole::GradNorm, norm);
  addOutput(OutputRole::LearningRate, rateOf(nullptr, number));
  decideSkip(norm);
  clip(norm);
  llvm::DenseMap<const ParameterGroup *, Value> rates;
  Value next = b.binary(BinaryKind::Add, number, 1);
  Value count = b.convert(next, f64);
  for (const TrainedParameter &item : trained) {
    const ParameterGroup *group = groups.lookup(item.name);
    Value &rate = rates[group];
    if (!rate)
      rate = rateOf(group, number);
    update(item, rate, count);
  }
  setNext(kStep, StateRole::Optimizer, next);
  if (failed(checkAtRunTime()))
    return failure();
  step.finish();
  return success();
}

namespace {
struct AddOptimizer : impl::AddOptimizerBase<AddOptimizer> {
  void runOnOperation() final {
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    if (!*trained)
      return;
    const Recipe &recipe = (*trained)->recipe;
    if (failed(OptimizerBuilder(recipe, (*trained)->step).run()))
      return signalPassFailure();
    if (int64_t steps = scheduleSteps(recipe.schedule, recipe.steps))
      getOperation()->setAttr(AutoparDialect::kScheduleSteps,
                              Builder(&getContext()).getI64IntegerAttr(steps));
    if (!recipe.atRunTime.empty())
      getOperation()->setAttr(AutoparDialect::kHyperparameters,
                              rangesOf(recipe, &getContext()));
    if (recipe.narrowGradientSums)
      getOperation()->setAttr(AutoparDialect::kNarrowGradientSums,
                              UnitAttr::get(&getContext()));
  }
};
} // namespace

} // namespace autopar
