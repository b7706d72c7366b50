//===- StepCounts.cpp - Counts of planned and scheduled steps -------------===//

#include "autopar/Simulate/StepCounts.h"
#include "CollectiveSteps.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Planning/Plan/StageWork.h"
#include "autopar/Planning/PlannedModule.h"
#include "autopar/Schedule/PersistentBuffers.h"
#include "autopar/shared_memory.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Planned
//===----------------------------------------------------------------------===//

StepCounts plannedCounts(const ModelGraph &graph, const Plan &plan) {
  StepCounts counts;
  counts.collectives = plan.collectives;
  for (auto [work, memory, peak] :
       llvm::zip_equal(workOfStages(graph, plan), memoryOfStages(graph, plan),
                       plan.predictedStageMemoryBytes)) {
    int64_t kernels = llvm::count_if(work.work.items, [](const WorkItem &item) {
      return item.kind == WorkKind::Compute;
    });
    counts.stages.push_back({kernels, memory, peak});
  }
  return counts;
}

//===----------------------------------------------------------------------===//
// Scheduled
//===----------------------------------------------------------------------===//

namespace {

/// Counts what the functions of a scheduled module have.
class ScheduleCounter {
public:
  ScheduleCounter(ModuleOp module, const PlannedModule &planned)
      : module(module), planned(planned), table(targetTable(module)) {
    counts.stages.resize(planned.pipeline.stages);
  }
  FailureOr<StepCounts> run();

private:
  LogicalResult countOp(Operation &op, StageCounts &stage, bool inStep);
  LogicalResult countCollective(Operation &op, bool inStep);
  void count(PlannedCollective what);
  void countMessage(Value value, StageCounts &stage);
  void countWeights(func::FuncOp step, StageCounts &stage);
  int64_t rowBytes(func::FuncOp step, int64_t index) const;

  ModuleOp module;
  const PlannedModule &planned;
  const TargetTable &table;
  StepCounts counts;
  /// The largest message per communicator. A program has the same ones in all
  /// stages.
  std::map<std::vector<unsigned>, int64_t> messages;
};

} // namespace

void ScheduleCounter::count(PlannedCollective what) {
  auto known = llvm::find(counts.collectives, what);
  if (known == counts.collectives.end())
    known = counts.collectives.insert(known, std::move(what));
  known->count += planned.mesh.timeCount();
}

LogicalResult ScheduleCounter::countCollective(Operation &op, bool inStep) {
  FailureOr<ReshardStep> step = stepOfCollective(op, planned.mesh);
  if (failed(step))
    return failure();
  if (inStep) {
    PlannedCollective what;
    what.kind = stringifyReshardKind(step->kind).str();
    what.subAxes = step->subAxes;
    what.bytes = step->bytes;
    count(std::move(what));
  }
  int64_t &most = messages[std::vector<unsigned>(step->subAxes.begin(),
                                                 step->subAxes.end())];
  for (Value end : op.getOperands().take_front(2))
    most = std::max(most, bytesOf(end.getType()));
  return success();
}

/// Counts the ring of a channel, of which both ends have one.
void ScheduleCounter::countMessage(Value value, StageCounts &stage) {
  if (table.communication.sharesMemory)
    stage.memory.communication += shared_memory::ringBytes(
        bytesOf(value.getType()), shared_memory::kChannelSlots);
}

LogicalResult ScheduleCounter::countOp(Operation &op, StageCounts &stage,
                                       bool inStep) {
  if (isPlannedCollective(op))
    return countCollective(op, inStep);
  if (isa<KernelOp>(op)) {
    stage.kernels += inStep;
  } else if (auto send = dyn_cast<SendOp>(op)) {
    PlannedCollective what;
    what.kind = "send";
    what.bytes = bytesOf(send.getInput().getType());
    count(std::move(what));
    countMessage(send.getInput(), stage);
  } else if (auto recv = dyn_cast<RecvOp>(op)) {
    countMessage(recv.getOutput(), stage);
  }
  return success();
}

