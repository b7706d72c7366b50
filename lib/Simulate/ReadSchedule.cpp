//===- ReadSchedule.cpp - What a scheduled module does and takes ----------===//

#include "autopar/Simulate/ReadSchedule.h"
#include "CollectiveSteps.h"
#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Cost/KernelWork.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Planning/PlannedModule.h"
#include "autopar/Schedule/ReportName.h"
#include "autopar/Simulate/StepCounts.h"
#include "autopar/shared_memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace autopar {

namespace {

/// A value of the arena: where it is, and the activities that touch it.
struct ArenaValue {
  int64_t begin = 0, end = 0; // bytes
  size_t first = 0, last = 0; // activities
};

/// Numbers the ways in which collectives' sub-axes split a stage's devices into
/// communicators.
class Splits {
public:
  Splits(const Mesh &mesh, SimulatedProgram &program)
      : mesh(mesh), program(program) {}
  size_t numberOf(ArrayRef<unsigned> subAxes) {
    SmallVector<unsigned> sorted(subAxes);
    llvm::sort(sorted);
    auto [it, isNew] = numbers.try_emplace(
        std::vector<unsigned>(sorted.begin(), sorted.end()), numbers.size());
    if (isNew) {
      std::vector<int64_t> &first =
          program.communicators.emplace_back(size_t(mesh.deviceCount()), -1);
      for (int64_t device = 0; device < mesh.deviceCount(); ++device)
        if (first[device] < 0)
          for (int64_t member : mesh.group(sorted, device))
            first[member] = device;
    }
    return it->second;
  }

private:
  const Mesh &mesh;
  SimulatedProgram &program;
  std::map<std::vector<unsigned>, size_t> numbers;
};

/// Returns the cluster with a core for each rank, since the replay itself lets
/// ranks take turns on shared cores.
Cluster onOwnCores(Cluster cluster) {
  for (NodeGroup &group : cluster.nodes)
    group.cores = group.partShare = 0;
  return cluster;
}

/// Reads the step of one stage.
class StageReader {
public:
  StageReader(ModuleOp module, const Cluster &cluster, const Mesh &mesh,
              int64_t stageNumber, Splits &splits)
      : splits(splits),
        place(onOwnCores(cluster.part(stageNumber * mesh.deviceCount(),
                                      mesh.deviceCount()))),
        communication(place, mesh), messages(onOwnCores(cluster), mesh),
        mesh(mesh), stageNumber(stageNumber), tf32(allowsTf32(module)) {}

  LogicalResult read(func::FuncOp func, StageProgram &stage);

private:
  LogicalResult readOp(Operation &op, StageProgram &stage);
  void touch(Operation &op, size_t activity);
  void holdResults(func::FuncOp func, const StageProgram &stage);
  void addMemory(StageProgram &stage) const;

  Splits &splits;
  Cluster place; // of the stage
  CommunicationModel communication;
  CommunicationModel messages; // between stages
  const Mesh &mesh;
  int64_t stageNumber;
  bool tf32;
  llvm::MapVector<int64_t, ArenaValue> values; // by number
};

} // namespace

/// Notes the arena's values that an op reads or writes.
void StageReader::touch(Operation &op, size_t activity) {
  for (Value operand : op.getOperands()) {
    auto buffer = operand.getDefiningOp<BufferOp>();
    auto number =
        buffer ? buffer->getAttrOfType<IntegerAttr>(AutoparDialect::kValue)
               : nullptr;
    if (!number || buffer.getSpace() != BufferSpace::Arena)
      continue;
    int64_t begin = buffer.getPosition();
    int64_t end =
        begin + byteOffset(operand.getType()) + bytesOf(operand.getType());
    auto [it, inserted] = values.insert(
        {number.getInt(), ArenaValue{begin, end, activity, activity}});
    it->second.end = std::max(it->second.end, end);
    it->second.last = activity;
  }
}

/// The buffers of results live until the step ends. A gradient is read when it
/// is made, and its buffer is free after its last reader.
void StageReader::holdResults(func::FuncOp func, const StageProgram &stage) {
  auto results = func->getAttrOfType<ArrayAttr>(AutoparDialect::kResults);
  if (!results || stage.activities.empty())
    return;
  for (auto result : results.getAsRange<PortAttr>())
    if (!isa_and_nonnull<GradientAttr>(result.getWhat()))
      if (auto *it = values.find(result.getValue()); it != values.end())
        it->second.last = stage.activities.size() - 1;
}

/// Bytes of the arena that values in use cover, at each activity.
void StageReader::addMemory(StageProgram &stage) const {
  size_t count = stage.activities.size();
  std::vector<SmallVector<const ArenaValue *, 2>> begins(count), ends(count);
  for (const auto &[number, value] : values) {
    begins[value.first].push_back(&value);
    ends[value.last].push_back(&value);
  }
  // A value that is stored over another one shares its bytes.
  std::multimap<int64_t, int64_t> live; // begin to end
  for (size_t i = 0; i < count; ++i) {
    for (const ArenaValue *value : begins[i])
      live.insert({value->begin, value->end});
    int64_t bytes = 0, covered = 0;
    for (auto [begin, end] : live) {
      bytes += std::max<int64_t>(0, end - std::max(begin, covered));
      covered = std::max(covered, end);
    }
    stage.activities[i].bytesInUse = bytes;
    for (const ArenaValue *value : ends[i])
      for (auto [it, last] = live.equal_range(value->begin); it != last; ++it)
        if (it->second == value->end) {
          live.erase(it);
          break;
        }
  }
}

