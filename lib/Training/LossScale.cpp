//===- LossScale.cpp - Gradients that fit into a narrow type --------------===//

#include "LossScale.h"

using namespace mlir;

namespace autopar {

static constexpr llvm::StringLiteral kScale = "loss_scale/scale";
static constexpr llvm::StringLiteral kFiniteSteps = "loss_scale/finite_steps";

/// The defaults of torch.amp.GradScaler.
static constexpr double kGrowth = 2, kBackoff = 0.5;
static constexpr int64_t kGrowthInterval = 2000;

/// A scalar state that stays as it is until its next value is set.
static Value addState(StepFunction &step, Type type, StringRef name,
                      Attribute initial) {
  auto source = StateAttr::get(type.getContext(),
                               StringAttr::get(type.getContext(), name),
                               initial, StateRole::LossScale);
  Value state = step.addArgument(RankedTensorType::get({}, type), source, name);
  step.results.push_back({state, source.next()});
  return state;
}

Value addLossScale(StepFunction &step, TensorBuilder &b, const Recipe &recipe) {
  if (!recipe.lossScale.dynamic)
    return lossScaleOf(step, b, recipe);
  addState(step, b.builder.getI64Type(), kFiniteSteps,
           b.builder.getI64IntegerAttr(0));
  return addState(step, b.builder.getF32Type(), kScale,
                  b.builder.getF64FloatAttr(recipe.lossScale.initial));
}

Value lossScaleOf(StepFunction &step, TensorBuilder &b, const Recipe &recipe) {
  if (recipe.lossScale.dynamic)
    return step.state(kScale, StateRole::LossScale);
  return numberOf(step, recipe, "loss_scale", recipe.lossScale.initial)
      .scalarOf(b, b.builder.getF32Type());
}

void updateLossScale(StepFunction &step, TensorBuilder &b, Value finite) {
  Value scale = step.state(kScale, StateRole::LossScale);
  Value count = step.state(kFiniteSteps, StateRole::LossScale);
  Value more = b.binary(BinaryKind::Add, count, 1);
  Value grows = b.compare(ComparePredicate::Ge, more, double(kGrowthInterval));
  Value grown = b.mul(scale, kGrowth);
  // It stays below infinity.
  Value fits = b.compare(ComparePredicate::Le, grown,
                         double(std::numeric_limits<float>::max()));
  Value raised = b.select(b.binary(BinaryKind::And, grows, fits), grown, scale);
  step.setNext(kScale, StateRole::LossScale,
               b.select(finite, raised, b.mul(scale, kBackoff)));
  Value none = b.splatLike(count, 0);
  step.setNext(kFiniteSteps, StateRole::LossScale,
               b.select(finite, b.select(grows, none, more), none));
}

} // namespace autopar
