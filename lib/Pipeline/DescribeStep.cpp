//===- DescribeStep.cpp - What a step trains and reads, in words ----------===//

#include "DescribeStep.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Frontend/OnnxImporter.h"
#include "autopar/Training/RecipeAttr.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar {

std::set<std::string> trainedNames(func::FuncOp step) {
  std::set<std::string> names;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (auto gradient =
            step.getResultAttrOfType<GradientAttr>(i, AutoparDialect::kResult))
      names.insert(gradient.getName().str());
  return names;
}

std::string describeTraining(ModuleOp module) {
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (!module->hasAttr(AutoparDialect::kRecipe) || !step)
    return "";
  std::string names;
  int64_t tensors = 0, elements = 0;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto gradient =
        step.getResultAttrOfType<GradientAttr>(i, AutoparDialect::kResult);
    if (!gradient)
      continue;
    ++tensors;
    elements += cast<ShapedType>(step.getResultTypes()[i]).getNumElements();
    names += "\n  " + gradient.getName().str();
  }
  std::set<std::string> others;
  module.walk([&](func::FuncOp function) {
    for (BlockArgument argument : function.getArguments())
      if (auto parameter = function.getArgAttrOfType<ParameterAttr>(
              argument.getArgNumber(), AutoparDialect::kSource);
          parameter && isa<FloatType>(getElementTypeOrSelf(argument)))
        others.insert(parameter.getName().str());
  });
  std::string text =
      llvm::formatv("trains       {0} parameters, {1:N} elements{2}\n", tensors,
                    elements, names);
  if (!others.empty())
    text += "leaves       " + std::to_string(others.size()) +
            " other tensors of floats\n  " + llvm::join(others, "\n  ") + "\n";
  if (auto set =
          module->getAttrOfType<ArrayAttr>(AutoparDialect::kHyperparameters)) {
    SmallVector<StringRef> numbers;
    for (auto number : set.getAsRange<HyperparameterAttr>())
      numbers.push_back(number.getName().getValue());
    text += "at run time  " + llvm::join(numbers, ", ") + "\n";
  }
  return text;
}

std::string describeInputs(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto step = module.lookupSymbol<func::FuncOp>("step");
  for (BlockArgument argument : step.getArguments()) {
    auto input = step.getArgAttrOfType<InputAttr>(argument.getArgNumber(),
                                                  AutoparDialect::kSource);
    if (!input)
      continue;
    auto type = cast<RankedTensorType>(argument.getType());
    os << (text.empty() ? "" : ", ") << input.getName().getValue() << ' '
       << type.getElementType() << '[';
    llvm::interleaveComma(type.getShape(), os);
    os << ']';
  }
  if (auto fixed =
          module->getAttrOfType<ArrayAttr>(AutoparDialect::kFixedInputs))
    for (auto input : fixed.getAsRange<FixedInputAttr>())
      os << (text.empty() ? "" : ", ") << input.getName().getValue() << " = "
         << input.getText().getValue();
  return text;
}

} // namespace autopar