LogicalResult StageReader::readOp(Operation &op, StageProgram &stage) {
  if (isa<BufferOp, func::ReturnOp>(op))
    return success();
  Activity activity;
  auto name = op.getAttrOfType<StringAttr>(AutoparDialect::kOp);
  activity.name =
      name && !name.empty() ? name.str() : schedule::reportName(&op).str();
  if (auto stream = op.getAttrOfType<IntegerAttr>(AutoparDialect::kStream))
    activity.stream = stream.getInt();
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    activity.seconds = kernelSeconds(place.slowest(), workOf(kernel, tf32));
  } else if (isPlannedCollective(op)) {
    FailureOr<ReshardStep> step = stepOfCollective(op, mesh);
    if (failed(step))
      return failure();
    activity.kind = ActivityKind::Collective;
    activity.seconds = communication.seconds(*step);
    activity.communicators = splits.numberOf(step->subAxes);
    activity.name =
        (stringifyReshardKind(step->kind) + " of " + activity.name).str();
  } else if (auto send = dyn_cast<SendOp>(op)) {
    activity.kind = ActivityKind::Send;
    activity.channel = send.getChannel();
    activity.seconds = messages.sendSeconds(bytesOf(send.getInput().getType()),
                                            stageNumber, send.getToStage());
    activity.name = "send of " + activity.name;
  } else if (auto recv = dyn_cast<RecvOp>(op)) {
    activity.kind = ActivityKind::Recv;
    activity.channel = recv.getChannel();
    activity.seconds = messages.sendSeconds(bytesOf(recv.getOutput().getType()),
                                            recv.getFromStage(), stageNumber);
    activity.name = "receive of " + activity.name;
  } else if (auto record = dyn_cast<RecordEventOp>(op)) {
    activity.kind = ActivityKind::RecordEvent;
    activity.event = record.getEvent();
    activity.stream = record.getStream();
  } else if (auto wait = dyn_cast<WaitEventOp>(op)) {
    activity.kind = ActivityKind::WaitEvent;
    activity.event = wait.getEvent();
    activity.stream = wait.getStream();
  } else {
    return op.emitError("has no price: no plan leads to such an op");
  }
  stage.streams = std::max(stage.streams, activity.stream + 1);
  touch(op, stage.activities.size());
  stage.activities.push_back(std::move(activity));
  return success();
}

LogicalResult StageReader::read(func::FuncOp func, StageProgram &stage) {
  for (Operation &op : func.getBody().front())
    if (failed(readOp(op, stage)))
      return failure();
  holdResults(func, stage);
  addMemory(stage);
  return success();
}

/// The steps to replay: if steps overlap in stages, so many that each stage is
/// at work on one.
static int64_t stepsToReplay(const Pipeline &pipeline) {
  return pipeline.stepsOverlap()
             ? std::clamp<int64_t>(4 * pipeline.stages, 8, 16)
             : 1;
}

FailureOr<SimulatedProgram> readSchedule(ModuleOp module) {
  FailureOr<PlannedModule> planned = PlannedModule::read(module);
  if (failed(planned))
    return failure();
  const Mesh &mesh = planned->mesh;
  const Cluster &cluster = planned->cluster;
  SimulatedProgram program;
  std::map<int64_t, func::FuncOp> steps;
  for (auto func : module.getOps<func::FuncOp>())
    if (!func.isExternal() && isStep(func))
      steps[stageOf(func)] = func;
  int64_t stages = planned->pipeline.stages;
  if (int64_t(steps.size()) != stages || steps.rbegin()->first >= stages)
    return module.emitError() << "has " << steps.size() << " steps, its plan "
                              << planned->pipeline.stages << " stages";
  program.microBatches = mesh.timeCount();
  program.steps = stepsToReplay(planned->pipeline);
  program.devicesPerStage = mesh.deviceCount();
  bool rendezvous = targetTable(module).communication.rendezvous;
  program.channelSlots = rendezvous ? 0 : shared_memory::kChannelSlots;
  for (int64_t device = 0; device < cluster.deviceCount(); ++device)
    program.nodeOf.push_back(cluster.nodeOf(device));
  for (const NodeGroup &group : cluster.nodes)
    program.coresOfNode.insert(program.coresOfNode.end(), group.count,
                               group.cores);
  Splits splits(mesh, program);
  FailureOr<StepCounts> counts = scheduledCounts(module);
  if (failed(counts))
    return failure();
  for (auto [number, func] : steps) {
    StageProgram &stage = program.stages.emplace_back();
    stage.weightBytes = counts->stages[number].memory.weights;
    stage.arenaBytes = counts->stages[number].memory.arena;
    if (failed(StageReader(module, cluster, mesh, number, splits)
                   .read(func, stage)))
      return failure();
  }
  return program;
}

} // namespace autopar
