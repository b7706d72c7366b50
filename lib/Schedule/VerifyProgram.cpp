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
#include "autopar/Schedule/Names.h"
#include "autopar/Schedule/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_VERIFYPROGRAM
#include "autopar/Schedule/Passes.h.inc"

namespace {

/// A row of the persistent table, or an argument or result of a function.
struct Entry {
  ShardingAttr sharding;
  RankedTensorType global, local;
  Attribute what; // parameter, input, setup result, setup value or output
  BufferSpace space = BufferSpace::Persistent;
  int64_t position = 0, value = 0; // of arguments and results
};

class Program {
public:
  explicit Program(ModuleOp module) : module(module) {}
  LogicalResult verify();

private:
  LogicalResult verifyModule();
  LogicalResult findFunctions();
  LogicalResult readTable();
  FailureOr<Entry> read(Operation *at, Attribute attribute, StringRef what);
  FailureOr<std::vector<Entry>> list(func::FuncOp func, StringRef name);
  LogicalResult verifyStage(int64_t stage);
  LogicalResult verifyPlace(func::FuncOp func, const Entry &entry);
  LogicalResult verifyArgument(func::FuncOp func, const Entry &entry,
                               ArrayRef<Entry> setupResults);
  LogicalResult verifyNext(func::FuncOp func, const Entry &entry);
  LogicalResult verifyBuffers(func::FuncOp func);
  LogicalResult verifyWrites(int64_t stage);

