//===- AddLoss.cpp - @step returns the loss -------------------------------===//

#include "Losses.h"
#include "StepFunction.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Training/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

namespace autopar {
#define GEN_PASS_DEF_ADDLOSS
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {
namespace {

/// Builds the loss of one recipe.
class LossBuilder {
public:
  LossBuilder(const Recipe &recipe, func::FuncOp function)
      : recipe(recipe), row(*findLoss(recipe.loss)), step(function),
        module(function->getParentOfType<ModuleOp>()) {}
  LogicalResult run();

private:
  InFlightDiagnostic fail() {
    return module.emitError() << "recipe: loss " << recipe.loss << ": ";
  }
  FailureOr<Value> findOutput();
  FailureOr<BlockArgument> findLabels(Value output);
  FailureOr<std::string> labelsName(ArrayRef<int64_t> shape);
  LogicalResult checkLabelsName(StringRef name, Value output);
  Value partOfMean(TensorBuilder &b, Value output, Value labels);
  Value countLabels(TensorBuilder &b, Value labels);
  void boundLabels(BlockArgument labels, int64_t classes);

  const Recipe &recipe;
  const LossRow &row;
  StepFunction step;
  ModuleOp module;
};

} // namespace

/// Null where the result is none of the model's outputs.
static OutputAttr modelOutput(const StepFunction::Result &result) {
  auto output = dyn_cast_or_null<OutputAttr>(result.what);
  return output && output.getRole() == OutputRole::Model ? output
                                                         : OutputAttr();
}

FailureOr<Value> LossBuilder::findOutput() {
  SmallVector<StringRef> names;
  Value found;
  for (const StepFunction::Result &result : step.results) {
    OutputAttr output = modelOutput(result);
    if (!output)
      continue;
    names.push_back(output.getName());
    if (recipe.output.empty() || recipe.output == output.getName())
      found = result.value;
  }
  if (!found || (recipe.output.empty() && names.size() > 1))
    return fail() << (found ? "'output' must say which one"
                            : "there is no output '" + recipe.output + "'")
                  << "; the model's outputs: " << llvm::join(names, ", ");
  if (!isa<FloatType>(cast<ShapedType>(found.getType()).getElementType()))
    return fail() << "the output is " << found.getType()
                  << ", which holds no floating-point numbers";
  return found;
}

/// Whether `value` is computed of the argument.
static bool dependsOn(Value value, BlockArgument argument) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i)
    if (Operation *op = reached[i].getDefiningOp())
      reached.insert(op->operand_begin(), op->operand_end());
  return reached.contains(argument);
}

/// The data have one array of each name.
LogicalResult LossBuilder::checkLabelsName(StringRef name, Value output) {
  auto clash = [&](StringRef what) {
    return fail() << "the labels' array is called '" << name << "', and so is "
                  << what << "; name another array in the recipe's 'labels'";
  };
  if (auto fixed = module->getAttrOfType<ArrayAttr>(kFixedInputs))
    for (auto input : fixed.getAsRange<DictionaryAttr>())
      if (input.getAs<StringAttr>("name").getValue() == name)
        return clash("an input that --bind gave a value");
  if (BlockArgument argument = step.state(name, StateRole::Model))
    if (!isa<ParameterAttr>(
            cast<StateAttr>(step.source(argument)).getInitial()))
      return clash("an input that --state makes a state");
  BlockArgument input = step.input(name);
  bool isMeant = !recipe.labels.empty() || row.labelsAreTokens;
  if (isMeant || !input || !dependsOn(output, input))
    return success();
  return clash("an input of the model, which its output depends on")
         << ", or '" << name << "' if the loss takes this one";
}

/// The labels' name in the data. Tokens without one are the only integer input
/// of their shape.
FailureOr<std::string> LossBuilder::labelsName(ArrayRef<int64_t> shape) {
  if (!recipe.labels.empty())
    return recipe.labels;
  if (!row.labelsAreTokens)
    return std::string("labels");
  SmallVector<std::string> names;
  for (BlockArgument argument : step.body().getArguments()) {
    auto input = dyn_cast_or_null<InputAttr>(step.source(argument));
    auto type = cast<RankedTensorType>(argument.getType());
    if (input && type.getShape() == shape &&
        isa<IntegerType>(type.getElementType()))
      names.push_back(input.getName().str());
  }
  if (llvm::is_contained(names, "input_ids"))
    return std::string("input_ids");
  if (names.size() == 1)
    return names.front();
  return fail() << "'labels' must name the tokens; integer inputs of their "
                   "shape: "
                << (names.empty() ? "none" : llvm::join(names, ", "));
}

