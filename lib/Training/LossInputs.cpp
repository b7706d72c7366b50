//===- LossInputs.cpp - What a loss is of ---------------------------------===//

#include "LossInputs.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace autopar {

OutputAttr modelOutput(const StepFunction::Result &result) {
  auto output = dyn_cast_or_null<OutputAttr>(result.what);
  return output && output.getRole() == OutputRole::Model ? output
                                                         : OutputAttr();
}

LogicalResult LossInputs::findOutput() {
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
  output = found;
  return success();
}

/// True if `value` is computed of the argument.
static bool dependsOn(Value value, BlockArgument argument) {
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t i = 0; i < reached.size(); ++i)
    if (Operation *op = reached[i].getDefiningOp())
      reached.insert(op->operand_begin(), op->operand_end());
  return reached.contains(argument);
}

/// The data have one array of each name.
LogicalResult LossInputs::checkLabelsName(StringRef name) {
  auto clash = [&](StringRef what) {
    return fail() << "the labels' array is called '" << name << "', and so is "
                  << what << "; name another array in the recipe's 'labels'";
  };
  if (auto fixed =
          module->getAttrOfType<ArrayAttr>(AutoparDialect::kFixedInputs))
    for (auto input : fixed.getAsRange<FixedInputAttr>())
      if (input.getName().getValue() == name)
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
FailureOr<std::string> LossInputs::labelsName(ArrayRef<int64_t> shape) {
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
LogicalResult LossInputs::findLabels() {
  auto shape = row.labelShape(shapeOf(output));
  if (!shape)
    return fail() << "the output is " << output.getType() << "; it takes "
                  << row.shapes;
  FailureOr<std::string> name = labelsName(*shape);
  if (failed(name) || failed(checkLabelsName(*name)))
    return failure();
  Builder builder(module.getContext());
  Type element = row.classes
                     ? builder.getI64Type()
                     : cast<ShapedType>(output.getType()).getElementType();
  BlockArgument input = step.input(*name);
  if (!input) {
    labels = step.addArgument(
        RankedTensorType::get(*shape, element),
        InputAttr::get(module.getContext(), builder.getStringAttr(*name)),
        *name);
    return success();
  }
  auto type = cast<RankedTensorType>(input.getType());
  bool fits = row.classes ? isa<IntegerType>(type.getElementType())
                          : type.getElementType() == element;
  labels = input;
  if (fits && type.getShape() == ArrayRef(*shape))
    return success();
  return fail() << "the output is " << output.getType() << " and the labels '"
                << *name << "' are " << type << "; it takes " << row.shapes
                << "; the recipe's 'labels' names the array";
}

/// A run ends before its first step if a label of its arrays is no class.
void LossInputs::boundLabels(int64_t classes) {
  ArrayRef<int64_t> shape = shapeOf(labels);
  Builder builder(module.getContext());
  std::string text = "labels are classes, 0 to " + std::to_string(classes - 1);
  text += row.ignores ? ", or -100 where none is"
                      : "; " + row.ignoring.str() + " leaves out -100";
  auto input = cast<InputAttr>(step.source(cast<BlockArgument>(labels)));
  auto sizes = builder.getDenseI64ArrayAttr(shape);
  auto starts =
      builder.getDenseI64ArrayAttr(SmallVector<int64_t>(shape.size(), 0));
  auto bounds = module->getAttrOfType<ArrayAttr>(AutoparDialect::kIndexBounds);
  SmallVector<Attribute> all(bounds ? bounds.getValue()
                                    : ArrayRef<Attribute>());
  all.push_back(IndexBoundAttr::get(
      module.getContext(), input.getName(), /*table=*/StringAttr(),
      /*dim=*/IntegerAttr(), builder.getStringAttr(text), classes,
      row.ignores ? builder.getI64IntegerAttr(kIgnoredLabel) : IntegerAttr(),
      sizes, starts, sizes));
  module->setAttr(AutoparDialect::kIndexBounds, builder.getArrayAttr(all));
}

LogicalResult LossInputs::find() {
  if (failed(findOutput()) || failed(findLabels()))
    return failure();
  if (row.classes)
    boundLabels(shapeOf(output)[row.classDim(shapeOf(output).size())]);
  return success();
}

/// The input gets a name that none of the user's has.
void LossInputs::addCountedRows() {
  MLIRContext *context = module.getContext();
  std::string name = "counted_rows";
  while (step.input(name))
    name += "'";
  auto attribute = StringAttr::get(context, name);
  counts = step.addArgument(
      RankedTensorType::get({shapeOf(output)[0]}, IntegerType::get(context, 1)),
      InputAttr::get(context, attribute), name);
  module->setAttr(AutoparDialect::kCountedRows, attribute);
}

void LossInputs::widen(TensorBuilder &b) {
  Type f32 = b.builder.getF32Type();
  bool isNarrow = cast<ShapedType>(output.getType()).getElementTypeBitWidth() <
                  f32.getIntOrFloatBitWidth();
  if (isNarrow)
    output = b.convert(output, f32);
  if (row.classes)
    labels = b.convert(labels, b.builder.getI64Type());
  else if (isNarrow)
    labels = b.convert(labels, f32);
}

void LossInputs::align(TensorBuilder &b) {
  labels = row.targets(b, labels);
  if (counts)
    row.leaveOut(b, counts, output, labels);
}

Value LossInputs::countTerms(TensorBuilder &b) const {
  Type i32 = b.builder.getI32Type();
  if (row.classes)
    return b.sum(
        b.convert(b.compare(ComparePredicate::Ne, labels, kIgnoredLabel), i32));
  ArrayRef<int64_t> shape = shapeOf(output);
  if (!counts)
    return b.scalar(i32, double(row.terms(shape)));
  Value rows = b.sum(b.convert(counts, i32));
  return b.mul(rows, double(row.terms(shape)) / double(shape[0]));
}

} // namespace autopar
