//===- Differentiate.cpp - @step returns the gradients --------------------===//
//
// Reverse mode: each value's gradient is complete once all its uses were
// visited, which is when the walk from the last op to the first one meets its
// op.
//
//===----------------------------------------------------------------------===//

#include "LossScale.h"
#include "ParameterGroups.h"
#include "UnreachedParameters.h"
#include "autopar/Dialect/TensorBuilder.h"
#include "autopar/Interfaces/Derivative.h"
#include "autopar/Support/Names.h"
#include "autopar/Training/Passes.h"

namespace autopar {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Reverse mode
//===----------------------------------------------------------------------===//

namespace {

class ReverseMode {
public:
  /// `marksFunctions` marks the ops that are built for an op's derivative as
  /// one function.
  ReverseMode(OpBuilder &builder, ArrayRef<BlockArgument> parameters,
              bool marksFunctions)
      : builder(builder), active(parameters.begin(), parameters.end()),
        marksFunctions(marksFunctions) {}

  /// The gradients of `loss` times `factor`, a scalar of its type, by the
  /// parameters; null where it does not depend on one.
  FailureOr<SmallVector<Value>> run(Block &body, Value loss, Value factor,
                                    ArrayRef<BlockArgument> parameters);
  bool hasGradient(Value value) const { return gradients.contains(value); }

private:
  void findActive(Block &body, Value loss);
  LogicalResult visit(Operation *op);
  void add(Value to, Value gradient);
  Value asFunction(Value gradient, Operation *op, ArrayRef<Value> ofResults,
                   Operation *before);
  void name(Operation *origin, Operation *before);

  OpBuilder &builder;
  /// Floats that depend on a parameter; those of ops, the loss on them, too.
  DenseSet<Value> active;
  llvm::DenseMap<Value, Value> gradients;
  bool marksFunctions;
};

} // namespace

void ReverseMode::findActive(Block &body, Value loss) {
  for (Operation &op : body.without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value operand) { return active.contains(operand); }))
      for (Value result : op.getResults())
        if (isa<FloatType>(getElementTypeOrSelf(result)))
          active.insert(result);
}

void ReverseMode::add(Value to, Value gradient) {
  Value &sum = gradients[to];
  sum = sum ? BinaryOp::create(builder, builder.getUnknownLoc(),
                               BinaryKind::Add, sum, gradient)
            : gradient;
}

/// `gradient`, which was built since `before`, as one function of what the op's
/// derivative may read.
Value ReverseMode::asFunction(Value gradient, Operation *op,
                              ArrayRef<Value> ofResults, Operation *before) {
  Operation *last = gradient.getDefiningOp();
  if (!last || last == before || last->isBeforeInBlock(before) ||
      last == before->getNextNode())
    return gradient;
  SmallVector<Value> inputs;
  for (Value value : llvm::concat<const Value>(
           ofResults, llvm::to_vector(op->getOperands()),
           llvm::to_vector<1>(ValueRange(op->getResults()))))
    if (value && isa<FloatType>(getElementTypeOrSelf(value)))
      inputs.push_back(value);
  return FunctionOp::create(builder, builder.getUnknownLoc(),
                            gradient.getType(), gradient, inputs, StringAttr(),
                            DictionaryAttr());
}

/// Names the ops that were built since `before` after the op that they derive.
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
      add(operand, marksFunctions ? asFunction(gradient, op, ofResults, before)
                                  : gradient);
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

/// The gradient's source says what the parameter's does, also that of one
/// that became a state.
static GradientAttr gradientOf(const StepFunction &step,
                               BlockArgument parameter) {
  Attribute source = step.source(parameter);
  if (auto state = dyn_cast<StateAttr>(source))
    source = state.getInitial();
  auto initial = cast<ParameterAttr>(source);
  return GradientAttr::get(source.getContext(), initial.getName(),
                           initial.getFileShape());
}

LogicalResult Differentiate::derive(const TrainedModule &trained) {
  StepFunction step(trained.step);
  auto loss = llvm::find_if(step.results, [](const auto &result) {
    auto output = dyn_cast_or_null<OutputAttr>(result.what);
    return output && output.getRole() == OutputRole::Loss;
  });
  if (loss == step.results.end())
    return step.function.emitError()
           << "has no output 'loss'; run autopar-add-loss first";
  auto parameters = findUnfrozen(step, trained.recipe);
  if (failed(parameters))
    return failure();
  OpBuilder builder = step.builder();
  Value ofLoss = loss->value;
  TensorBuilder b(builder, ofLoss.getLoc());
  Value factor = b.convert(addLossScale(step, b, trained.recipe),
                           cast<ShapedType>(ofLoss.getType()).getElementType());
  bool marksFunctions =
      step.function->getParentOp()->hasAttr(AutoparDialect::kCheckNumerics);
  ReverseMode reverse(builder, *parameters, marksFunctions);
  auto gradients = reverse.run(step.body(), ofLoss, factor, *parameters);
  if (failed(gradients))
    return failure();
  keepUnreached(step, *parameters, ofLoss,
                [&](Value value) { return reverse.hasGradient(value); });
  bool isReached =
      llvm::any_of(*gradients, [](Value gradient) { return bool(gradient); });
  if (!isReached)
    step.function.emitWarning()
        << "no parameter is trained: no gradient of the loss reaches one";
  for (auto [parameter, gradient] : llvm::zip_equal(*parameters, *gradients)) {
    GradientAttr what = gradientOf(step, parameter);
    if (!isReached) // a step without gradients is none of a training
      gradient = TensorBuilder(builder, NameLoc::get(what.getName()))
                     .splat(cast<RankedTensorType>(parameter.getType()), 0);
    if (gradient)
      step.results.push_back({gradient, what});
  }
  step.finish();
  return success();
}

} // namespace autopar
