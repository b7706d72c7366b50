//===- SplitStages.cpp - One function per stage ---------------------------===//
//
//   @step: %1 = ... {stage 0}; %2 = ... %1 {stage 1} becomes
//   @step_0: %1 = ...; send %1 channel 0 to 1
//   @step_1: %r = recv channel 0 from 0; %2 = ... %r
// The results of repeated ops (Planning/Model/Repeats.h) are never sent: each
// stage's step has the repeated ops that it needs, and each stage's setup
// computes what its step reads.
//
//===----------------------------------------------------------------------===//

#include "OpPlan.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Partition/Passes.h"
#include "autopar/Planning/StepRepeats.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_SPLITSTAGES
#include "autopar/Partition/Passes.h.inc"
} // namespace autopar

using namespace autopar;

//===----------------------------------------------------------------------===//
// A function under construction
//===----------------------------------------------------------------------===//

namespace {

/// The function of one stage that takes some arguments of a whole function and
/// gives some of its results.
struct StageFunction {
  func::FuncOp function;
  OpBuilder builder;
  IRMapping map;
  SmallVector<Value> results; // values of the stage function
  SmallVector<Attribute> resultAttrs;

  StageFunction(func::FuncOp whole, int64_t stage, ArrayRef<unsigned> arguments)
      : builder(whole) {
    SmallVector<Type> types;
    SmallVector<DictionaryAttr> attrs;
    for (unsigned index : arguments) {
      types.push_back(whole.getArgument(index).getType());
      attrs.push_back(whole.getArgAttrDict(index));
    }
    function = func::FuncOp::create(
        builder, whole.getLoc(), (whole.getName() + "_" + Twine(stage)).str(),
        builder.getFunctionType(types, {}), ArrayRef<NamedAttribute>(), attrs);
    function->setAttr(AutoparDialect::kStage, builder.getI64IntegerAttr(stage));
    Block *block = function.addEntryBlock();
    for (auto [index, argument] :
         llvm::zip_equal(arguments, block->getArguments()))
      map.map(whole.getArgument(index), argument);
    builder.setInsertionPointToEnd(block);
  }

  void addResult(Value wholeValue, DictionaryAttr attrs) {
    results.push_back(map.lookup(wholeValue));
    resultAttrs.push_back(attrs);
  }

  void finish() {
    func::ReturnOp::create(builder, function.getLoc(), results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
    function.setAllResultAttrs(resultAttrs);
  }
};

//===----------------------------------------------------------------------===//
// Step
//===----------------------------------------------------------------------===//

class StepSplitter {
public:
  StepSplitter(func::FuncOp step, const PlannedModule &planned)
      : step(step), stages(planned.pipeline.stages), planned(planned),
        repeats(step) {}

  LogicalResult run() {
    if (failed(collect()))
      return failure();
    createFunctions();
    Block &body = step.getBody().front();
    for (Operation &op : body.without_terminator())
      if (!repeats.isRepeated(&op))
        place(&op);
    for (OpOperand &operand : body.getTerminator()->getOpOperands())
      placeResult(operand.get(), operand.getOperandNumber());
    for (StageFunction &stage : functions)
      stage.finish();
    return success();
  }

  SmallVector<StageFunction, 0> functions;

private:
  /// Collects who reads values: the stages of arguments, and the stages to
  /// which a value is sent.
  LogicalResult collect() {
    Block &body = step.getBody().front();
    for (Operation &op : body.without_terminator()) {
      int64_t stage = stageOf(&op);
      if (stage < 0 || stage >= stages)
        return op.emitError()
               << "node '" << nodeName(op.getLoc()) << "' is in stage " << stage
               << ", but autopar.stages is " << stages;
    }
    for (auto [op, running] :
         llvm::zip_equal(body.without_terminator(), repeats.stagesThatRun()))
      for (int64_t stage : running)
        for (Value operand : op.getOperands())
          if (failed(collectUse(operand, &op, stage)))
            return failure();
    return success();
  }

