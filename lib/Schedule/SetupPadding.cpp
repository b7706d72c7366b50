//===- SetupPadding.cpp - Constants padded once ---------------------------===//

#include "SetupPadding.h"
#include "PersistentTable.h"
#include "autopar/Dialect/Shapes.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace autopar {

BlockArgument constantOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func =
      argument
          ? dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp())
          : func::FuncOp();
  if (func && isa_and_nonnull<ParameterAttr, SetupResultAttr>(func.getArgAttr(
                  argument.getArgNumber(), AutoparDialect::kSource)))
    return argument;
  return {};
}

/// A type that the sharding cuts into the padded blocks; null: none.
RankedTensorType SetupPadding::globalType(Value padded,
                                          ShardingAttr sharding) const {
  Sharding cut = sharding.toSharding(mesh);
  SmallVector<int64_t> global;
  for (auto [size, dim] : llvm::zip_equal(shapeOf(padded), cut.dims))
    global.push_back(size * mesh.product(dim.subAxes));
  if (ArrayRef(localShape(global, cut, mesh)) != shapeOf(padded))
    return {};
  return cast<RankedTensorType>(padded.getType()).clone(global);
}

/// Finds @setup, or makes one if there is none. It returns false if @setup has
/// no result for the argument.
bool SetupPadding::findSetup(BlockArgument argument) {
  std::string name = ("setup_" + Twine(stageOf(step))).str();
  setup = module.lookupSymbol<func::FuncOp>(name);
  if (auto result = dyn_cast<SetupResultAttr>(
          attribute(argument, AutoparDialect::kSource)))
    return setup && result.getIndex() >= 0 &&
           result.getIndex() < int64_t(setup.getNumResults());
  if (setup)
    return true;
  OpBuilder builder(step);
  setup = func::FuncOp::create(builder, step.getLoc(), name,
                               builder.getFunctionType({}, {}));
  if (Attribute stage = step->getAttr(AutoparDialect::kStage))
    setup->setAttr(AutoparDialect::kStage, stage);
  builder.setInsertionPointToEnd(setup.addEntryBlock());
  func::ReturnOp::create(builder, step.getLoc());
  return true;
}

/// Returns whether one op alone reads the setup value.
bool SetupPadding::readsAlone(BlockArgument argument) {
  Attribute source = attribute(argument, AutoparDialect::kSource);
  return isa<SetupResultAttr>(source) && argument.hasOneUse() &&
         llvm::none_of(step.getArguments(), [&](BlockArgument other) {
           return other != argument &&
                  attribute(other, AutoparDialect::kSource) == source;
         });
}

/// The value in @setup that is the same constant.
Value SetupPadding::inSetup(BlockArgument argument) {
  Attribute source = attribute(argument, AutoparDialect::kSource);
  if (auto result = dyn_cast<SetupResultAttr>(source))
    return setupEnd()->getOperand(result.getIndex());
  auto same = [&](unsigned number, StringRef name) {
    return setup.getArgAttr(number, name) == attribute(argument, name);
  };
  unsigned count = setup.getNumArguments();
  for (unsigned number = 0; number < count; ++number)
    if (same(number, AutoparDialect::kSource) &&
        same(number, AutoparDialect::kSharding))
      return setup.getArgument(number);
  (void)setup.insertArgument(count, argument.getType(),
                             step.getArgAttrDict(argument.getArgNumber()),
                             argument.getLoc());
  return setup.getArgument(count);
}

/// A name that no value of @setup has.
StringAttr SetupPadding::nameOf(BlockArgument argument) {
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < setup.getNumResults(); ++i)
    if (auto value = setup.getResultAttrOfType<SetupValueAttr>(
            i, AutoparDialect::kResult))
      taken.insert(value.getName().getValue());
  std::string base;
  Attribute source = attribute(argument, AutoparDialect::kSource);
  if (auto parameter = dyn_cast<ParameterAttr>(source))
    base = parameter.getName().str();
  else if (auto value = setup.getResultAttrOfType<SetupValueAttr>(
               cast<SetupResultAttr>(source).getIndex(),
               AutoparDialect::kResult))
    base = value.getName().str();
  std::string name = base + "/aligned";
  for (unsigned i = 1; taken.contains(name); ++i)
    name = base + "/aligned/" + std::to_string(i);
  return StringAttr::get(module.getContext(), name);
}

/// Puts `value` in the place of a setup value that nothing else reads.
void SetupPadding::replace(BlockArgument argument, Value value,
                           RankedTensorType global) {
  auto source =
      cast<SetupResultAttr>(attribute(argument, AutoparDialect::kSource));
  auto type = TypeAttr::get(global);
  setupEnd()->setOperand(source.getIndex(), value);
  setup.setResultAttr(source.getIndex(), AutoparDialect::kGlobalType, type);
  argument.setType(value.getType());
  step.setArgAttr(argument.getArgNumber(), AutoparDialect::kGlobalType, type);
}

/// Makes `value` a setup value beside the constant, and returns the step's
/// argument for it.
Value SetupPadding::append(BlockArgument argument, Value value,
                           RankedTensorType global) {
  Builder builder(module.getContext());
  auto entry = [&](StringRef name, Attribute what) {
    return builder.getDictionaryAttr(
        {builder.getNamedAttr(name, what),
         builder.getNamedAttr(AutoparDialect::kGlobalType,
                              TypeAttr::get(global)),
         builder.getNamedAttr(AutoparDialect::kSharding,
                              attribute(argument, AutoparDialect::kSharding))});
  };
  unsigned result = setup.getNumResults(), number = step.getNumArguments();
  auto what = SetupValueAttr::get(module.getContext(), nameOf(argument));
  setupEnd()->insertOperands(result, value);
  (void)setup.insertResult(result, value.getType(),
                           entry(AutoparDialect::kResult, what));
  (void)step.insertArgument(
      number, value.getType(),
      entry(AutoparDialect::kSource,
            SetupResultAttr::get(module.getContext(), result)),
      argument.getLoc());
  return step.getArgument(number);
}

void SetupPadding::move(Operation *pad) {
  BlockArgument argument = constantOf(pad->getOperand(0));
  auto sharding = argument ? dyn_cast_or_null<ShardingAttr>(
                                 attribute(argument, AutoparDialect::kSharding))
                           : ShardingAttr();
  RankedTensorType global =
      sharding ? globalType(pad->getResult(0), sharding) : RankedTensorType();
  if (!global || !findSetup(argument))
    return;
  OpBuilder builder(setupEnd());
  IRMapping map;
  map.map(argument, inSetup(argument));
  Value value = builder.clone(*pad, map)->getResult(0), read = argument;
  if (readsAlone(argument))
    replace(argument, value, global);
  else
    read = append(argument, value, global);
  pad->getResult(0).replaceAllUsesWith(read);
  pad->erase();
  if (argument.use_empty()) // a parameter that @setup alone reads now
    (void)step.eraseArgument(argument.getArgNumber());
  for (func::FuncOp func : {setup, step})
    func.setType(builder.getFunctionType(
        func.getBody().front().getArgumentTypes(),
        func.getBody().front().getTerminator()->getOperandTypes()));
}

} // namespace autopar
