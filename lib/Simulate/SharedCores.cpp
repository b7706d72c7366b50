//===- SharedCores.cpp - Replay of ranks that take turns on cores ---------===//
//
// Every rank of every stage is replayed: which of them waits decides who works
// meanwhile, at the rate of a whole core. A rank keeps its core for a time
// slice or until it waits; then the rank that is ready for the longest time has
// it.
//
//===----------------------------------------------------------------------===//

#include "Replay.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include <deque>
#include <limits>
#include <map>
#include <set>

using namespace llvm;

namespace autopar {

/// Linux's base slice is 0.7 ms * (1 + log2(cores)), 1.4 ms on two cores, and
/// ends a little late, at a tick; as long as here runs of four ranks on two
/// cores wait as replayed.
static constexpr double kSliceSeconds = 1.6e-3;

static constexpr double kNever = std::numeric_limits<double>::infinity();

namespace {

struct Rank {
  size_t stage;
  int64_t device; // of its stage
  int64_t node;
  size_t next = 0;
  int64_t microBatch = 0;
  double remaining = 0; // seconds on a core of the activity that it is at
  std::optional<double> start = std::nullopt;
  std::vector<TimelineEntry> entries = {};
};

struct Core {
  std::optional<size_t> rank;
  double since = 0, sliceEnd = 0;
};

struct Node {
  std::vector<Core> cores;
  std::deque<size_t> ready; // ranks that wait for a core
  double end = kNever;      // at which something happens
};

/// Messages from a device of one stage to its counterpart.
struct Channel {
  int64_t sent = 0, received = 0;
  std::optional<size_t> sender, receiver; // that wait
};

class SharedReplay {
public:
  explicit SharedReplay(const SimulatedProgram &program);
  Timeline run();

private:
  const Activity &activityOf(const Rank &rank) const {
    return program.stages[rank.stage].activities[rank.next];
  }
  bool isDone(const Rank &rank) const {
    return rank.microBatch == program.microBatches * program.steps ||
           program.stages[rank.stage].activities.empty();
  }
  Channel &channelOf(const Rank &rank) {
    return channels[{activityOf(rank).channel, rank.device}];
  }
  bool proceed(size_t number);
  bool meet(size_t number);
  void complete(size_t number);
  void wake(std::optional<size_t> &number);
  void giveCores(Node &node);
  double endOf(const Core &core, const Node &node) const;
  void update();
  bool advance();
  void makeReady(size_t number) {
    nodes[ranks[number].node].ready.push_back(number);
    changed.push_back(ranks[number].node);
  }