  LogicalResult collectUse(Value value, Operation *user, int64_t stage) {
    Operation *def = value.getDefiningOp();
    if (repeats.isRepeated(value))
      return success();
    if (def && stageOf(def) > stage) {
      auto error = user->emitError()
                   << "node '" << nodeName(user->getLoc()) << "' in stage "
                   << stage << " reads a value of stage " << stageOf(def)
                   << ": values flow to later stages only; move the node to a "
                      "later stage";
      error.attachNote(def->getLoc()) << "the value is made here";
      return error;
    }
    if (!def || stageOf(def) != stage)
      addOnce(readers[value], stage);
    return success();
  }

  static void addOnce(SmallVector<int64_t, 2> &list, int64_t stage) {
    if (!llvm::is_contained(list, stage))
      list.insert(llvm::upper_bound(list, stage), stage);
  }

  /// An argument that no op reads stays with the first stage if the user gives
  /// it or gets it back, or if it is a state.
  void createFunctions() {
    Operation *terminator = step.getBody().front().getTerminator();
    for (BlockArgument argument : step.getArguments()) {
      auto &list = readers[argument];
      bool kept = isa_and_nonnull<InputAttr, StateAttr>(step.getArgAttr(
                      argument.getArgNumber(), AutoparDialect::kSource)) ||
                  llvm::is_contained(terminator->getOperands(), argument);
      if (list.empty() && kept)
        list.push_back(0);
    }
    for (int64_t stage = 0; stage < stages; ++stage) {
      SmallVector<unsigned> arguments;
      for (BlockArgument argument : step.getArguments())
        if (llvm::is_contained(readers[argument], stage))
          arguments.push_back(argument.getArgNumber());
      functions.emplace_back(step, stage, arguments);
    }
  }

  void place(Operation *op) {
    int64_t stage = stageOf(op);
    for (Value operand : op->getOperands())
      bring(operand, stage);
    Operation *placed =
        functions[stage].builder.clone(*op, functions[stage].map);
    for (auto [whole, local] :
         llvm::zip_equal(op->getResults(), placed->getResults()))
      send(whole, local, stage);
  }

  /// Sends a value to a stage, over a channel of its own.
  void send(Value whole, Value local, int64_t stage) {
    auto it = readers.find(whole);
    if (it == readers.end())
      return;
    for (int64_t to : it->second) {
      OpBuilder &builder = functions[stage].builder;
      SendOp::create(builder, local.getLoc(), local,
                     builder.getI64IntegerAttr(nextChannel),
                     builder.getI64IntegerAttr(to));
      channels[{whole, to}] = nextChannel++;
    }
  }

  /// Makes `value` known in `stage`.
  void bring(Value value, int64_t stage) {
    StageFunction &target = functions[stage];
    if (target.map.contains(value))
      return;
    if (repeats.isRepeated(value))
      repeats.makeMissing(
          value.getDefiningOp(),
          [&](Operation *op) { return target.map.contains(op->getResult(0)); },
          [&](Operation *op) { target.builder.clone(*op, target.map); });
    else
      target.map.map(value, receive(value, stage));
  }

  Value receive(Value value, int64_t stage) {
    OpBuilder &builder = functions[stage].builder;
    auto recv = RecvOp::create(
        builder, value.getLoc(), value.getType(), /*output=*/Value(),
        builder.getI64IntegerAttr(channels.at({value, stage})),
        builder.getI64IntegerAttr(stageOf(value.getDefiningOp())));
    recv->setAttr(AutoparDialect::kShardings,
                  builder.getArrayAttr(shardingOf(value)));
    return recv.getResult();
  }

  /// The sharding of a value of @step after insert-reshards.
  Attribute shardingOf(Value value) const {
    Operation *def = value.getDefiningOp();
    if (auto reshard = dyn_cast<ReshardOp>(def))
      return reshard.getTo();
    FailureOr<OpPlan> plan =
        planOf(cast<ShardingRuleOpInterface>(def), planned);
    return planned.attr(
        plan->shardings.results[cast<OpResult>(value).getResultNumber()]);
  }

  void placeResult(Value value, unsigned index) {
    Operation *def = value.getDefiningOp();
    int64_t stage = def ? stageOf(def) : readers[value].front();
    bring(value, stage);
    functions[stage].addResult(value, step.getResultAttrDict(index));
  }

