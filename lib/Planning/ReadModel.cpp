//===- ReadModel.cpp - From a module to the graph that is planned ---------===//

#include "autopar/Planning/ReadModel.h"
#include "GradientSums.h"
#include "OpFacts.h"
#include "autopar/Cost/KernelGroups.h"
#include "autopar/Cost/KernelWork.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Planning/StepRepeats.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Threading.h"
#include "llvm/ADT/TypeSwitch.h"
#include <future>
#include <map>

using namespace mlir;

namespace autopar {

namespace {

/// Builds a ModelGraph, one function after the other.
class ModelReader {
public:
  explicit ModelReader(ModuleOp module)
      : module(module), tf32(allowsTf32(module)) {}
  FailureOr<ModelGraph> read();

private:
  LogicalResult readFunction(func::FuncOp func, bool setup);
  FailureOr<unsigned> readArgument(func::FuncOp func, unsigned index,
                                   bool setup);
  void readFacts();
  LogicalResult readOp(Operation *op, bool setup);
  LogicalResult readResults(func::FuncOp func, bool setup);
  unsigned addValue(Value value, std::string name);
  void readGroups(Block &body, const KernelGroups &groups, size_t firstOp,
                  bool setup);
  void readSteps(const KernelGroups &groups,
                 const llvm::DenseMap<Operation *, size_t> &index);

  ModuleOp module;
  bool tf32 = false;
  ModelGraph graph;
  llvm::DenseMap<Operation *, std::shared_ptr<const GraphOpFacts>> facts;
  llvm::DenseMap<Value, unsigned> ids;
};

} // namespace

static func::FuncOp function(ModuleOp module, StringRef name) {
  return module.lookupSymbol<func::FuncOp>(name);
}

static bool isPlanned(Operation *op) {
  return isa<ShardingRuleOpInterface>(op) && op->getNumResults() > 0;
}

SmallVector<Operation *> plannedOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  for (StringRef name : {"setup", "step"})
    if (func::FuncOp func = function(module, name))
      for (Operation &op : func.front())
        if (isPlanned(&op))
          ops.push_back(&op);
  return ops;
}

unsigned ModelReader::addValue(Value value, std::string name) {
  auto type = cast<RankedTensorType>(value.getType());
  GraphValue item;
  item.name = std::move(name);
  item.shape.assign(type.getShape().begin(), type.getShape().end());
  item.elementBytes =
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  graph.values.push_back(std::move(item));
  return ids[value] = graph.values.size() - 1;
}

static std::string sourceName(Attribute source) {
  return llvm::TypeSwitch<Attribute, std::string>(source)
      .Case<InputAttr, ParameterAttr, StateAttr>(
          [](auto attr) { return attr.getName().str(); })
      .Default([](Attribute) { return ""; });
}

FailureOr<unsigned> ModelReader::readArgument(func::FuncOp func, unsigned index,
                                              bool setup) {
  BlockArgument argument = func.getArgument(index);
  Attribute source = func.getArgAttr(index, AutoparDialect::kSource);
  if (!source)
    return func.emitOpError("argument ")
           << index << " has no " << AutoparDialect::kSource;
  if (auto result = dyn_cast<SetupResultAttr>(source)) {
    size_t position = result.getIndex();
    if (setup || position >= graph.setupResults.size())
      return func.emitOpError("argument ")
             << index << " names setup result " << position
             << ", which does not exist";
    unsigned value = graph.setupResults[position];
    graph.values[value].persistent = true;
    return ids[argument] = value;
  }
  unsigned value = addValue(argument, sourceName(source));
  GraphValue &item = graph.values[value];
  auto state = dyn_cast<StateAttr>(source);
  item.source = sourceOf(func, index);
  if (auto input = dyn_cast<InputAttr>(source))
    item.rowDim = input.getBlocks() && item.shape.size() > 1;
  item.isWeight = state ? isa<ParameterAttr>(state.getInitial())
                        : item.source == ValueSource::Parameter;
  item.setup = setup;
  item.persistent = !setup && item.source != ValueSource::Input;
  return value;
}

