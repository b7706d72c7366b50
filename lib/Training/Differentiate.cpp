//===- Differentiate.cpp - @step returns the gradients --------------------===//
//
// Reverse mode: each value's gradient is complete once all its uses were
// visited, which is when the walk from the last op to the first one meets its
// op.
//
//===----------------------------------------------------------------------===//

#include "LossScale.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Interfaces/Derivative.h"
#include "autopar/Support/Names.h"
#include "autopar/Training/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

namespace autopar {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {

static bool isFloat(Value value) {
  return isa<FloatType>(cast<ShapedType>(value.getType()).getElementType());
}

//===----------------------------------------------------------------------===//
// Reverse mode
//===----------------------------------------------------------------------===//

namespace {

class ReverseMode {
public:
  ReverseMode(OpBuilder &builder, ArrayRef<BlockArgument> parameters)
      : builder(builder), active(parameters.begin(), parameters.end()) {}

  /// The gradients of `loss` times `factor`, a scalar of its type, by the
  /// parameters; null where it does not depend on one.
  FailureOr<SmallVector<Value>> run(Block &body, Value loss, Value factor,
                                    ArrayRef<BlockArgument> parameters);

private:
  void findActive(Block &body, Value loss);
  LogicalResult visit(Operation *op);
  void add(Value to, Value gradient);
  void name(Operation *origin, Operation *before);

  OpBuilder &builder;
  /// Floats that depend on a parameter; those of ops, the loss on them, too.
  DenseSet<Value> active;
  llvm::DenseMap<Value, Value> gradients;
};

} // namespace

void ReverseMode::findActive(Block &body, Value loss) {
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return active.contains(operand); }))
      for (Value result : op.getResults())
        if (isFloat(result))
          active.insert(result);
}

void ReverseMode::add(Value to, Value gradient) {
  Value &sum = gradients[to];
  sum = sum ? BinaryOp::create(builder, builder.getUnknownLoc(),
                               BinaryKind::Add, sum, gradient)
            : gradient;
}

/// What was built since `before` is named after the op that it derives from.
void ReverseMode::name(Operation *origin, Operation *before) {
  std::string text = (nodeName(origin->getLoc()) + "/gradient").str();
  Location loc = NameLoc::get(builder.getStringAttr(text));
  Block::iterator end = builder.getInsertionPoint();
  for (Block::iterator it = std::next(before->getIterator()); it != end; ++it)
    it->setLoc(loc);
}

LogicalResult ReverseMode::visit(Operation *op) {
  SmallVector<Value> ofResults;
  for (Value result : op->getResults())
    ofResults.push_back(gradients.lookup(result));
  SmallVector<bool> wanted;
  for (Value operand : op->getOperands())
    wanted.push_back(active.contains(operand));
  if (llvm::none_of(ofResults, [](Value value) { return bool(value); }) ||
      !llvm::is_contained(wanted, true))
    return success();
  auto derivative = dyn_cast<DerivativeOpInterface>(op);
  if (!derivative)
    return op->emitError()
           << "node '" << nodeName(op->getLoc()) << "' cannot be trained "
           << "through: " << op->getName() << " has no derivative; leave the "
           << "parameters before it out of the recipe's 'trainable'";
  Operation *before = &*std::prev(builder.getInsertionPoint());
  auto ofOperands = derivative.differentiate(builder, ofResults, wanted);
  if (failed(ofOperands))
    return failure();
  for (auto [operand, gradient, isWanted] :
       llvm::zip_equal(op->getOperands(), *ofOperands, wanted))
    if (gradient && isWanted)
      add(operand, gradient);
  name(op, before);
  return success();
}

FailureOr<SmallVector<Value>>
ReverseMode::run(Block &body, Value loss, Value factor,
                 ArrayRef<BlockArgument> parameters) {
  findActive(body, loss);
  SmallVector<Operation *> forward;
  for (Operation &op : body.without_terminator())
    forward.push_back(&op);
  if (active.contains(loss))
    gradients[loss] = factor;
  for (Operation *op : llvm::reverse(forward))
    if (failed(visit(op)))
      return failure();
  return llvm::map_to_vector(parameters, [&](BlockArgument parameter) {
    return gradients.lookup(parameter);
  });
}

//===----------------------------------------------------------------------===//
// What is trained
//===----------------------------------------------------------------------===//

/// Values of `body` that depend on an input.
static DenseSet<Value> dependentValues(StepFunction &step) {
  DenseSet<Value> dependent;
  for (BlockArgument argument : step.body().getArguments())
    if (!isa_and_nonnull<ParameterAttr>(step.source(argument)))
      dependent.insert(argument);
  for (Operation &op : step.body().without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          return dependent.contains(operand);
        }))
      dependent.insert(op.result_begin(), op.result_end());
  return dependent;
}

