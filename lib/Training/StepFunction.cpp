//===- StepFunction.cpp - @step while it is extended ----------------------===//

#include "StepFunction.h"

using namespace mlir;

namespace autopar {

StepFunction::StepFunction(func::FuncOp function) : function(function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    sources.push_back(function.getArgAttr(i, AutoparDialect::kSource));
  for (auto [i, value] : llvm::enumerate(body().getTerminator()->getOperands()))
    results.push_back(
        {value, function.getResultAttr(i, AutoparDialect::kResult)});
}

OpBuilder StepFunction::builder() { return OpBuilder(body().getTerminator()); }

Value StepFunction::addArgument(RankedTensorType type, Attribute source,
                                StringRef name) {
  sources.push_back(source);
  return body().addArgument(
      type, NameLoc::get(StringAttr::get(type.getContext(), name)));
}

BlockArgument StepFunction::input(StringRef name) {
  for (BlockArgument argument : body().getArguments())
    if (auto input = dyn_cast_or_null<InputAttr>(source(argument));
        input && input.getName() == name)
      return argument;
  return {};
}

BlockArgument StepFunction::state(StringRef name, StateRole role) {
  for (BlockArgument argument : body().getArguments())
    if (auto state = dyn_cast_or_null<StateAttr>(source(argument));
        state && state.getName() == name && state.getRole() == role)
      return argument;
  return {};
}

void StepFunction::setNext(StringRef name, StateRole role, Value value) {
  MLIRContext *context = function.getContext();
  auto what = NextStateAttr::get(context, StringAttr::get(context, name), role);
  for (Result &result : results)
    if (result.what == what) {
      result.value = value;
      return;
    }
  results.push_back({value, what});
}

void StepFunction::finish() {
  Operation *end = body().getTerminator();
  SmallVector<Value> returned;
  for (const Result &result : results)
    returned.push_back(result.value);
  end->setOperands(returned);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body())))
    if (isOpTriviallyDead(&op))
      op.erase();
  Builder builder(function.getContext());
  auto attributes = [&](StringRef name, Attribute value) {
    return value ? builder.getDictionaryAttr(builder.getNamedAttr(name, value))
                 : builder.getDictionaryAttr({});
  };
  function.setType(builder.getFunctionType(body().getArgumentTypes(),
                                           ValueRange(returned).getTypes()));
  function.setAllArgAttrs(llvm::map_to_vector(sources, [&](Attribute source) {
    return attributes(AutoparDialect::kSource, source);
  }));
  function.setAllResultAttrs(
      llvm::map_to_vector(results, [&](const Result &result) {
        return attributes(AutoparDialect::kResult, result.what);
      }));
}

FailureOr<std::optional<TrainedModule>> trainedModule(ModuleOp module) {
  FailureOr<RecipeAttr> recipe = findRecipe(module, AutoparDialect::kRecipe);
  if (failed(recipe))
    return failure();
  if (!*recipe)
    return std::optional<TrainedModule>();
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (!step || step.isExternal())
    return module.emitError()
           << AutoparDialect::kRecipe << ": there is no @step to train";
  return std::optional(TrainedModule{recipe->getRecipe(), step});
}

} // namespace autopar