  ModuleOp module;
  Mesh mesh;
  std::vector<func::FuncOp> setups, steps; // by stage
  std::vector<std::vector<Entry>> table;   // by stage
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
       {std::pair(kTarget, ArrayRef(kTargets)), {kPrecision, kPrecisions}}) {
    Attribute attribute = module->getAttr(name);
    auto word = dyn_cast_or_null<StringAttr>(attribute);
    if (attribute && !(word && llvm::is_contained(words, word.getValue())))
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

/// Reads the fields that a row of the table and an entry of a function have in
/// common.
FailureOr<Entry> Program::read(Operation *at, Attribute attribute,
                               StringRef what) {
  auto fields = dyn_cast<DictionaryAttr>(attribute);
  auto global = fields ? fields.getAs<TypeAttr>("global_type") : TypeAttr();
  auto local = fields ? fields.getAs<TypeAttr>("type") : TypeAttr();
  Entry entry;
  if (global && local) {
    entry.global = dyn_cast<RankedTensorType>(global.getValue());
    entry.local = dyn_cast<RankedTensorType>(local.getValue());
  }
  if (!entry.global || !entry.local)
    return at->emitError() << what << ": an entry lacks global_type or type";
  for (StringRef name : {"source", "result", "setup_value"})
    if (Attribute found = fields.get(name)) {
      if (entry.what)
        return at->emitError() << what << ": an entry is two things";
      entry.what = found;
    }
  if (failed(verifySharding(at, what, fields.get("sharding"), entry.global)))
    return failure();
  entry.sharding = fields.getAs<ShardingAttr>("sharding");
  auto expected =
      RankedTensorType::get(localShape(entry.global.getShape(),
                                       entry.sharding.toSharding(mesh), mesh),
                            entry.global.getElementType());
  if (expected != entry.local)
    return at->emitError() << what << ": an entry has type " << entry.local
                           << "; its global type and sharding make "
                           << expected;
  return entry;
}

LogicalResult Program::readTable() {
  table.resize(steps.size());
  Attribute attribute = module->getAttr(schedule::kPersistent);
  auto stages = dyn_cast_or_null<ArrayAttr>(attribute);
  if ((attribute && !stages) || (stages && stages.size() > steps.size()))
    return module.emitError()
           << schedule::kPersistent << " must be an array of a list per stage";
  for (auto [rows, list] : llvm::zip_first(
           stages ? stages.getValue() : ArrayRef<Attribute>(), table)) {
    if (!isa<ArrayAttr>(rows))
      return module.emitError() << schedule::kPersistent
                                << " must be an array of a list per stage";
    for (Attribute row : cast<ArrayAttr>(rows)) {
      FailureOr<Entry> entry = read(module, row, schedule::kPersistent);
      if (failed(entry))
        return failure();
      if (!isa_and_nonnull<ParameterAttr, InputAttr, StateAttr, SetupValueAttr>(
              entry->what))
        return module.emitError()
               << schedule::kPersistent
               << ": a row is no parameter, input, state or setup value";
      if (isa<InputAttr>(entry->what) && !targetTable(module).readsHeldInputs)
        return module.emitError()
               << schedule::kPersistent
               << ": the target reads no input where the host holds it";
      list.push_back(*entry);
    }
  }
  return success();
}

FailureOr<std::vector<Entry>> Program::list(func::FuncOp func, StringRef name) {
  std::vector<Entry> result;
  auto entries = func->getAttrOfType<ArrayAttr>(name);
  for (Attribute attribute :
       entries ? entries.getValue() : ArrayRef<Attribute>()) {
    FailureOr<Entry> entry = read(func, attribute, name);
    if (failed(entry))
      return failure();
    auto fields = cast<DictionaryAttr>(attribute);
    auto buffer = fields.getAs<ArrayAttr>("buffer"); // replayMemory knows both
    entry->space = cast<BufferSpaceAttr>(buffer[0]).getValue();
    entry->position = cast<IntegerAttr>(buffer[1]).getInt();
    entry->value = fields.getAs<IntegerAttr>("value").getInt();
    result.push_back(*entry);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Checks that the row of a persistent entry has as many bytes; shapes may
/// differ, because a reshape shares its operand's row.
LogicalResult Program::verifyPlace(func::FuncOp func, const Entry &entry) {
  if (entry.space == BufferSpace::Arena)
    return success();
  const std::vector<Entry> &rows = table[stageOf(func)];
  if (entry.position < 0 || entry.position >= int64_t(rows.size()))
    return func.emitError() << "has persistent tensor " << entry.position
                            << " of " << rows.size();
  RankedTensorType row = rows[entry.position].local;
  if (row.getElementType() == entry.local.getElementType() &&
      row.getNumElements() == entry.local.getNumElements())
    return success();
  return func.emitError() << "has persistent tensor " << entry.position
                          << " as " << entry.local << ", but it is " << row;
}

/// Checks an argument: its source and its place must belong together.
LogicalResult Program::verifyArgument(func::FuncOp func, const Entry &entry,
                                      ArrayRef<Entry> setupResults) {
  if (auto result = dyn_cast_or_null<SetupResultAttr>(entry.what)) {
    int64_t index = result.getIndex();
    if (index >= 0 && index < int64_t(setupResults.size()) &&
        setupResults[index].space == entry.space &&
        setupResults[index].position == entry.position)
      return success();
    return func.emitError() << "has setup result " << index << " as persistent "
                            << "tensor " << entry.position
                            << ", where the stage's setup does not leave it";
  }
  if (entry.space == BufferSpace::Arena) {
    if (isa_and_nonnull<InputAttr>(entry.what))
      return success();
    return func.emitError("has an argument in the arena that is no input");
  }
  const Entry &row = table[stageOf(func)][entry.position];
  if (row.what == entry.what && row.sharding == entry.sharding &&
      row.global == entry.global)
    return success();
  return func.emitError() << "has persistent tensor " << entry.position
                          << " for " << entry.what << ", but it is "
                          << row.what;
}

LogicalResult Program::verifyBuffers(func::FuncOp func) {
  const std::vector<Entry> &rows = table[stageOf(func)];
  for (auto buffer : func.getOps<BufferOp>()) {
    if (buffer.getSpace() != BufferSpace::Persistent)
      continue;
    int64_t index = buffer.getPosition();
    MemRefType type = buffer.getType();
    if (index < 0 || index >= int64_t(rows.size()))
      return buffer.emitError()
             << "is persistent tensor " << index << " of " << rows.size();
    RankedTensorType row = rows[index].local;
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
    unsigned wanted = isa<SetupValueAttr>(row.what) ? 1 : 0;
    if (writes[index] != wanted)
      return module.emitError()
             << "persistent tensor " << index << " of stage " << stage
             << (wanted ? " is a setup value that @setup writes "
                        : " is an argument, but @setup writes it ")
             << writes[index] << " times";
  }
  return success();
}

static bool isGoodResult(const Entry &entry, bool isStep) {
  if (entry.space == BufferSpace::Arena)
    return isStep && isa_and_nonnull<OutputAttr, GradientAttr>(entry.what);
  return isStep ? isa_and_nonnull<NextStateAttr>(entry.what)
                : isa_and_nonnull<SetupValueAttr>(entry.what);
}

/// Checks that the next value of a state has the state's place and sharding.
LogicalResult Program::verifyNext(func::FuncOp func, const Entry &entry) {
  auto next = dyn_cast_or_null<NextStateAttr>(entry.what);
  if (!next)
    return success();
  const Entry &row = table[stageOf(func)][entry.position];
  auto state = dyn_cast_or_null<StateAttr>(row.what);
  if (state && state.next() == next && row.sharding == entry.sharding &&
      row.global == entry.global)
    return success();
  return func.emitError() << "has persistent tensor " << entry.position
                          << " for " << entry.what << ", but it is " << row.what
                          << ", perhaps sharded otherwise";
}

LogicalResult Program::verifyStage(int64_t stage) {
  std::vector<Entry> setupResults;
  for (func::FuncOp func : {setups[stage], steps[stage]}) {
    if (!func)
      continue;
    auto arguments = list(func, schedule::kArguments);
    auto results = list(func, schedule::kResults);
    if (failed(arguments) || failed(results))
      return failure();
    for (const Entry &entry : *arguments)
      if (failed(verifyPlace(func, entry)) ||
          failed(verifyArgument(func, entry, setupResults)))
        return failure();
    bool isStep = func == steps[stage];
    for (const Entry &entry : *results) {
      if (!isGoodResult(entry, isStep))
        return func.emitError(isStep ? "has a result that is no output in the "
                                       "arena and no next value of a state"
                                     : "has a result that is no setup value "
                                       "in a persistent tensor");
      if (failed(verifyPlace(func, entry)) || failed(verifyNext(func, entry)))
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
