//===- AssignBuffers.cpp - Give every value a place in memory -------------===//

#include "Layouts.h"
#include "PersistentTable.h"
#include "ScheduledWork.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Schedule/Passes.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_ASSIGNBUFFERS
#include "autopar/Schedule/Passes.h.inc"

namespace {
/// Rewrites one function from tensors to places in memory.
class Placement {
public:
  Placement(func::FuncOp func, PersistentTable &persistent)
      : func(func), persistent(persistent), work(workOf(func)),
        plan(planMemory(work.work.list)) {}
  LogicalResult run();

private:
  LogicalResult placeArguments();
  void placeResults();
  Value bufferFor(Value value, Operation *user);
  std::pair<BufferSpace, int64_t> placeOf(Value value);
  void decideInPlace(KernelOp kernel);
  void rewriteKernel(KernelOp kernel);
  void rewriteCommunication(Operation *op);
  void describeSignature();
  PortAttr describe(DictionaryAttr attributes, Type type, Value value);

  func::FuncOp func;
  PersistentTable &persistent;
  ScheduledWork work;
  MemoryPlan plan;
  llvm::DenseMap<unsigned, int64_t> indices; // of persistent buffers
  llvm::DenseMap<Value, Value> buffers;
  ValueLayouts layouts;
};
} // namespace

LogicalResult Placement::placeArguments() {
  for (BlockArgument argument : func.getArguments()) {
    unsigned buffer = work.work.bufferOf(argument);
    if (!work.work.list.buffers[buffer].persistent)
      continue;
    FailureOr<int64_t> index = persistent.argument(func, argument);
    if (failed(index))
      return failure();
    indices[buffer] = *index;
  }
  return success();
}

/// Gives each setup value an entry of the table unless it is a parameter. The
/// next value of a state has the state's entry.
void Placement::placeResults() {
  for (WorkState state : work.work.list.states)
    indices[state.next] = indices.lookup(state.argument);
  Operation *end = func.getBody().front().getTerminator();
  for (OpOperand &result : end->getOpOperands()) {
    unsigned buffer = work.work.bufferOf(result.get());
    if (!work.work.list.buffers[buffer].persistent)
      continue;
    unsigned number = result.getOperandNumber();
    if (!isa_and_nonnull<SetupValueAttr>(
            func.getResultAttr(number, AutoparDialect::kResult)))
      continue;
    auto [it, isNew] = indices.try_emplace(buffer, 0);
    if (isNew)
      it->second = persistent.addSetupValue(func, number);
    persistent.nameResult(func, number, it->second);
  }
}

std::pair<BufferSpace, int64_t> Placement::placeOf(Value value) {
  unsigned buffer = work.work.bufferOf(value);
  if (work.work.list.buffers[buffer].persistent)
    return {BufferSpace::Persistent, indices.lookup(buffer)};
  return {BufferSpace::Arena, plan.offsets[buffer]};
}

/// The buffer op of `value`, made before its first user.
Value Placement::bufferFor(Value value, Operation *user) {
  Value &buffer = buffers[value];
  if (buffer)
    return buffer;
  auto [space, position] = placeOf(value);
  auto tensor = cast<RankedTensorType>(value.getType());
  MemRefType type = bufferType(tensor, *layouts.get(value));
  OpBuilder builder(user);
  auto op = BufferOp::create(builder, value.getLoc(), type, space, position);
  op->setAttr(AutoparDialect::kValue,
              builder.getI64IntegerAttr(work.work.bufferOf(value)));
  return buffer = op;
}

/// Decides over which of the inputs that allow it results are written.
void Placement::decideInPlace(KernelOp kernel) {
  auto may = kernel->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kInPlace);
  if (!may)
    return;
  SmallVector<int64_t> inputs(may.asArrayRef());
  for (auto [result, input] : llvm::zip_equal(kernel.getResults(), inputs))
    if (input >= 0 && placeOf(result) != placeOf(kernel.getInputs()[input]))
      input = -1;
  bool none = llvm::all_of(inputs, [](int64_t input) { return input < 0; });
  if (none)
    kernel->removeAttr(AutoparDialect::kInPlace);
  else
    kernel->setAttr(AutoparDialect::kInPlace,
                    DenseI64ArrayAttr::get(kernel.getContext(), inputs));
}

