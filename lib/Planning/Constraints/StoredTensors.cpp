//===- StoredTensors.cpp - What entries of a program store ----------------===//

#include "autopar/Planning/Constraints/StoredTensors.h"
#include "autopar/Planning/Constraints/CheckConstraints.h"
#include "autopar/Planning/Constraints/Limits.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;

namespace autopar {

//===----------------------------------------------------------------------===//
// The tensors that a plan stores
//===----------------------------------------------------------------------===//

/// Returns the number of sub-axes of the time axis, which come first.
static unsigned timeSubAxes(const Mesh &mesh) {
  return count_if(mesh.subAxes(), [](const SubAxis &a) { return a.time; });
}

/// Returns the stages whose ops read each value.
static std::vector<std::set<int64_t>> readingStages(const Plan &plan,
                                                    const ModelGraph &graph) {
  std::vector<std::set<int64_t>> stages(graph.values.size());
  for (const auto &[op, running] :
       zip_equal(graph.ops, stagesThatRun(graph, plan)))
    if (!op.setup)
      for (unsigned operand : op.operands)
        stages[operand].insert(running.begin(), running.end());
  return stages;
}

namespace {
struct NamedTensor {
  StringRef name;
  StoredTensor stored;
  int64_t bytes; // per device
};
} // namespace

/// Returns the tensors in the order of the graph.
static std::vector<NamedTensor> storedBy(const Plan &plan,
                                         const ModelGraph &graph) {
  std::vector<NamedTensor> tensors;
  std::vector<std::set<int64_t>> reading = readingStages(plan, graph);
  unsigned time = timeSubAxes(plan.mesh);
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (!value.persistent)
      continue;
    const Sharding &sharding = plan.values[index].sharding;
    NamedTensor tensor{value.name,
                       {value.shape, value.elementBytes, {}, {}},
                       localBytes(value, sharding, plan.mesh)};
    for (const DimSharding &dim : sharding.dims) {
      SmallVector<unsigned, 2> &split = tensor.stored.split.emplace_back();
      for (unsigned subAxis : dim.subAxes)
        split.push_back(subAxis - time);
    }
    if (plan.stages > 1)
      tensor.stored.stages.assign(reading[index].begin(), reading[index].end());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void StoredTensors::add(StringRef entry, const Plan &plan,
                        const ModelGraph &graph) {
  if (empty()) {
    axes = deviceAxes(plan.mesh);
    stages = plan.stages;
    cluster = plan.cluster;
  }
  entries.push_back(entry.str());
  if (deviceAxes(plan.mesh) != axes || plan.stages != stages)
    return;
  for (NamedTensor &tensor : storedBy(plan, graph))
    tensors.emplace(tensor.name.str(), std::move(tensor.stored));
  for (const auto &[index, op] : enumerate(graph.ops))
    if (stages > 1 && graph.hasOwnStage(index))
      stageOfOp.emplace(op.name, plan.ops[index].stage);
}

//===----------------------------------------------------------------------===//
// Requests and limits for later entries
//===----------------------------------------------------------------------===//

Error StoredTensors::askForMesh(PlanRequest &request) const {
  Constraint &stored = request.constraints.list.emplace_back();
  stored.kind = Constraint::Stored;
  stored.name = entries.front();
  request.cluster = cluster;
  Expected<SmallVector<MeshAxis>> pinned = pinnedMesh(request.constraints);
  if (!pinned)
    return pinned.takeError();
  if (!request.mesh.empty() || !pinned->empty())
    return Error::success();
  Plan first;
  first.mesh = Mesh(axes);
  first.stages = stages;
  request.mesh = writtenMesh(first, request.strategies);
  return Error::success();
}

/// Limits ops to their old stages. An op that cannot be there stays free.
void StoredTensors::limitStages(unsigned place, const ModelGraph &graph,
                                Limits &limits) const {
  std::vector<int64_t> earliest(graph.ops.size(), 0);
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (!graph.hasOwnStage(index))
      continue;
    earliest[index] = graph.earliestStage(op, earliest);
    auto before = stageOfOp.find(op.name);
    StageLimit &limit = limits.stages[index];
    if (before == stageOfOp.end() || before->second < earliest[index] ||
        !limit.allows(before->second))
      continue;
    limit.only = earliest[index] = before->second;
    limit.from = place;
  }
}

void StoredTensors::limit(const Constraints &constraints,
                          const ModelGraph &graph, const Mesh &mesh,
                          int64_t stagesNow, Limits &limits) const {
  auto own = find_if(constraints.list, [](const Constraint &c) {
    return c.kind == Constraint::Stored;
  });
  if (deviceAxes(mesh) != axes || stagesNow != stages)
    return;
  unsigned place = own - constraints.list.begin();
  unsigned time = timeSubAxes(mesh);
  for (const auto &[index, value] : enumerate(graph.values)) {
    auto before = tensors.find(value.name);
    if (!value.persistent || before == tensors.end() ||
        before->second.shape != value.shape)
      continue;
    ShardingLimit pin;
    pin.from = place;
    for (ArrayRef<unsigned> split : before->second.split) {
      pin.dims.emplace_back(std::in_place);
      for (unsigned subAxis : split)
        pin.dims.back()->push_back(subAxis + time);
    }
    limits.values[index].pins.push_back(std::move(pin));
  }
  if (stages > 1)
    limitStages(place, graph, limits);
}

//===----------------------------------------------------------------------===//
// Text for the table
//===----------------------------------------------------------------------===//

namespace {
/// Tensors of which the table says the same.
class ToldTensors {
public:
  void add(const NamedTensor &tensor) {
    names.push_back(tensor.name);
    SmallVector<int64_t> stages = tensor.stored.stages;
    if (stages.empty())
      stages.push_back(0);
    for (int64_t stage : stages)
      bytes[stage] += tensor.bytes;
  }
  /// Returns a text such as `3 tensors (12.0 KiB a device)`, for the fullest
  /// stage.
  std::string count() const {
    int64_t most = 0;
    for (const auto &[stage, held] : bytes)
      most = std::max(most, held);
    return formatv("{0} {1} ({2} a device)", names.size(),
                   names.size() == 1 ? "tensor" : "tensors",
                   bytesText(double(most)));
  }

