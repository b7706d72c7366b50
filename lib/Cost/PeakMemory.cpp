//===- PeakMemory.cpp - Memory of a function before it is scheduled -------===//

#include "autopar/Cost/PeakMemory.h"
#include "autopar/Cost/HeldInputs.h"
#include "autopar/Cost/KernelGroups.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Cost/WorkOfFunction.h"
#include "autopar/Dialect/KernelFacts.h"

using namespace mlir;

namespace autopar {

int64_t bytesOf(Type type) {
  auto shaped = cast<ShapedType>(type);
  return shaped.getNumElements() *
         llvm::divideCeil(shaped.getElementTypeBitWidth(), 8);
}

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

/// Whether the argument, an input, needs no copy of its own on the target.
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

SmallVector<bool> resultsToCopy(func::FuncOp func) {
  Operation *end = func.getBody().front().getTerminator();
  SmallVector<bool> copies;
  llvm::DenseSet<Value> claimed;
  for (OpOperand &result : end->getOpOperands()) {
    Value storage = storageOf(result.get());
    auto argument = dyn_cast<BlockArgument>(storage);
    bool persistent = argument && !isInput(func, argument.getArgNumber());
    if (persistent && isSetupValue(func, result.getOperandNumber()))
      copies.push_back(false); // one more name of the parameter
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

FunctionWork::FunctionWork(func::FuncOp func) {
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
  place.output = true;
  place.persistent |= isSetupValue(func, result);
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

/// The results that get a buffer of their own by a copy, and where all are
/// stored.
static void addReturn(FunctionWork &work, func::FuncOp func) {
  Operation *end = func.getBody().front().getTerminator();
  for (auto [index, copied] : llvm::enumerate(resultsToCopy(func))) {
    unsigned buffer = work.bufferOf(end->getOperand(index));
    if (copied) {
      WorkItem item;
      item.reads.push_back(buffer);
      buffer = work.list.buffers.size();
      item.writes.push_back(buffer);
      WorkBuffer copy;
      copy.bytes = bytesOf(end->getOperand(index).getType());
      work.list.buffers.push_back(copy);
      work.list.items.push_back(std::move(item));
    }
    work.addResult(func, index, buffer);
  }
}

PeakMemory peakMemory(func::FuncOp func) {
  KernelGroups groups = groupKernels(func.getBody().front());
  FunctionWork work(func);
  for (const WorkStep &step : groups.steps) {
    if (step.group >= 0) {
      const KernelGroup &group = groups.groups[step.group];
      WorkItem &item = work.add(group.inputs, group.outputs);
      item.inPlace = group.inPlace;
    } else if (step.op->hasTrait<OpTrait::IsTerminator>()) {
      addReturn(work, func);
    } else if (loopRoleOf(step.op) != LoopRole::View) {
      work.addCommunication(step.op);
    }
  }
  PeakMemory peak;
  for (const WorkBuffer &buffer : work.list.buffers)
    if (buffer.persistent && !buffer.input)
      peak.persistentBytes += buffer.bytes;
  peak.arenaBytes = planMemory(orderedWork(work.list)).arenaBytes;
  return peak;
}

} // namespace autopar