void Placement::rewriteKernel(KernelOp kernel) {
  decideInPlace(kernel);
  SmallVector<Value> inputs, outputs;
  for (Value input : kernel.getInputs())
    inputs.push_back(bufferFor(input, kernel));
  for (Value result : kernel.getResults())
    outputs.push_back(bufferFor(result, kernel));
  OpBuilder builder(kernel);
  auto placed = KernelOp::create(builder, kernel.getLoc(), TypeRange(), inputs,
                                 outputs, kernel.getLibraryAttr());
  placed->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
  placed->removeDiscardableAttr(AutoparDialect::kLayouts);
  placed->removeDiscardableAttr(AutoparDialect::kRowRank);
  placed.getBody().takeBody(kernel.getBody());
}

void Placement::rewriteCommunication(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(bufferFor(operand, op));
  for (Value result : op->getResults())
    operands.push_back(bufferFor(result, op));
  OpBuilder builder(op);
  Operation *placed = cloneLocal(op, builder, operands, TypeRange());
  placed->removeDiscardableAttr(AutoparDialect::kLayouts);
}

/// Returns the attributes of an argument or a result, its local type and its
/// place.
PortAttr Placement::describe(DictionaryAttr attributes, Type type,
                             Value value) {
  DescribedTensor tensor(attributes);
  auto [space, position] = placeOf(value);
  return PortAttr::get(func.getContext(), tensor.what, cast<ShapedType>(type),
                       tensor.whole, tensor.sharding, space, position,
                       work.work.bufferOf(value));
}

/// Turns arguments and results into attributes of the function.
void Placement::describeSignature() {
  Builder builder(func.getContext());
  SmallVector<Attribute> arguments, results;
  for (BlockArgument argument : func.getArguments())
    arguments.push_back(describe(func.getArgAttrDict(argument.getArgNumber()),
                                 argument.getType(), argument));
  Operation *end = func.getBody().front().getTerminator();
  for (OpOperand &result : end->getOpOperands())
    results.push_back(
        describe(func.getResultAttrDict(result.getOperandNumber()),
                 result.get().getType(), result.get()));
  func->setAttr(AutoparDialect::kArguments, builder.getArrayAttr(arguments));
  func->setAttr(AutoparDialect::kResults, builder.getArrayAttr(results));
  func->setAttr(AutoparDialect::kArenaBytes,
                builder.getI64IntegerAttr(plan.arenaBytes));
}

LogicalResult Placement::run() {
  if (failed(placeArguments()))
    return failure();
  placeResults();
  for (Operation *op : work.ops) {
    if (auto kernel = dyn_cast<KernelOp>(op))
      rewriteKernel(kernel);
    else
      rewriteCommunication(op);
  }
  describeSignature();

  Block &body = func.getBody().front();
  Operation *end = body.getTerminator();
  end->setOperands({});
  SmallVector<Operation *> old(work.ops);
  llvm::append_range(old, work.views);
  for (Operation *op : old)
    op->dropAllUses();
  for (Operation *op : old)
    op->erase();
  for (BlockArgument argument : body.getArguments())
    argument.dropAllUses();
  if (failed(
          func.eraseArguments(llvm::BitVector(func.getNumArguments(), true))))
    return failure();
  return func.eraseResults(llvm::BitVector(func.getNumResults(), true));
}

namespace {
struct AssignBuffers : impl::AssignBuffersBase<AssignBuffers> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> setups, steps;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal()) {
        if (failed(checkKernelsFormed(func)))
          return signalPassFailure();
        (isSetup(func) ? setups : steps).push_back(func);
      }
    PersistentTable persistent;
    llvm::append_range(setups, steps);
    for (func::FuncOp func : setups)
      if (failed(Placement(func, persistent).run()))
        return signalPassFailure();
    getOperation()->setAttr(AutoparDialect::kPersistent,
                            persistent.toAttribute(&getContext()));
  }
};
} // namespace
} // namespace autopar