/// Computes facts once for all ops that share them.
void ModelReader::readFacts() {
  std::map<std::vector<const void *>, size_t> known;
  SmallVector<Operation *> ops = plannedOps(module), firsts;
  std::vector<size_t> places; // per op, its index in `firsts`
  for (Operation *op : ops) {
    auto [it, isNew] = known.try_emplace(keyOf(op), firsts.size());
    if (isNew)
      firsts.push_back(op);
    places.push_back(it->second);
  }
  std::vector<std::shared_ptr<const GraphOpFacts>> found(firsts.size());
  parallelFor(module.getContext(), 0, firsts.size(), [&](size_t i) {
    found[i] = std::make_shared<const GraphOpFacts>(factsOf(firsts[i], tf32));
  });
  for (auto [op, place] : llvm::zip_equal(ops, places)) {
    assert(isEqual(factsOf(op, tf32), *found[place]) &&
           "the op's facts depend on more than its name, properties and types");
    facts[op] = found[place];
  }
}

static std::string resultName(Operation *op, unsigned result,
                              StringRef opName) {
  if (auto names = op->getAttrOfType<ArrayAttr>(AutoparDialect::kNames))
    if (result < names.size())
      if (auto name = dyn_cast<StringAttr>(names[result]);
          name && !name.getValue().empty())
        return name.str();
  return opName.str() + (result ? ":" + std::to_string(result) : "");
}

static std::string opName(Operation *op) {
  StringRef name = nodeName(op->getLoc());
  return name.empty() ? op->getName().stripDialect().str() : name.str();
}

/// Reads an op with its operands and results.
LogicalResult ModelReader::readOp(Operation *op, bool setup) {
  GraphOp item;
  item.name = opName(op);
  item.facts = facts.lookup(op);
  item.setup = setup;
  if (auto task = op->getAttrOfType<TaskAttr>(AutoparDialect::kTask))
    item.task = task.getValue();
  item.reads.assign(op->getNumOperands(), true);
  item.writes.assign(op->getNumResults(), true);
  for (Value operand : op->getOperands()) {
    auto it = ids.find(operand);
    if (it == ids.end())
      return op->emitOpError("reads a value that no planned op defines");
    item.operands.push_back(it->second);
  }
  for (OpResult result : op->getResults()) {
    unsigned value =
        addValue(result, resultName(op, result.getResultNumber(), item.name));
    graph.values[value].producer = graph.ops.size();
    graph.values[value].resultIndex = result.getResultNumber();
    graph.values[value].setup = setup;
    item.results.push_back(value);
  }
  graph.ops.push_back(std::move(item));
  return success();
}

/// Marks values inside a kernel group, which do not pass through memory; only
/// the root of the group pays for a launch.
void ModelReader::readGroups(Block &body, const KernelGroups &groups,
                             size_t firstOp, bool setup) {
  llvm::DenseMap<Operation *, size_t> index;
  for (Operation &op : body)
    if (isPlanned(&op))
      index[&op] = firstOp++;
  for (const KernelGroup &group : groups.groups) {
    llvm::SmallPtrSet<Operation *, 8> members(group.ops.begin(),
                                              group.ops.end());
    llvm::SmallPtrSet<Value, 8> outputs(group.outputs.begin(),
                                        group.outputs.end());
    for (Operation *op : group.ops) {
      auto it = index.find(op);
      if (it == index.end())
        continue;
      GraphOp &item = graph.ops[it->second];
      item.launches |= op == group.root;
      for (const auto &[position, operand] : llvm::enumerate(op->getOperands()))
        if (Operation *producer = operand.getDefiningOp();
            producer && members.contains(producer))
          item.reads[position] = false;
      for (OpResult result : op->getResults())
        item.writes[result.getResultNumber()] = outputs.contains(result);
    }
  }
  if (!setup)
    readSteps(groups, index);
}