/// Whether each element of the results is an element of an operand, perhaps of
/// another type.
static bool movesElements(Operation *op) {
  if (isa<ConvertOp>(op))
    return true;
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && (kernel.getKernelClass() == KernelClass::View ||
                    kernel.getKernelClass() == KernelClass::Movement ||
                    kernel.getLoopRole() == LoopRole::Spread);
}

/// Whether the parameter, perhaps moved, is an operand of an op of which
/// another operand depends on an input: a weight, a bias, a scale, a table.
static bool isInParameterSlot(BlockArgument parameter,
                              const DenseSet<Value> &dependent) {
  llvm::SmallSetVector<Value, 8> reached;
  reached.insert(parameter);
  for (unsigned i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (llvm::any_of(user->getOperands(), [&](Value operand) {
            return dependent.contains(operand);
          }))
        return true;
      if (movesElements(user))
        reached.insert(user->result_begin(), user->result_end());
    }
  return false;
}

/// By default: float initializers of rank 1 and above in a parameter slot.
static SmallVector<BlockArgument> defaultTrainable(StepFunction &step) {
  DenseSet<Value> dependent = dependentValues(step);
  SmallVector<BlockArgument> trained;
  for (BlockArgument argument : step.body().getArguments())
    if (isa_and_nonnull<ParameterAttr>(step.source(argument)) &&
        isFloat(argument) &&
        cast<ShapedType>(argument.getType()).getRank() > 0 &&
        isInParameterSlot(argument, dependent))
      trained.push_back(argument);
  return trained;
}

static FailureOr<SmallVector<BlockArgument>>
findTrainable(StepFunction &step, const Recipe &recipe) {
  if (!recipe.trainable)
    return defaultTrainable(step);
  SmallVector<StringRef> known;
  llvm::StringMap<BlockArgument> parameters;
  for (BlockArgument argument : step.body().getArguments())
    if (auto parameter =
            dyn_cast_or_null<ParameterAttr>(step.source(argument))) {
      known.push_back(parameter.getName());
      parameters[parameter.getName()] = argument;
    }
  llvm::SmallSetVector<BlockArgument, 16> trained;
  for (const std::string &name : *recipe.trainable) {
    BlockArgument argument = parameters.lookup(name);
    if (!argument)
      return step.function.emitError()
             << "recipe: trainable: the model has no initializer '" << name
             << "' that is a tensor"
             << nearestNames(name, known.size(),
                             [&](size_t i) { return known[i]; });
    if (!isFloat(argument))
      return step.function.emitError()
             << "recipe: trainable: '" << name << "' is " << argument.getType();
    if (!trained.insert(argument))
      return step.function.emitError()
             << "recipe: trainable: '" << name << "' is there twice";
  }
  return SmallVector<BlockArgument>(trained.getArrayRef());
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct Differentiate : impl::DifferentiateBase<Differentiate> {
  void runOnOperation() final {
    auto trained = trainedModule(getOperation());
    if (failed(trained) || (*trained && failed(derive(**trained))))
      signalPassFailure();
  }

private:
  static LogicalResult derive(const TrainedModule &trained);
};
} // namespace

LogicalResult Differentiate::derive(const TrainedModule &trained) {
  StepFunction step(trained.step);
  auto loss = llvm::find_if(step.results, [](const auto &result) {
    auto output = dyn_cast_or_null<OutputAttr>(result.what);
    return output && output.getName() == "loss";
  });
  if (loss == step.results.end())
    return step.function.emitError()
           << "has no output 'loss'; run autopar-add-loss first";
  auto parameters = findTrainable(step, trained.recipe);
  if (failed(parameters))
    return failure();
  if (parameters->empty())
    return step.function.emitError()
           << "recipe: the model has no parameter to train";
  OpBuilder builder = step.builder();
  Value ofLoss = loss->value;
  TensorBuilder b(builder, ofLoss.getLoc());
  // By the number of blocks that add up, times the scale.
  Value factor =
      b.convert(b.mul(addLossScale(step, b, trained.recipe.lossScale),
                      1.0 / double(trained.recipe.accumulation)),
                cast<ShapedType>(ofLoss.getType()).getElementType());
  auto gradients = ReverseMode(builder, *parameters)
                       .run(step.body(), ofLoss, factor, *parameters);
  if (failed(gradients))
    return failure();
  for (auto [parameter, gradient] : llvm::zip_equal(*parameters, *gradients)) {
    StringAttr name = cast<ParameterAttr>(step.source(parameter)).getName();
    if (!gradient)
      gradient = TensorBuilder(builder, NameLoc::get(name))
                     .splat(cast<RankedTensorType>(parameter.getType()), 0);
    step.results.push_back(
        {gradient, GradientAttr::get(name.getContext(), name)});
  }
  step.finish();
  return success();
}

} // namespace autopar