/// Returns the bytes of a persistent tensor.
int64_t ScheduleCounter::rowBytes(func::FuncOp step, int64_t index) const {
  auto stages = module->getAttrOfType<ArrayAttr>(AutoparDialect::kPersistent);
  auto rows = cast<ArrayAttr>(stages[stageOf(step)]);
  return bytesOf(cast<PersistentAttr>(rows[index]).getType());
}

/// Counts the parameters, setup values and states that a step reads.
void ScheduleCounter::countWeights(func::FuncOp step, StageCounts &stage) {
  std::map<int64_t, int64_t> plain, packed; // bytes
  for (Operation &op : step.getBody().front()) {
    auto kernel = dyn_cast<KernelOp>(op);
    LibraryCallAttr call = kernel ? kernel.getLibraryAttr() : nullptr;
    for (auto [number, operand] : llvm::enumerate(op.getOperands())) {
      auto buffer = operand.getDefiningOp<BufferOp>();
      if (!buffer || buffer.getSpace() != BufferSpace::Persistent ||
          isHeldInput(buffer))
        continue;
      int64_t bytes = rowBytes(step, buffer.getPosition());
      if (call && call.getPacked() >= 0 &&
          call.getPackable() == int64_t(number))
        packed[call.getPacked()] = bytes;
      else
        plain[buffer.getPosition()] = bytes;
    }
  }
  int64_t sum = 0;
  for (auto [index, bytes] : plain)
    sum += bytes;
  std::vector<int64_t> forms;
  for (auto [form, bytes] : packed)
    forms.push_back(bytes);
  stage.memory.setWeights(sum, std::move(forms), table.copiesToPack);
}

FailureOr<StepCounts> ScheduleCounter::run() {
  for (auto func : module.getOps<func::FuncOp>()) {
    int64_t number = stageOf(func);
    if (func.isExternal() || number >= planned.pipeline.stages)
      continue;
    StageCounts &stage = counts.stages[number];
    bool inStep = isStep(func);
    for (Operation &op : func.getBody().front())
      if (failed(countOp(op, stage, inStep)))
        return failure();
    if (!inStep)
      continue;
    countWeights(func, stage);
    if (auto arena =
            func->getAttrOfType<IntegerAttr>(AutoparDialect::kArenaBytes))
      stage.memory.arena = arena.getInt();
  }
  for (StageCounts &stage : counts.stages) {
    if (table.communication.sharesMemory)
      stage.memory.addStaging(messages, planned.mesh);
    stage.peakBytes = stage.memory.peak();
  }
  return std::move(counts);
}

FailureOr<StepCounts> scheduledCounts(ModuleOp module) {
  FailureOr<PlannedModule> planned = PlannedModule::read(module);
  if (failed(planned))
    return failure();
  return ScheduleCounter(module, *planned).run();
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

llvm::json::Object toJSON(const StepCounts &counts, const Mesh &mesh) {
  llvm::json::Array collectives, stages;
  for (const PlannedCollective &item : counts.collectives) {
    llvm::json::Array axes;
    for (std::string &name : mesh.spell(item.subAxes))
      axes.push_back(std::move(name));
    collectives.push_back(llvm::json::Object{{"kind", item.kind},
                                             {"axes", std::move(axes)},
                                             {"bytes", item.bytes},
                                             {"count", item.count}});
  }
  for (const StageCounts &stage : counts.stages)
    stages.push_back(
        llvm::json::Object{{"kernels", stage.kernels},
                           {"weight_bytes", stage.memory.weights},
                           {"loading_bytes", stage.memory.loading},
                           {"arena_bytes", stage.memory.arena},
                           {"communication_bytes", stage.memory.communication},
                           {"peak_bytes", stage.peakBytes}});
  return llvm::json::Object{{"collectives", std::move(collectives)},
                            {"stages", std::move(stages)}};
}

} // namespace autopar