  const SimulatedProgram &program;
  double sliceSeconds = kSliceSeconds;
  std::vector<Rank> ranks;
  std::vector<Node> nodes;
  std::map<std::pair<int64_t, int64_t>, Channel> channels;
  /// Ranks that came to a collective: by stage, activity, communicator. None
  /// comes to the next before all have come.
  std::map<std::tuple<size_t, size_t, int64_t>, SmallVector<size_t>> meetings;
  /// The number of members of each communicator, for each split of devices.
  std::vector<std::map<int64_t, size_t>> sizes;
  std::set<std::pair<double, size_t>> ends; // of nodes where ranks work
  std::vector<size_t> changed;              // nodes, since `ends` is as it is
  double now = 0;
};

} // namespace

SharedReplay::SharedReplay(const SimulatedProgram &program)
    : program(program), nodes(program.coresOfNode.size()) {
  std::vector<int64_t> ranksOf(nodes.size(), 0);
  for (size_t device = 0; device < program.nodeOf.size(); ++device) {
    int64_t node = program.nodeOf[device];
    ++ranksOf[node];
    ranks.push_back({device / size_t(program.devicesPerStage),
                     int64_t(device) % program.devicesPerStage, node});
  }
  for (auto [node, count, cores] :
       zip_equal(nodes, ranksOf, program.coresOfNode)) {
    node.cores.resize(cores > 0 ? std::min(cores, count) : count);
  }
  for (const std::vector<int64_t> &split : program.communicators) {
    std::map<int64_t, size_t> &counts = sizes.emplace_back();
    for (int64_t communicator : split)
      ++counts[communicator];
  }
  // A step that takes very long has longer slices, so that they stay few.
  constexpr double kMostSlices = 1e5;
  for (const StageProgram &stage : program.stages) {
    double seconds = 0;
    for (const Activity &activity : stage.activities)
      seconds +=
          activity.seconds * double(program.microBatches * program.steps);
    sliceSeconds = std::max(sliceSeconds, seconds / kMostSlices);
  }
}

/// Comes to a collective; the last one of its communicator lets all begin.
bool SharedReplay::meet(size_t number) {
  const Rank &rank = ranks[number];
  int64_t communicator = communicatorOf(program, activityOf(rank), rank.device);
  SmallVector<size_t> &here = meetings[{rank.stage, rank.next, communicator}];
  here.push_back(number);
  size_t members = program.communicators.empty()
                       ? size_t(program.devicesPerStage)
                       : sizes[activityOf(rank).communicators][communicator];
  if (here.size() < members)
    return false;
  for (size_t other : ArrayRef(here).drop_back())
    makeReady(other);
  here.clear();
  return true;
}

/// Goes on to the rank's next activity that takes time, and returns whether the
/// rank can begin it.
bool SharedReplay::proceed(size_t number) {
  Rank &rank = ranks[number];
  const std::vector<Activity> &all = program.stages[rank.stage].activities;
  while (!isDone(rank)) {
    if (rank.next == all.size()) {
      rank.next = 0;
      ++rank.microBatch;
      continue;
    }
    const Activity &activity = activityOf(rank);
    rank.remaining = activity.seconds;
    switch (activity.kind) {
    case ActivityKind::Kernel:
      return true;
    case ActivityKind::Collective:
      return meet(number);
    case ActivityKind::Send:
      if (Channel &channel = channelOf(rank);
          channel.sent - channel.received >= program.channelSlots) {
        channel.sender = number;
        return false;
      }
      return true;
    case ActivityKind::Recv:
      if (Channel &channel = channelOf(rank);
          channel.received == channel.sent) {
        channel.receiver = number;
        return false;
      }
      return true;
    case ActivityKind::RecordEvent:
    case ActivityKind::WaitEvent:
      ++rank.next; // there is one stream
    }
  }
  return false;
}

void SharedReplay::wake(std::optional<size_t> &number) {
  if (number)
    makeReady(*number);
  number.reset();
}

void SharedReplay::complete(size_t number) {
  Rank &rank = ranks[number];
  rank.entries.push_back({int64_t(rank.stage), int64_t(rank.next),
                          rank.microBatch, *rank.start, now});
  rank.start.reset();
  if (activityOf(rank).kind == ActivityKind::Send) {
    ++channelOf(rank).sent;
    wake(channelOf(rank).receiver);
  } else if (activityOf(rank).kind == ActivityKind::Recv) {
    ++channelOf(rank).received;
    wake(channelOf(rank).sender);
  }
  ++rank.next;
}

void SharedReplay::giveCores(Node &node) {
  for (Core &core : node.cores) {
    if (core.rank || node.ready.empty())
      continue;
    core = {node.ready.front(), now, now + sliceSeconds};
    node.ready.pop_front();
    if (Rank &rank = ranks[*core.rank]; !rank.start)
      rank.start = now;
  }
}

/// When the core's rank is done or, if others wait, its slice over.
double SharedReplay::endOf(const Core &core, const Node &node) const {
  if (!core.rank)
    return kNever;
  double done = core.since + ranks[*core.rank].remaining;
  return node.ready.empty() ? done
                            : std::min(done, std::max(core.sliceEnd, now));
}

/// Chooses the next ranks on the cores of nodes where ranks became ready or
/// left a core, and notes when something happens there.
void SharedReplay::update() {
  for (size_t number : std::exchange(changed, {})) {
    Node &node = nodes[number];
    giveCores(node);
    ends.erase({node.end, number});
    node.end = kNever;
    for (const Core &core : node.cores)
      node.end = std::min(node.end, endOf(core, node));
    if (node.end < kNever)
      ends.insert({node.end, number});
  }
}

/// Goes on to the next moment at which the rank of a core is done or its slice
/// is over. It returns false if no rank works.
bool SharedReplay::advance() {
  update();
  if (ends.empty())
    return false;
  double end = ends.begin()->first;
  size_t nodeNumber = ends.begin()->second;
  Node &node = nodes[nodeNumber];
  Core &core = *llvm::find_if(
      node.cores, [&](const Core &c) { return endOf(c, node) <= end; });
  now = std::max(now, end);
  size_t number = *core.rank;
  Rank &rank = ranks[number];
  bool isAtEnd = core.since + rank.remaining <= now;
  rank.remaining -= now - core.since;
  core.since = now;
  changed.push_back(nodeNumber);
  bool goesOn = true;
  if (isAtEnd) {
    complete(number);
    goesOn = proceed(number);
    if (goesOn)
      rank.start = now;
  }
  if (goesOn && (node.ready.empty() || now < core.sliceEnd))
    return true;
  core.rank.reset();
  if (goesOn)
    makeReady(number);
  return true;
}

Timeline SharedReplay::run() {
  for (size_t number = 0; number < ranks.size(); ++number)
    if (proceed(number))
      makeReady(number);
  while (advance())
    ;
  Timeline timeline;
  SmallVector<ArrayRef<TimelineEntry>> all;
  for (const Rank &rank : ranks)
    all.push_back(rank.entries);
  setSeconds(program, all, now, timeline);
  timeline.stages.resize(program.stages.size());
  for (Rank &rank : ranks) {
    if (!isDone(rank))
      report_fatal_error("a rank waits for ever; verify-schedule refuses that");
    StageTimes times = timesOf(program.stages[rank.stage], rank.entries,
                               program.steps, timeline.seconds);
    StageTimes &mean = timeline.stages[rank.stage];
    double part = 1 / double(program.devicesPerStage);
    mean.computing += part * times.computing;
    mean.communication += part * times.communication;
    mean.messages += part * times.messages;
    mean.exposed += part * times.exposed;
    mean.idle += part * times.idle;
    mean.heldBytes = times.heldBytes;
    if (rank.device == 0)
      append_range(timeline.entries, rank.entries);
  }
  return timeline;
}

bool sharesCores(const SimulatedProgram &program) {
  std::vector<int64_t> ranksOf(program.coresOfNode.size(), 0);
  for (int64_t node : program.nodeOf)
    ++ranksOf[node];
  for (auto [count, cores] : zip_equal(ranksOf, program.coresOfNode))
    if (cores > 0 && cores < count)
      return true;
  return false;
}

Timeline simulateOnCores(const SimulatedProgram &program) {
  return SharedReplay(program).run();
}

} // namespace autopar
