//===- StepCounts.cpp - Counts of a scheduled step ------------------------===//

#include "autopar/Simulate/StepCounts.h"
#include "CollectiveSteps.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Planning/PlannedModule.h"
#include "autopar/Planning/Search/StagePlaces.h"
#include "autopar/Schedule/PersistentBuffers.h"
#include "autopar/shared_memory.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace autopar {

namespace {

/// Counts what the functions of a scheduled module have.
class ScheduleCounter {
public:
  ScheduleCounter(ModuleOp module, const PlannedModule &planned)
      : module(module), planned(planned), table(targetTable(module)),
        places(planned.cluster, planned.pipeline),
        links(planned.cluster, planned.mesh) {
    counts.stages.resize(planned.pipeline.stages);
    for (const Cluster &place : places.kinds)
      prices.emplace_back(place, planned.mesh);
  }
  FailureOr<StepCounts> run();

private:
  LogicalResult countOp(Operation &op, int64_t number, bool inStep);
  LogicalResult countCollective(Operation &op, int64_t number, bool inStep);
  void count(PlannedCollective what);
  void countMessage(Value value, StageCounts &stage);
  void countWeights(func::FuncOp step, StageCounts &stage);
  int64_t rowBytes(func::FuncOp step, int64_t index) const;

  ModuleOp module;
  const PlannedModule &planned;
  const TargetTable &table;
  StagePlaces places;
  CommunicationModel links;               // between stages
  std::vector<CommunicationModel> prices; // of collectives, per kind of place
  StepCounts counts;
  /// The largest message per communicator. A program has the same ones in all
  /// stages.
  std::map<std::vector<unsigned>, int64_t> messages;
};

} // namespace

/// Counts one collective in each micro-batch; `what` has the seconds of one.
void ScheduleCounter::count(PlannedCollective what) {
  double once = std::exchange(what.seconds, 0);
  auto known = llvm::find(counts.collectives, what);
  if (known == counts.collectives.end())
    known = counts.collectives.insert(known, std::move(what));
  known->count += planned.mesh.timeCount();
  known->seconds += once * double(planned.mesh.timeCount());
}

LogicalResult ScheduleCounter::countCollective(Operation &op, int64_t number,
                                               bool inStep) {
  FailureOr<ReshardStep> step = stepOfCollective(op, planned.mesh);
  if (failed(step))
    return failure();
  if (inStep) {
    PlannedCollective what;
    what.kind = stringifyReshardKind(step->kind).str();
    what.subAxes = step->subAxes;
    what.bytes = step->bytes;
    what.seconds = prices[places.kindOf[number]].seconds(*step);
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

LogicalResult ScheduleCounter::countOp(Operation &op, int64_t number,
                                       bool inStep) {
  StageCounts &stage = counts.stages[number];
  if (isPlannedCollective(op))
    return countCollective(op, number, inStep);
  if (isa<KernelOp>(op)) {
    stage.kernels += inStep;
  } else if (auto send = dyn_cast<SendOp>(op)) {
    PlannedCollective what;
    what.kind = "send";
    what.bytes = bytesOf(send.getInput().getType());
    what.seconds = links.sendSeconds(what.bytes, number, send.getToStage());
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
      if (failed(countOp(op, number, inStep)))
        return failure();
    if (!inStep)
      continue;
    countWeights(func, stage);
    if (auto arena =
            func->getAttrOfType<IntegerAttr>(AutoparDialect::kArenaBytes))
      stage.memory.arena = arena.getInt();
  }
  if (table.communication.sharesMemory)
    for (StageCounts &stage : counts.stages)
      stage.memory.addStaging(messages, planned.mesh);
  return std::move(counts);
}

FailureOr<StepCounts> scheduledCounts(ModuleOp module) {
  FailureOr<PlannedModule> planned = PlannedModule::read(module);
  if (failed(planned))
    return failure();
  return ScheduleCounter(module, *planned).run();
}

//===----------------------------------------------------------------------===//
// Recorded
//===----------------------------------------------------------------------===//

/// A collective keeps the seconds that the plan has if they are the same up to
/// the order of the sum.
void recordProgram(StepCounts counts, Plan &plan) {
  constexpr double kEqual = 1e-9;
  for (PlannedCollective &item : counts.collectives)
    if (auto known = llvm::find(plan.collectives, item);
        known != plan.collectives.end() &&
        std::abs(known->seconds - item.seconds) <= kEqual * item.seconds)
      item.seconds = known->seconds;
  llvm::stable_sort(counts.collectives, [&](const PlannedCollective &a,
                                            const PlannedCollective &b) {
    return llvm::find(plan.collectives, a) < llvm::find(plan.collectives, b);
  });
  plan.collectives = std::move(counts.collectives);
  plan.program = std::move(counts.stages);
  plan.predictedStageMemoryBytes.clear();
  for (const StageCounts &stage : plan.program)
    plan.predictedStageMemoryBytes.push_back(stage.memory.peak());
  plan.predictedPeakMemoryBytes =
      *llvm::max_element(plan.predictedStageMemoryBytes);
}

} // namespace autopar
