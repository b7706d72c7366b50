//===- VerifyProgram.cpp - What a program's functions and tables say ------===//
//
// Replays see one function at a time, while Lowering also reads the module's
// tables about all functions. This pass compares the functions with the tables.
//
//===----------------------------------------------------------------------===//

#include "autopar/Cost/TargetNames.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_VERIFYPROGRAM
#include "autopar/Schedule/Passes.h.inc"

namespace {

class Program {
public:
  explicit Program(ModuleOp module) : module(module) {}
  LogicalResult verify();

private:
  LogicalResult verifyModule();
  LogicalResult findFunctions();
  LogicalResult readTable();
  template <typename Held>
  FailureOr<Held> read(Operation *at, Attribute attribute, StringRef list);
  FailureOr<std::vector<PortAttr>> list(func::FuncOp func, StringRef name);
  LogicalResult verifyStage(int64_t stage);
  LogicalResult verifyPlace(func::FuncOp func, PortAttr port);
  LogicalResult verifyArgument(func::FuncOp func, PortAttr port,
                               ArrayRef<PortAttr> setupResults);
  LogicalResult verifyNext(func::FuncOp func, PortAttr port);
  LogicalResult verifyBuffers(func::FuncOp func);
  LogicalResult verifyWrites(int64_t stage);

  ModuleOp module;
  Mesh mesh;
  std::vector<func::FuncOp> setups, steps;        // by stage
  std::vector<std::vector<PersistentAttr>> table; // by stage
};

} // namespace

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

LogicalResult Program::verifyModule() {
  SmallVector<MeshOp> meshes(module.getOps<MeshOp>());
  if (meshes.size() != 1)
    return module.emitError()
           << "has " << meshes.size() << " meshes; a program has one";
  mesh = meshes.front().getMesh().toMesh();
  for (auto [name, words] :
       {std::pair(AutoparDialect::kTarget, ArrayRef(kTargets)),
        {AutoparDialect::kPrecision, kPrecisions}}) {
    auto word = module->getAttrOfType<StringAttr>(name);
    if (word && !llvm::is_contained(words, word.getValue()))
      return module.emitError()
             << name << " is none of " << llvm::join(words, ", ");
  }
  return success();
}

