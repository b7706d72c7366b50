//===- KeepTrainedStates.cpp - Parameters that another entry trains -------===//

#include "StepFunction.h"
#include "autopar/Training/Passes.h"
#include "autopar/Training/TrainedStates.h"
#include "mlir/AsmParser/AsmParser.h"

namespace autopar {
#define GEN_PASS_DEF_KEEPTRAINEDSTATES
#include "autopar/Training/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {

TrainedStates trainedStatesOf(ModuleOp module) {
  TrainedStates trained;
  auto step = module.lookupSymbol<func::FuncOp>("step");
  for (BlockArgument argument : step.getArguments()) {
    auto state = step.getArgAttrOfType<StateAttr>(argument.getArgNumber(),
                                                  AutoparDialect::kSource);
    if (!state || state.getRole() != StateRole::Model ||
        !isa<ParameterAttr>(state.getInitial()))
      continue;
    std::string type;
    llvm::raw_string_ostream(type) << argument.getType();
    trained.types[state.getName().str()] = type;
  }
  return trained;
}

DictionaryAttr toAttribute(const TrainedStates &trained, MLIRContext *context) {
  NamedAttrList types;
  for (const auto &[name, type] : trained.types)
    types.set(name, TypeAttr::get(parseType(type, context)));
  return types.getDictionary(context);
}

namespace {
struct KeepTrainedStates : impl::KeepTrainedStatesBase<KeepTrainedStates> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    auto trained =
        module->getAttrOfType<DictionaryAttr>(AutoparDialect::kTrainedStates);
    auto function = module.lookupSymbol<func::FuncOp>("step");
    if (!trained || !function)
      return;
    StepFunction step(function);
    for (BlockArgument argument : step.body().getArguments())
      if (failed(keep(step, argument, trained)))
        return signalPassFailure();
    step.finish();
  }

  /// A state of its own name that stays as it is.
  LogicalResult keep(StepFunction &step, BlockArgument argument,
                     DictionaryAttr trained) {
    auto source = dyn_cast_or_null<ParameterAttr>(step.source(argument));
    auto type = source ? trained.getAs<TypeAttr>(source.getName()) : TypeAttr();
    if (!type)
      return success();
    if (type.getValue() != argument.getType())
      return step.function.emitError()
             << "parameter '" << source.getName().getValue() << "' is "
             << argument.getType() << " here and " << type.getValue()
             << " where it is trained: the two cannot have it in common; "
                "compile the evaluation for itself";
    step.setSource(argument,
                   StateAttr::get(&getContext(), source.getName(), source));
    step.setNext(source.getName().getValue(), StateRole::Model, argument);
    return success();
  }
};
} // namespace

} // namespace autopar
