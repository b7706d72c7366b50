//===- WorkOfFunction.cpp - From values to buffers of a work list ---------===//

#include "autopar/Cost/WorkOfFunction.h"
#include "autopar/Cost/HeldInputs.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/KernelFacts.h"

using namespace mlir;

namespace autopar {

Value storageOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (loopRoleOf(op) != LoopRole::View)
      break;
    value = op->getOperand(0);
  }
  return value;
}

static bool isInput(func::FuncOp func, unsigned argument) {
  return isa_and_nonnull<InputAttr>(
      func.getArgAttr(argument, AutoparDialect::kSource));
}

/// Returns whether the argument, an input, needs no copy of its own on the
/// target.
static bool isHeld(func::FuncOp func, unsigned argument) {
  if (!targetTable(func).readsHeldInputs)
    return false;
  auto sharding =
      func.getArgAttrOfType<ShardingAttr>(argument, AutoparDialect::kSharding);
  auto global =
      func.getArgAttrOfType<TypeAttr>(argument, AutoparDialect::kGlobalType);
  if (!sharding || !global)
    return true; // whole
  auto meshes = func->getParentOfType<ModuleOp>().getOps<MeshOp>();
  if (meshes.empty())
    return false;
  Mesh mesh = (*meshes.begin()).getMesh().toMesh();
  return isOnePiece(cast<ShapedType>(global.getValue()).getShape(),
                    sharding.toSharding(mesh), mesh);
}

static bool isSetupValue(func::FuncOp func, unsigned result) {
  return isa_and_nonnull<SetupValueAttr>(
      func.getResultAttr(result, AutoparDialect::kResult));
}

/// The states, as arguments, by number of the result that is the next value.
static llvm::DenseMap<unsigned, BlockArgument>
statesByResult(func::FuncOp func) {
  llvm::DenseMap<unsigned, BlockArgument> states;
  for (StatePair state : statesOf(func))
    states[state.result] = func.getArgument(state.argument);
  return states;
}

static bool isGradient(func::FuncOp func, unsigned result) {
  return isa_and_nonnull<GradientAttr>(
      func.getResultAttr(result, AutoparDialect::kResult));
}

SmallVector<bool> resultsToCopy(func::FuncOp func) {
  Operation *end = func.getBody().front().getTerminator();
  SmallVector<bool> copies;
  llvm::DenseSet<Value> nextStates;
  for (StatePair state : statesOf(func))
    nextStates.insert(storageOf(end->getOperand(state.result)));
  llvm::DenseSet<Value> claimed;
  llvm::DenseMap<unsigned, BlockArgument> states = statesByResult(func);
  for (OpOperand &result : end->getOpOperands()) {
    Value storage = storageOf(result.get());
    auto argument = dyn_cast<BlockArgument>(storage);
    bool persistent = argument && !isInput(func, argument.getArgNumber());
    unsigned number = result.getOperandNumber();
    if (persistent && isSetupValue(func, number))
      copies.push_back(false); // one more name of the parameter
    else if (argument && argument == states.lookup(number))
      copies.push_back(false);         // it stays what it is
    else if (isGradient(func, number)) // read when it is made
      copies.push_back(argument || nextStates.contains(storage));
    else
      copies.push_back(argument || !claimed.insert(storage).second);
  }
  return copies;
}

unsigned FunctionWork::bufferOf(Value value) {
  Value storage = storageOf(value);
  auto [it, isNew] = ids.try_emplace(storage, list.buffers.size());
  if (isNew) {
    WorkBuffer buffer;
    buffer.bytes = bytesOf(storage.getType());
    list.buffers.push_back(buffer);
  }
  return it->second;
}

FunctionWork::FunctionWork(func::FuncOp func) : states(statesByResult(func)) {
  list.communication = targetTable(func).communication;
  for (BlockArgument argument : func.getArguments()) {
    WorkBuffer &buffer = list.buffers[bufferOf(argument)];
    buffer.input = isInput(func, argument.getArgNumber());
    buffer.persistent = !buffer.input || isHeld(func, argument.getArgNumber());
  }
}

void FunctionWork::addResult(func::FuncOp func, unsigned result,
                             unsigned buffer) {
  WorkBuffer &place = list.buffers[buffer];
  if (isGradient(func, result))
    return;
  place.output = true;
  place.persistent |= isSetupValue(func, result);
  BlockArgument state = states.lookup(result);
  if (!state)
    return;
  place.persistent = true;
  if (unsigned argument = bufferOf(state); argument != buffer) {
    list.states.push_back({argument, buffer});
    stateResults.push_back(result);
  }
}

WorkItem &FunctionWork::add(ValueRange reads, ValueRange writes) {
  WorkItem item;
  for (Value value : reads)
    item.reads.push_back(bufferOf(value));
  for (Value value : writes)
    item.writes.push_back(bufferOf(value));
  list.items.push_back(std::move(item));
  return list.items.back();
}

void FunctionWork::addCommunication(Operation *op) {
  WorkItem &item = add(op->getOperands(), op->getResults());
  item.kind = WorkKind::Collective;
  item.late = op->hasAttr(AutoparDialect::kRegather);
  if (auto send = dyn_cast<SendOp>(op)) {
    item.kind = WorkKind::Send;
    item.channel = send.getChannel();
  } else if (auto recv = dyn_cast<RecvOp>(op)) {
    item.kind = WorkKind::Recv;
    item.channel = recv.getChannel();
  } else if (isa<AllReduceOp>(op)) {
    item.inPlace.push_back({0, 0});
  }
}

} // namespace autopar