/// `@setup_s`, which may be absent, and `@step_s` of all stages.
LogicalResult Program::findFunctions() {
  auto stages = module->getAttrOfType<IntegerAttr>(AutoparDialect::kStages);
  int64_t count = stages ? stages.getInt() : 1;
  for (int64_t stage = 0; stage < count; ++stage) {
    auto find = [&](StringRef kind) {
      return module.lookupSymbol<func::FuncOp>((kind + Twine(stage)).str());
    };
    setups.push_back(find("setup_"));
    steps.push_back(find("step_"));
    if (!steps.back())
      return module.emitError()
             << "has no function @step_" << stage << " of its " << count
             << (count == 1 ? " stage" : " stages");
    for (func::FuncOp func : {setups.back(), steps.back()})
      if (func && stageOf(func) != stage)
        return func.emitError() << "says that it is of stage " << stageOf(func);
  }
  for (auto func : module.getOps<func::FuncOp>())
    if (!llvm::is_contained(setups, func) && !llvm::is_contained(steps, func))
      return func.emitError()
             << "is no function of a stage: these are @setup_s "
                "and @step_s for s below "
             << count;
  return success();
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// Reads a row of the table or an entry of a function. Its type must be its
/// block of the global type.
template <typename Held>
FailureOr<Held> Program::read(Operation *at, Attribute attribute,
                              StringRef list) {
  auto held = dyn_cast<Held>(attribute);
  if (!held || !held.getGlobalType())
    return at->emitError() << list << " has " << attribute << ", which is no #"
                           << Held::name
                           << " attribute with a global type and a sharding";
  RankedTensorType global = held.getGlobalType();
  if (failed(verifySharding(at, list, held.getSharding(), global)))
    return failure();
  auto expected = RankedTensorType::get(
      localShape(global.getShape(), held.getSharding().toSharding(mesh), mesh),
      global.getElementType());
  if (expected != held.getType())
    return at->emitError() << list << ": an entry has type " << held.getType()
                           << "; its global type and sharding make "
                           << expected;
  return held;
}

LogicalResult Program::readTable() {
  table.resize(steps.size());
  Attribute attribute = module->getAttr(AutoparDialect::kPersistent);
  auto stages = dyn_cast_or_null<ArrayAttr>(attribute);
  if ((attribute && !stages) || (stages && stages.size() > steps.size()))
    return module.emitError() << AutoparDialect::kPersistent
                              << " must be an array of a list per stage";
  for (auto [rows, list] : llvm::zip_first(
           stages ? stages.getValue() : ArrayRef<Attribute>(), table)) {
    if (!isa<ArrayAttr>(rows))
      return module.emitError() << AutoparDialect::kPersistent
                                << " must be an array of a list per stage";
    for (Attribute attribute : cast<ArrayAttr>(rows)) {
      auto row =
          read<PersistentAttr>(module, attribute, AutoparDialect::kPersistent);
      if (failed(row))
        return failure();
      if (isa<InputAttr>(row->getWhat()) &&
          !targetTable(module).readsHeldInputs)
        return module.emitError()
               << AutoparDialect::kPersistent
               << ": the target reads no input where the host holds it";
      list.push_back(*row);
    }
  }
  return success();
}

FailureOr<std::vector<PortAttr>> Program::list(func::FuncOp func,
                                               StringRef name) {
  std::vector<PortAttr> result;
  auto entries = func->getAttrOfType<ArrayAttr>(name);
  for (Attribute attribute :
       entries ? entries.getValue() : ArrayRef<Attribute>()) {
    auto port = read<PortAttr>(func, attribute, name);
    if (failed(port))
      return failure();
    result.push_back(*port);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Checks that the row of a persistent entry has as many bytes; shapes may
/// differ, because a reshape shares its operand's row.
LogicalResult Program::verifyPlace(func::FuncOp func, PortAttr port) {
  if (port.getSpace() == BufferSpace::Arena)
    return success();
  const std::vector<PersistentAttr> &rows = table[stageOf(func)];
  if (port.getPosition() < 0 || port.getPosition() >= int64_t(rows.size()))
    return func.emitError() << "has persistent tensor " << port.getPosition()
                            << " of " << rows.size();
  ShapedType row = rows[port.getPosition()].getType();
  if (row.getElementType() == port.getType().getElementType() &&
      row.getNumElements() == port.getType().getNumElements())
    return success();
  return func.emitError() << "has persistent tensor " << port.getPosition()
                          << " as " << port.getType() << ", but it is " << row;
}

/// Checks an argument: its source and its place must belong together.
LogicalResult Program::verifyArgument(func::FuncOp func, PortAttr port,
                                      ArrayRef<PortAttr> setupResults) {
  if (auto result = dyn_cast_or_null<SetupResultAttr>(port.getWhat())) {
    int64_t index = result.getIndex();
    if (index >= 0 && index < int64_t(setupResults.size()) &&
        setupResults[index].getSpace() == port.getSpace() &&
        setupResults[index].getPosition() == port.getPosition())
      return success();
    return func.emitError() << "has setup result " << index << " as persistent "
                            << "tensor " << port.getPosition()
                            << ", where the stage's setup does not leave it";
  }
  if (port.getSpace() == BufferSpace::Arena) {
    if (isa_and_nonnull<InputAttr>(port.getWhat()))
      return success();
    return func.emitError("has an argument in the arena that is no input");
  }
  PersistentAttr row = table[stageOf(func)][port.getPosition()];
  if (row.getWhat() == port.getWhat() &&
      row.getSharding() == port.getSharding() &&
      row.getGlobalType() == port.getGlobalType())
    return success();
  return func.emitError() << "has persistent tensor " << port.getPosition()
                          << " for " << port.getWhat() << ", but it is "
                          << row.getWhat();
}

LogicalResult Program::verifyBuffers(func::FuncOp func) {
  const std::vector<PersistentAttr> &rows = table[stageOf(func)];
  for (auto buffer : func.getOps<BufferOp>()) {
    if (buffer.getSpace() != BufferSpace::Persistent)
      continue;
    int64_t index = buffer.getPosition();
    MemRefType type = buffer.getType();
    if (index < 0 || index >= int64_t(rows.size()))
      return buffer.emitError()
             << "is persistent tensor " << index << " of " << rows.size();
    ShapedType row = rows[index].getType();
    if (row.getElementType() != type.getElementType() ||
        elementOffset(type) + type.getNumElements() > row.getNumElements())
      return buffer.emitError() << "is persistent tensor " << index << ", of "
                                << "type " << row << ", as " << type;
  }
  return success();
}

/// Checks that setup writes each of its values once.
LogicalResult Program::verifyWrites(int64_t stage) {
  std::map<int64_t, unsigned> writes;
  auto note = [&](Value output) {
    auto buffer = output.getDefiningOp<BufferOp>();
    if (buffer && buffer.getSpace() == BufferSpace::Persistent)
      ++writes[buffer.getPosition()];
  };
  if (setups[stage])
    for (Operation &op : setups[stage].getBody().front()) {
      if (auto kernel = dyn_cast<KernelOp>(op))
        llvm::for_each(kernel.getOutputs(), note);
      else if (isCommunication(&op))
        note(op.getOperands().back());
    }
  for (auto [index, row] : llvm::enumerate(table[stage])) {
    unsigned wanted = isa<SetupValueAttr>(row.getWhat()) ? 1 : 0;
    if (writes[index] != wanted)
      return module.emitError()
             << "persistent tensor " << index << " of stage " << stage
             << (wanted ? " is a setup value that @setup writes "
                        : " is an argument, but @setup writes it ")
             << writes[index] << " times";
  }
  return success();
}

static bool isGoodResult(PortAttr port, bool isStep) {
  if (port.getSpace() == BufferSpace::Arena)
    return isStep && isa_and_nonnull<OutputAttr, GradientAttr>(port.getWhat());
  return isStep ? isa_and_nonnull<NextStateAttr>(port.getWhat())
                : isa_and_nonnull<SetupValueAttr>(port.getWhat());
}

/// Checks that the next value of a state has the state's place and sharding.
LogicalResult Program::verifyNext(func::FuncOp func, PortAttr port) {
  auto next = dyn_cast_or_null<NextStateAttr>(port.getWhat());
  if (!next)
    return success();
  PersistentAttr row = table[stageOf(func)][port.getPosition()];
  auto state = dyn_cast_or_null<StateAttr>(row.getWhat());
  if (state && state.next() == next &&
      row.getSharding() == port.getSharding() &&
      row.getGlobalType() == port.getGlobalType())
    return success();
  return func.emitError() << "has persistent tensor " << port.getPosition()
                          << " for " << port.getWhat() << ", but it is "
                          << row.getWhat() << ", perhaps sharded otherwise";
}

LogicalResult Program::verifyStage(int64_t stage) {
  std::vector<PortAttr> setupResults;
  for (func::FuncOp func : {setups[stage], steps[stage]}) {
    if (!func)
      continue;
    auto arguments = list(func, AutoparDialect::kArguments);
    auto results = list(func, AutoparDialect::kResults);
    if (failed(arguments) || failed(results))
      return failure();
    for (PortAttr port : *arguments)
      if (failed(verifyPlace(func, port)) ||
          failed(verifyArgument(func, port, setupResults)))
        return failure();
    bool isStep = func == steps[stage];
    for (PortAttr port : *results) {
      if (!isGoodResult(port, isStep))
        return func.emitError(isStep ? "has a result that is no output in the "
                                       "arena and no next value of a state"
                                     : "has a result that is no setup value "
                                       "in a persistent tensor");
      if (failed(verifyPlace(func, port)) || failed(verifyNext(func, port)))
        return failure();
    }
    if (failed(verifyBuffers(func)))
      return failure();
    if (!isStep)
      setupResults = std::move(*results);
  }
  return verifyWrites(stage);
}

LogicalResult Program::verify() {
  if (failed(verifyModule()) || failed(findFunctions()) || failed(readTable()))
    return failure();
  for (size_t stage = 0; stage < steps.size(); ++stage)
    if (failed(verifyStage(stage)))
      return failure();
  return success();
}

namespace {
struct VerifyProgram : impl::VerifyProgramBase<VerifyProgram> {
  void runOnOperation() override {
    if (failed(Program(getOperation()).verify()))
      signalPassFailure();
  }
};
} // namespace
} // namespace autopar