  func::FuncOp step;
  int64_t stages;
  const PlannedModule &planned;
  StepRepeats repeats;
  /// The stages, in order, that read an argument or a sent value.
  DenseMap<Value, SmallVector<int64_t, 2>> readers;
  DenseMap<std::pair<Value, int64_t>, int64_t> channels;
  int64_t nextChannel = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Setup
//===----------------------------------------------------------------------===//

/// Gives arguments that are setup results their place in the stage's own setup;
/// returns which results of the whole setup these are.
static SmallVector<unsigned> renumberSetupResults(func::FuncOp stageStep) {
  SmallVector<unsigned> wanted;
  SmallVector<Attribute> sources(stageStep.getNumArguments());
  for (unsigned i = 0; i < stageStep.getNumArguments(); ++i) {
    auto source = dyn_cast_or_null<SetupResultAttr>(
        stageStep.getArgAttr(i, AutoparDialect::kSource));
    if (!source)
      continue;
    const unsigned *known = llvm::find(wanted, source.getIndex());
    sources[i] =
        SetupResultAttr::get(stageStep.getContext(), known - wanted.begin());
    if (known == wanted.end())
      wanted.push_back(source.getIndex());
  }
  setArgAttrs(stageStep, AutoparDialect::kSource, sources);
  return wanted;
}

/// The ops and arguments of `setup` that the wanted results need.
static void collectSlice(func::FuncOp setup, ArrayRef<unsigned> wanted,
                         DenseSet<Operation *> &ops,
                         SmallVector<unsigned> &arguments) {
  Block &body = setup.getBody().front();
  DenseSet<Value> needed;
  for (unsigned index : wanted)
    needed.insert(body.getTerminator()->getOperand(index));
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (llvm::none_of(op.getResults(),
                      [&](Value result) { return needed.contains(result); }))
      continue;
    ops.insert(&op);
    needed.insert(op.operand_begin(), op.operand_end());
  }
  for (BlockArgument argument : body.getArguments())
    if (needed.contains(argument))
      arguments.push_back(argument.getArgNumber());
}

static void createStageSetup(func::FuncOp setup, int64_t stage,
                             ArrayRef<unsigned> wanted) {
  if (wanted.empty())
    return;
  DenseSet<Operation *> ops;
  SmallVector<unsigned> arguments;
  collectSlice(setup, wanted, ops, arguments);
  StageFunction function(setup, stage, arguments);
  Block &body = setup.getBody().front();
  for (Operation &op : body.without_terminator())
    if (ops.contains(&op))
      function.builder.clone(op, function.map);
  for (unsigned index : wanted)
    function.addResult(body.getTerminator()->getOperand(index),
                       setup.getResultAttrDict(index));
  function.finish();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {

struct SplitStages : autopar::impl::SplitStagesBase<SplitStages> {
  void runOnOperation() final {
    FailureOr<PlannedModule> planned = PlannedModule::read(getOperation());
    if (failed(planned) || failed(findFunctions()))
      return signalPassFailure();
    StepSplitter splitter(step, *planned);
    if (failed(splitter.run()) || failed(splitSetup(splitter)))
      return signalPassFailure();
    step.erase();
    if (setup)
      setup.erase();
  }

private:
  LogicalResult findFunctions() {
    step = setup = nullptr;
    for (func::FuncOp function : activeFunctions(getOperation())) {
      if (function.getName() == "step")
        step = function;
      else if (function.getName() == "setup")
        setup = function;
      else
        return function.emitError("is neither @setup nor @step: a planned "
                                  "module holds these two only");
    }
    return step ? success()
                : LogicalResult(getOperation().emitError("there is no @step"));
  }

  LogicalResult splitSetup(StepSplitter &splitter) {
    for (auto [stage, function] : llvm::enumerate(splitter.functions)) {
      SmallVector<unsigned> wanted = renumberSetupResults(function.function);
      unsigned known = setup ? setup.getNumResults() : 0;
      for (unsigned index : wanted)
        if (index >= known)
          return step.emitError() << "reads setup result " << index
                                  << ", but @setup has " << known << " results";
      if (setup)
        createStageSetup(setup, stage, wanted);
    }
    return success();
  }

  func::FuncOp step, setup;
};

} // namespace
