//===- HeldTensors.cpp - What takes a device's memory, and when -----------===//

#include "ExplainText.h"
#include "autopar/Planning/Model/Strategies.h"
#include "autopar/Planning/Plan/StageWork.h"
#include "autopar/Report/PlanFacts.h"
#include "autopar/Report/PlanText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace autopar {

namespace {

/// The first and the last place in the order of items at which a buffer is in
/// use.
struct Lifetime {
  int64_t first = -1, last = -1;
};

/// Buffers of the same size whose values look alike.
struct AlikeBuffers {
  HeldTensor held;
  std::vector<Lifetime> lifetimes; // in the order of the program
};

class StageReader {
public:
  StageReader(const StageWork &stage, const ModelGraph &graph, const Plan &plan)
      : stage(stage), graph(graph), plan(plan), order(orderWork(stage.work)) {}

  std::vector<HeldTensor> read();

private:
  std::vector<Lifetime> lifetimes() const;
  std::string itemName(int64_t place) const;
  std::string keyOf(const BufferContents &what, int64_t bytes) const;
  AlikeBuffers &alike(const BufferContents &what, int64_t bytes,
                      StringRef kind);
  void addWeights();
  void addBuffers();

  const StageWork &stage;
  const ModelGraph &graph;
  const Plan &plan;
  std::vector<unsigned> order;
  std::map<std::string, size_t> places;
  std::vector<AlikeBuffers> groups;
};

} // namespace

/// Returns the largest number of lifetimes that overlap.
static int64_t mostAtOnce(ArrayRef<Lifetime> lifetimes) {
  std::map<int64_t, int64_t> changes; // by place
  for (const Lifetime &life : lifetimes) {
    ++changes[life.first];
    --changes[life.last + 1];
  }
  int64_t now = 0, most = 0;
  for (auto [place, change] : changes)
    most = std::max(most, now += change);
  return most;
}

std::vector<Lifetime> StageReader::lifetimes() const {
  const WorkList &work = stage.work;
  std::vector<Lifetime> list(work.buffers.size());
  for (const auto &[place, index] : enumerate(order))
    for (const auto &side : {ArrayRef<unsigned>(work.items[index].writes),
                             ArrayRef<unsigned>(work.items[index].reads)})
      for (unsigned buffer : side) {
        if (list[buffer].first < 0)
          list[buffer].first = int64_t(place);
        list[buffer].last = int64_t(place);
      }
  for (const auto &[buffer, life] : zip_equal(work.buffers, list)) {
    if (life.first < 0)
      continue;
    if (buffer.input)
      life.first = 0;
    if (buffer.output)
      life.last = int64_t(order.size()) - 1;
  }
  return list;
}

/// Returns the name of the op whose result the item makes or moves.
std::string StageReader::itemName(int64_t place) const {
  const WorkItem &item = stage.work.items[order[place]];
  ArrayRef<unsigned> buffers = item.writes.empty() ? item.reads : item.writes;
  const GraphValue &value = graph.values[stage.contents[buffers.front()].value];
  return value.source == ValueSource::Op
             ? "op " + graph.ops[value.producer].name
             : "the read of " + value.name;
}

std::string StageReader::keyOf(const BufferContents &what,
                               int64_t bytes) const {
  const GraphValue &value = graph.values[what.value];
  std::string key = std::to_string(bytes) + toString(what.sharding, plan.mesh);
  for (int64_t size : value.shape)
    key += "," + std::to_string(size);
  if (value.source == ValueSource::Op)
    key += graph.ops[value.producer].facts->signature;
  for (const GraphUse &use : value.uses)
    key += "|" + graph.ops[use.op].facts->signature;
  return key;
}

AlikeBuffers &StageReader::alike(const BufferContents &what, int64_t bytes,
                                 StringRef kind) {
  auto [it, isNew] =
      places.try_emplace(kind.str() + keyOf(what, bytes), groups.size());
  if (isNew) {
    HeldTensor &held = groups.emplace_back().held;
    held.tensor = graph.values[what.value].name;
    held.sharding = toString(what.sharding, plan.mesh);
    held.bytes = bytes;
  }
  ++groups[it->second].held.count;
  return groups[it->second];
}

/// Adds weights in the same way as weightBytes: unpacked, packed for library
/// calls, or both.
void StageReader::addWeights() {
  std::map<unsigned, int64_t> copies;
  for (unsigned value : stage.plain)
    ++copies[value];
  for (const auto &[use, kind] : stage.calls)
    if (graph.table->packs(kind, stage.plain.count(use.first)))
      ++copies[use.first];
  for (auto [value, count] : copies) {
    const Sharding &sharding = plan.values[value].sharding;
    int64_t bytes =
        count * localBytes(graph.values[value], sharding, plan.mesh);
    HeldTensor &held = alike({value, sharding}, bytes, "weight").held;
    held.atOnce = held.count;
  }
}

void StageReader::addBuffers() {
  for (const auto &[index, life] : enumerate(lifetimes())) {
    const WorkBuffer &buffer = stage.work.buffers[index];
    if (buffer.persistent || life.first < 0)
      continue;
    alike(stage.contents[index], buffer.bytes, "buffer")
        .lifetimes.push_back(life);
  }
  for (AlikeBuffers &group : groups) {
    if (group.lifetimes.empty())
      continue;
    group.held.atOnce = mostAtOnce(group.lifetimes);
    group.held.from = itemName(group.lifetimes.front().first);
    group.held.to = itemName(group.lifetimes.front().last);
  }
}

std::vector<HeldTensor> StageReader::read() {
  addWeights();
  addBuffers();
  std::vector<HeldTensor> list;
  for (AlikeBuffers &group : groups)
    list.push_back(std::move(group.held));
  llvm::stable_sort(list, [](const HeldTensor &a, const HeldTensor &b) {
    return a.bytes * a.atOnce > b.bytes * b.atOnce;
  });
  return list;
}

std::vector<std::vector<HeldTensor>> heldTensors(const Plan &plan,
                                                 const ModelGraph &graph) {
  std::vector<std::vector<HeldTensor>> stages;
  for (const StageWork &stage :
       workOfStages(graph, plan, /*listsContents=*/true))
    stages.push_back(StageReader(stage, graph, plan).read());
  return stages;
}

std::string heldTensorsText(const Plan &plan, const ModelGraph &graph) {
  constexpr size_t kShownTensors = 10;
  ArrayRef<int64_t> bytes = plan.predictedStageMemoryBytes;
  int64_t fullest = llvm::max_element(bytes) - bytes.begin();
  std::vector<HeldTensor> list = heldTensors(plan, graph)[fullest];
  std::string text = "what takes most memory on a device";
  if (plan.stages > 1)
    text += formatv(" of stage {0}, the fullest", fullest);
  text += "\n";
  for (const HeldTensor &held : ArrayRef(list).take_front(kShownTensors)) {
    std::string number =
        held.from.empty() || held.atOnce == held.count
            ? formatv("{0} x", held.count).str()
            : formatv("{0} of {1} x", held.atOnce, held.count).str();
    text += formatv("  {0,12} {1,12} {2,-10}  tensor {3} {4}{5}: {6}\n",
                    bytesText(double(held.bytes * held.atOnce)), number,
                    bytesText(double(held.bytes)), held.tensor, held.sharding,
                    held.count > 1 ? ", and others like it" : "",
                    held.from.empty() ? "all the time"
                                      : "from " + held.from + " to " + held.to);
  }
  if (list.size() > kShownTensors)
    text += formatv("  and {0} others\n", list.size() - kShownTensors);
  return text;
}

} // namespace autopar
