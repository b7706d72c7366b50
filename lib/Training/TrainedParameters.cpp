//===- TrainedParameters.cpp - Which parameters are trained ---------------===//

#include "TrainedParameters.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Support/Names.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace autopar {

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}

static ParameterAttr parameterOf(StepFunction &step, BlockArgument argument) {
  return dyn_cast_or_null<ParameterAttr>(step.source(argument));
}

/// Returns whether each element of the results is an element of an operand,
/// perhaps of another type.
static bool movesElements(Operation *op) {
  if (isa<ConvertOp>(op))
    return true;
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return kernel && (kernel.getKernelClass() == KernelClass::View ||
                    kernel.getKernelClass() == KernelClass::Movement ||
                    kernel.getLoopRole() == LoopRole::Spread);
}

namespace {

/// Tells parameters that a training changes from tables of constants, as the
/// frequencies of a rotary embedding that are multiplied with all positions.
class DefaultParameters {
public:
  explicit DefaultParameters(StepFunction &step);
  SmallVector<BlockArgument> find();

private:
  bool isTable(Operation *op) const;
  bool isTrained(BlockArgument argument);
  bool meetsInput(BlockArgument parameter);
  static bool hasOperandIn(Operation *op, const DenseSet<Value> &values) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return values.contains(operand);
    });
  }

  StepFunction &step;
  DictionaryAttr told;       // by the file; null: nothing
  DenseSet<Value> dependent; // on an input
  /// Whose elements differ, from constants of the model.
  DenseSet<Value> tables;
};

} // namespace

/// Integers are a table's numbers once they are converted; until then they only
/// say which elements an op takes.
bool DefaultParameters::isTable(Operation *op) const {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return !constant.getValue().isSplat();
  if (isa<IotaOp>(op))
    return true;
  bool isOfFloats = op->getNumResults() > 0 && isFloat(op->getResult(0)) &&
                    !isa<ConvertOp>(op);
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return tables.contains(operand) && (!isOfFloats || isFloat(operand));
  });
}

DefaultParameters::DefaultParameters(StepFunction &step)
    : step(step), told(step.function->getParentOfType<ModuleOp>()
                           ->getAttrOfType<DictionaryAttr>(
                               AutoparDialect::kModuleTensors)) {
  for (BlockArgument argument : step.body().getArguments()) {
    ParameterAttr parameter = parameterOf(step, argument);
    if (!parameter)
      dependent.insert(argument);
    else if (parameter.getConstant() || !isFloat(argument))
      tables.insert(argument);
  }
  for (Operation &op : step.body().without_terminator()) {
    if (isTable(&op))
      tables.insert(op.result_begin(), op.result_end());
    if (hasOperandIn(&op, dependent))
      dependent.insert(op.result_begin(), op.result_end());
  }
}

/// Returns whether a parameter still is one after the op, though a table meets
/// it there: it is added to it (a mask), or the op is a layer that has it as
/// weight.
static bool isWeightBeside(Operation *op, BlockArgument parameter) {
  if (auto binary = dyn_cast<BinaryOp>(op))
    return binary.getKind() == BinaryKind::Add ||
           binary.getKind() == BinaryKind::Sub;
  auto kernel = dyn_cast<KernelOpInterface>(op);
  bool isMatrix =
      llvm::count_if(cast<ShapedType>(parameter.getType()).getShape(),
                     [](int64_t size) { return size > 1; }) > 1;
  return isMatrix && kernel &&
         kernel.getKernelClass() == KernelClass::Contraction;
}

bool DefaultParameters::meetsInput(BlockArgument parameter) {
  llvm::SmallSetVector<Value, 8> reached;
  reached.insert(parameter);
  auto isOtherTable = [&](Value operand) {
    return isFloat(operand) && tables.contains(operand) &&
           !reached.contains(operand);
  };
  for (unsigned i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      // The parts of a function decide, not the function itself.
      if (isa<FunctionOp>(user) && use.getOperandNumber() > 0)
        continue;
      if (hasOperandIn(user, dependent))
        return true;
      if (movesElements(user) || isWeightBeside(user, parameter) ||
          llvm::none_of(user->getOperands(), isOtherTable))
        reached.insert(user->result_begin(), user->result_end());
    }
  return false;
}

/// Returns whether the argument is trained: as the file says if it lists its
/// module's parameters, otherwise by the graph.
bool DefaultParameters::isTrained(BlockArgument argument) {
  ParameterAttr parameter = parameterOf(step, argument);
  if (!parameter || parameter.getConstant() || !isFloat(argument))
    return false;
  if (told)
    if (auto isParameter = told.getAs<BoolAttr>(parameter.getName()))
      return isParameter.getValue();
  // A parameter that only outputs without a loss read is reported, like others
  // without a gradient.
  return cast<ShapedType>(argument.getType()).getRank() > 0 &&
         (argument.use_empty() || meetsInput(argument));
}

SmallVector<BlockArgument> DefaultParameters::find() {
  SmallVector<BlockArgument> trained;
  for (BlockArgument argument : step.body().getArguments())
    if (isTrained(argument))
      trained.push_back(argument);
  return trained;
}

static FailureOr<SmallVector<BlockArgument>>
findNamed(StepFunction &step, ArrayRef<std::string> names) {
  SmallVector<StringRef> known;
  llvm::StringMap<BlockArgument> parameters;
  for (BlockArgument argument : step.body().getArguments())
    if (ParameterAttr parameter = parameterOf(step, argument)) {
      known.push_back(parameter.getName());
      parameters[parameter.getName()] = argument;
    }
  llvm::SmallSetVector<BlockArgument, 16> trained;
  for (const std::string &name : names) {
    BlockArgument argument = parameters.lookup(name);
    if (!argument)
      return step.function.emitError()
             << "recipe: trainable: the model has no tensor '" << name
             << "' of floats"
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

FailureOr<SmallVector<BlockArgument>> findTrained(StepFunction &step,
                                                  const Recipe &recipe) {
  FailureOr<SmallVector<BlockArgument>> trained =
      recipe.trainable ? findNamed(step, *recipe.trainable)
                       : DefaultParameters(step).find();
  if (succeeded(trained) && trained->empty())
    return step.function.emitError()
           << "recipe: no parameter is trained"
           << (recipe.trainable
                   ? ""
                   : ": no initializer of floats of rank 1 or above meets an "
                     "input; name tensors in 'trainable'");
  return trained;
}

} // namespace autopar