/// Reads the launches of @step in order.
void ModelReader::readSteps(const KernelGroups &groups,
                            const llvm::DenseMap<Operation *, size_t> &index) {
  for (const WorkStep &work : groups.steps) {
    GraphStep step;
    SmallVector<Operation *> ops;
    if (work.group < 0) {
      ops.push_back(work.op);
      if (auto op = index.find(work.op); op != index.end())
        step.view = graph.ops[op->second].facts->kernel == KernelClass::View;
    } else {
      const KernelGroup &group = groups.groups[work.group];
      ops = group.ops;
      if (group.call)
        step.call = group.call->kind;
      if (auto root = index.find(group.root); root != index.end())
        step.root = root->second;
      for (auto [output, input] : group.inPlace)
        step.inPlace.push_back({ids.lookup(group.outputs[output]),
                                ids.lookup(group.inputs[input])});
    }
    for (Operation *op : ops)
      if (auto it = index.find(op); it != index.end())
        step.ops.push_back(it->second);
    if (!step.ops.empty())
      graph.steps.push_back(std::move(step));
  }
}

LogicalResult ModelReader::readResults(func::FuncOp func, bool setup) {
  for (Value operand : func.front().getTerminator()->getOperands()) {
    auto it = ids.find(operand);
    if (it == ids.end())
      return func.emitOpError("returns a value that no planned op defines");
    (setup ? graph.setupResults : graph.stepResults).push_back(it->second);
  }
  for (auto [number, operand] :
       llvm::enumerate(func.front().getTerminator()->getOperands()))
    if (func.getResultAttrOfType<GradientAttr>(number, AutoparDialect::kResult))
      graph.values[ids.lookup(operand)].isGradient = true;
  if (setup)
    return success();
  for (Value sum : gradientSums(func))
    graph.values[ids.lookup(sum)].isNarrowSum = true;
  for (StatePair state : statesOf(func))
    graph.states.push_back({graph.stepArguments[state.argument],
                            graph.stepResults[state.result], state.result});
  return success();
}

LogicalResult ModelReader::readFunction(func::FuncOp func, bool setup) {
  size_t firstOp = graph.ops.size();
  // This runs while the ops are read; an early return waits for it.
  bool isBeside = module.getContext()->isMultithreadingEnabled();
  std::future<KernelGroups> groups =
      std::async(isBeside ? std::launch::async : std::launch::deferred,
                 [&] { return groupKernels(func.front()); });
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    FailureOr<unsigned> value = readArgument(func, i, setup);
    if (failed(value))
      return failure();
    (setup ? graph.setupArguments : graph.stepArguments).push_back(*value);
  }
  auto ops = func.front().without_terminator();
  size_t count = llvm::range_size(ops);
  graph.ops.reserve(firstOp + count);
  graph.values.reserve(graph.values.size() + count);
  for (Operation &op : ops) {
    if (!isPlanned(&op))
      return op.emitOpError("has no sharding rule: it cannot be planned")
             << (isa<FunctionOp>(op) ? "; run autopar-drop-functions" : "");
    if (failed(readOp(&op, setup)))
      return failure();
  }
  readGroups(func.front(), groups.get(), firstOp, setup);
  return readResults(func, setup);
}

FailureOr<ModelGraph> ModelReader::read() {
  if (auto name = module->getAttrOfType<StringAttr>(AutoparDialect::kModel))
    graph.model = name.str();
  if (auto precision =
          module->getAttrOfType<StringAttr>(AutoparDialect::kPrecision))
    graph.precision = precision.str();
  graph.checksNumerics = module->hasAttr(AutoparDialect::kCheckNumerics);
  graph.table = &targetTable(module);
  func::FuncOp step = function(module, "step");
  if (!step || step.isExternal())
    return module.emitError("planning needs a function @step; import a model "
                            "first");
  readFacts();
  if (func::FuncOp setup = function(module, "setup"))
    if (failed(readFunction(setup, /*setup=*/true)))
      return failure();
  if (failed(readFunction(step, /*setup=*/false)))
    return failure();
  finishGraph(graph);
  return std::move(graph);
}

FailureOr<ModelGraph> readModel(ModuleOp module) {
  return ModelReader(module).read();
}

} // namespace autopar
