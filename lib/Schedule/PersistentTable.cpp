//===- PersistentTable.cpp - What is outside the arena, by index ----------===//

#include "PersistentTable.h"

using namespace mlir;

namespace autopar {

bool isSetup(func::FuncOp func) {
  for (unsigned result = 0; result < func.getNumResults(); ++result)
    if (isa_and_nonnull<SetupValueAttr>(
            func.getResultAttr(result, AutoparDialect::kResult)))
      return true;
  return false;
}

DescribedTensor::DescribedTensor(DictionaryAttr attributes) {
  if (!attributes)
    return;
  what = attributes.get(AutoparDialect::kSource);
  if (!what)
    what = attributes.get(AutoparDialect::kResult);
  if (auto type = attributes.getAs<TypeAttr>(AutoparDialect::kGlobalType))
    whole = cast<RankedTensorType>(type.getValue());
  sharding = attributes.getAs<ShardingAttr>(AutoparDialect::kSharding);
}

static PersistentAttr rowOf(const DescribedTensor &tensor, Type type) {
  return PersistentAttr::get(type.getContext(), tensor.what,
                             cast<ShapedType>(type), tensor.whole,
                             tensor.sharding, /*constant=*/false);
}

FailureOr<int64_t> PersistentTable::argument(func::FuncOp func,
                                             BlockArgument argument) {
  Stage &stage = stages[stageOf(func)];
  DescribedTensor described(func.getArgAttrDict(argument.getArgNumber()));
  if (auto setup = dyn_cast_or_null<SetupResultAttr>(described.what)) {
    auto it = stage.setupValues.find(setup.getIndex());
    if (it != stage.setupValues.end())
      return it->second;
    return func.emitError()
           << "argument " << argument.getArgNumber() << " is setup result "
           << setup.getIndex() << ", which the stage's setup does not have";
  }
  if (!isa_and_nonnull<ParameterAttr, InputAttr, StateAttr>(described.what))
    return func.emitError() << "argument " << argument.getArgNumber()
                            << " does not say where it comes from: give it "
                            << AutoparDialect::kSource;
  Attribute entry = rowOf(described, argument.getType());
  auto [it, isNew] = stage.arguments.try_emplace(entry, stage.entries.size());
  if (isNew)
    stage.entries.push_back(entry);
  return it->second;
}

int64_t PersistentTable::addSetupValue(func::FuncOp func, unsigned number) {
  Stage &stage = stages[stageOf(func)];
  stage.entries.push_back(rowOf(DescribedTensor(func.getResultAttrDict(number)),
                                func.getFunctionType().getResult(number)));
  return stage.entries.size() - 1;
}

void PersistentTable::nameResult(func::FuncOp func, unsigned number,
                                 int64_t index) {
  stages[stageOf(func)].setupValues[number] = index;
}

ArrayAttr PersistentTable::toAttribute(MLIRContext *context) const {
  SmallVector<Attribute> table;
  int64_t count = stages.empty() ? 0 : stages.rbegin()->first + 1;
  for (int64_t stage = 0; stage < count; ++stage) {
    auto it = stages.find(stage);
    table.push_back(ArrayAttr::get(context, it == stages.end()
                                                ? ArrayRef<Attribute>()
                                                : it->second.entries));
  }
  return ArrayAttr::get(context, table);
}

} // namespace autopar