  SmallVector<StringRef> names;

private:
  std::map<int64_t, int64_t> bytes; // per device, by stage
};
} // namespace

/// Returns a text such as `a, b, c, ...`.
static std::string firstNames(ArrayRef<StringRef> names) {
  constexpr size_t kNames = 3;
  return join(names.take_front(kNames), ", ") +
         (names.size() > kNames ? ", ..." : "");
}

Error StoredTensors::checkStates(const Plan &plan,
                                 const ModelGraph &graph) const {
  std::set<StringRef> states;
  for (const GraphState &state : graph.states)
    states.insert(graph.values[state.argument].name);
  bool sameMesh = deviceAxes(plan.mesh) == axes && plan.stages == stages;
  SmallVector<StringRef> otherwise;
  for (const NamedTensor &tensor : storedBy(plan, graph))
    if (auto before = tensors.find(tensor.name.str());
        states.count(tensor.name) && !(sameMesh && before != tensors.end() &&
                                       before->second == tensor.stored))
      otherwise.push_back(tensor.name);
  if (otherwise.empty())
    return Error::success();
  return createStringError("entry " + entries.front() +
                           " changes what this entry stores otherwise (" +
                           firstNames(otherwise) +
                           "): the two would not have it in common; give "
                           "both one mesh and strategy that the model has "
                           "plans for, or compile them one by one");
}

std::string StoredTensors::describe(const Plan &plan, const ModelGraph &graph,
                                    StringRef refusal) const {
  std::vector<NamedTensor> stored = storedBy(plan, graph);
  if (empty() || stored.empty())
    return "";
  bool sameMesh = deviceAxes(plan.mesh) == axes && plan.stages == stages;
  ToldTensors shared, otherwise, own;
  for (const NamedTensor &tensor : stored) {
    auto before = tensors.find(tensor.name.str());
    bool isKnown =
        before != tensors.end() && before->second.shape == tensor.stored.shape;
    bool isSame = isKnown && sameMesh && before->second == tensor.stored;
    (isSame ? shared : isKnown ? otherwise : own).add(tensor);
  }
  std::string text = formatv("shares       {0} with entry {1}\n",
                             shared.count(), join(entries, ", "));
  if (!refusal.empty())
    text += formatv("no more      no plan stores all as entry {0} does: {1}\n",
                    entries.front(), refusal);
  auto add = [&](StringRef label, const ToldTensors &told, StringRef why) {
    if (!told.names.empty())
      text += formatv("{0}{1} {2}: {3}\n", label, told.count(), why,
                      firstNames(told.names));
  };
  add("copies       ", otherwise, "again, stored otherwise than there");
  add("own          ", own, "that it alone has, of such shapes");
  return text;
}

} // namespace autopar