/// An input of the model, or one more.
FailureOr<BlockArgument> LossBuilder::findLabels(Value output) {
  auto shape = row.labelShape(shapeOf(output));
  if (!shape)
    return fail() << "the output is " << output.getType() << "; it takes "
                  << row.shapes;
  FailureOr<std::string> name = labelsName(*shape);
  if (failed(name) || failed(checkLabelsName(*name, output)))
    return failure();
  Builder builder(module.getContext());
  Type element = row.classes
                     ? builder.getI64Type()
                     : cast<ShapedType>(output.getType()).getElementType();
  BlockArgument input = step.input(*name);
  if (!input)
    return cast<BlockArgument>(step.addArgument(
        RankedTensorType::get(*shape, element),
        InputAttr::get(module.getContext(), builder.getStringAttr(*name)),
        *name));
  auto type = cast<RankedTensorType>(input.getType());
  bool fits = row.classes ? isa<IntegerType>(type.getElementType())
                          : type.getElementType() == element;
  if (fits && type.getShape() == ArrayRef(*shape))
    return input;
  return fail() << "the output is " << output.getType() << " and the labels '"
                << *name << "' are " << type << "; it takes " << row.shapes
                << "; the recipe's 'labels' names the array";
}

/// How many labels count, a scalar of i32, which is one more output.
Value LossBuilder::countLabels(TensorBuilder &b, Value labels) {
  Value isCounted = b.compare(ComparePredicate::Ne, labels, kIgnoredLabel);
  Value count = b.sum(b.convert(isCounted, b.builder.getI32Type()));
  step.results.push_back(
      {count, OutputAttr::get(module.getContext(), OutputRole::CountedLabels)});
  return count;
}

/// What a block adds to the loss of its step: the sum of its terms by the
/// number of all terms of the step, or by that of its own and by the number of
/// blocks. Blocks may count unlike many labels; autopar-accumulate-gradients
/// puts the step's count in the place of the block's. None count as one, so
/// that gradients are zeros.
Value LossBuilder::partOfMean(TensorBuilder &b, Value output, Value labels) {
  Value targets = row.targets(b, labels);
  Value sum = row.sum(b, output, targets);
  double blocks = recipe.accumulation;
  if (!row.ignores)
    return b.mul(sum, 1 / (double(row.terms(shapeOf(output))) * blocks));
  Type element = cast<ShapedType>(sum.getType()).getElementType();
  Value least = b.binary(BinaryKind::Max, countLabels(b, targets), 1);
  Value mean = b.div(sum, b.convert(least, element));
  bool ofBlocks = recipe.accumulation > 1 && !recipe.meansOverStep;
  return ofBlocks ? b.mul(mean, 1 / blocks) : mean;
}

/// A run ends before its first step if a label of its arrays is no class.
void LossBuilder::boundLabels(BlockArgument labels, int64_t classes) {
  ArrayRef<int64_t> shape = shapeOf(labels);
  Builder builder(module.getContext());
  std::string text = "labels are classes, 0 to " + std::to_string(classes - 1);
  text += row.ignores ? ", or -100 where none is"
                      : "; " + row.ignoring.str() + " leaves out -100";
  NamedAttrList bound;
  bound.append("input", cast<InputAttr>(step.source(labels)).getName());
  bound.append("text", builder.getStringAttr(text));
  bound.append("size", builder.getI64IntegerAttr(classes));
  if (row.ignores)
    bound.append("ignored", builder.getI64IntegerAttr(kIgnoredLabel));
  bound.append("shape", builder.getDenseI64ArrayAttr(shape));
  bound.append("starts", builder.getDenseI64ArrayAttr(
                             SmallVector<int64_t>(shape.size(), 0)));
  bound.append("sizes", builder.getDenseI64ArrayAttr(shape));
  auto bounds = module->getAttrOfType<ArrayAttr>(kIndexBounds);
  SmallVector<Attribute> all(bounds ? bounds.getValue()
                                    : ArrayRef<Attribute>());
  all.push_back(bound.getDictionary(module.getContext()));
  module->setAttr(kIndexBounds, builder.getArrayAttr(all));
}

LogicalResult LossBuilder::run() {
  FailureOr<Value> output = findOutput();
  if (failed(output))
    return failure();
  FailureOr<BlockArgument> labels = findLabels(*output);
  if (failed(labels))
    return failure();
  OpBuilder builder = step.builder();
  Location loc = NameLoc::get(builder.getStringAttr("loss"));
  TensorBuilder b(builder, loc);
  Type f32 = builder.getF32Type();
  bool isNarrow = cast<ShapedType>(output->getType()).getElementTypeBitWidth() <
                  f32.getIntOrFloatBitWidth();
  Value wide = isNarrow ? b.convert(*output, f32) : *output;
  Value target = row.classes ? b.convert(*labels, builder.getI64Type())
                 : isNarrow  ? b.convert(*labels, f32)
                             : *labels;
  llvm::erase_if(step.results, [&](const StepFunction::Result &result) {
    return bool(modelOutput(result));
  });
  Value loss = partOfMean(b, wide, target);
  step.results.insert(
      step.results.begin(),
      {loss, OutputAttr::get(module.getContext(), OutputRole::Loss)});
  if (row.classes)
    boundLabels(*labels,
                shapeOf(*output)[row.classDim(shapeOf(*output).size())]);
  step.finish();
  return success();
}

namespace {
struct AddLoss : impl::AddLossBase<AddLoss> {
  void runOnOperation() final {
    auto trained = trainedModule(getOperation());
    if (failed(trained))
      return signalPassFailure();
    if (*trained &&
        failed(LossBuilder((*trained)->recipe, (*trained)->step).run()))
      signalPassFailure();
  }
};
} // namespace

} // namespace autopar
