//===- Simulate.cpp - Replay of a schedule with durations -----------------===//

#include "Replay.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include <map>

using namespace llvm;

namespace autopar {

namespace {

/// The state of a stage: its next activity, and until when each of its streams
/// is busy.
struct StageState {
  size_t next = 0;
  int64_t microBatch = 0;
  SmallVector<double, 2> streams;
  std::map<int64_t, double> events;
};

/// The messages of a channel, in order.
struct Channel {
  std::vector<double> sent, received; // when each was
  /// The times at which senders came to a rendezvous.
  std::vector<double> offered;
};

class Replay {
public:
  explicit Replay(const SimulatedProgram &program) : program(program) {
    for (const StageProgram &stage : program.stages)
      states.emplace_back().streams.assign(stage.streams, 0.0);
    perStage.resize(program.stages.size());
  }

  Timeline run();

private:
  bool isDone(size_t stage) const {
    return states[stage].microBatch == program.microBatches * program.steps;
  }
  bool advance(size_t stage);
  bool step(size_t stage, const Activity &activity);
  bool send(size_t stage, const Activity &activity);
  bool receive(size_t stage, const Activity &activity);
  void note(size_t stage, double start, double end) {
    perStage[stage].push_back({int64_t(stage), int64_t(states[stage].next),
                               states[stage].microBatch, start, end});
  }

  const SimulatedProgram &program;
  std::vector<StageState> states;
  std::map<int64_t, Channel> channels;
  std::vector<std::vector<TimelineEntry>> perStage;
};

} // namespace

/// Sends a message. It waits in its channel if channels have slots; otherwise
/// the sender waits until the receiver has it.
bool Replay::send(size_t stage, const Activity &activity) {
  Channel &channel = channels[activity.channel];
  double &clock = states[stage].streams[activity.stream];
  if (program.channelSlots == 0) {
    // First the message is offered; done is the send once it was received.
    size_t number = channel.sent.size();
    if (channel.offered.size() == number) {
      channel.offered.push_back(clock);
      return false;
    }
    if (channel.received.size() == number)
      return false;
    double end = channel.received[number];
    note(stage, end - activity.seconds, end);
    channel.sent.push_back(end);
    clock = end;
    return true;
  }
  size_t number = channel.sent.size();
  if (number >= size_t(program.channelSlots)) {
    size_t freed = number - program.channelSlots;
    if (channel.received.size() <= freed)
      return false;
    clock = std::max(clock, channel.received[freed]);
  }
  note(stage, clock, clock + activity.seconds);
  clock += activity.seconds;
  channel.sent.push_back(clock);
  return true;
}

bool Replay::receive(size_t stage, const Activity &activity) {
  Channel &channel = channels[activity.channel];
  double &clock = states[stage].streams[activity.stream];
  size_t number = channel.received.size();
  const std::vector<double> &ready =
      program.channelSlots == 0 ? channel.offered : channel.sent;
  if (ready.size() <= number)
    return false;
  double start = std::max(clock, ready[number]);
  note(stage, start, start + activity.seconds);
  clock = start + activity.seconds;
  channel.received.push_back(clock);
  return true;
}

/// Returns whether the stage's next activity could be done.
bool Replay::step(size_t stage, const Activity &activity) {
  StageState &state = states[stage];
  double &clock = state.streams[activity.stream];
  switch (activity.kind) {
  case ActivityKind::Kernel:
  case ActivityKind::Collective:
    note(stage, clock, clock + activity.seconds);
    clock += activity.seconds;
    return true;
  case ActivityKind::Send:
    return send(stage, activity);
  case ActivityKind::Recv:
    return receive(stage, activity);
  case ActivityKind::RecordEvent:
    state.events[activity.event] = clock;
    return true;
  case ActivityKind::WaitEvent:
    clock = std::max(clock, state.events[activity.event]);
    return true;
  }
  llvm_unreachable("all kinds are handled");
}

/// Runs the stage's activities until one has to wait, and returns whether any
/// was run. A micro-batch begins when all streams are done with the one before.
bool Replay::advance(size_t stage) {
  StageState &state = states[stage];
  const std::vector<Activity> &activities = program.stages[stage].activities;
  bool moved = false;
  while (!isDone(stage)) {
    if (state.next == activities.size()) {
      double end = *llvm::max_element(state.streams);
      llvm::fill(state.streams, end);
      state.next = 0;
      ++state.microBatch;
      moved = true;
      continue;
    }
    if (!step(stage, activities[state.next]))
      return moved;
    ++state.next;
    moved = true;
  }
  return moved;
}

namespace {

/// Seconds that intervals cover together; they come by start in each list.
struct Cover {
  double seconds = 0, end = 0;
  void add(const TimelineEntry &entry) {
    double start = std::max(entry.start, end);
    if (entry.end <= start)
      return;
    seconds += entry.end - start;
    end = entry.end;
  }
};

} // namespace

void setSeconds(const SimulatedProgram &program,
                ArrayRef<ArrayRef<TimelineEntry>> entries, double end,
                Timeline &timeline) {
  timeline.seconds = timeline.end = end;
  if (program.steps == 1)
    return;
  std::vector<double> ends(program.steps, 0);
  for (ArrayRef<TimelineEntry> ofDevice : entries)
    for (const TimelineEntry &entry : ofDevice) {
      double &last = ends[entry.microBatch / program.microBatches];
      last = std::max(last, entry.end);
    }
  // The first ones fill the stages, the last ones leave them.
  size_t from = program.steps / 4, to = program.steps - 1 - from;
  timeline.seconds = (ends[to] - ends[from]) / double(to - from);
}

StageTimes timesOf(const StageProgram &stage,
                   std::vector<TimelineEntry> entries, int64_t steps,
                   double step) {
  llvm::stable_sort(entries,
                    [](const TimelineEntry &a, const TimelineEntry &b) {
                      return a.start < b.start;
                    });
  StageTimes times;
  times.heldBytes = stage.weightBytes + stage.arenaBytes;
  Cover kernels, all;
  for (const TimelineEntry &entry : entries) {
    const Activity &activity = stage.activities[entry.activity];
    bool kernel = activity.kind == ActivityKind::Kernel;
    bool collective = activity.kind == ActivityKind::Collective;
    (kernel       ? times.computing
     : collective ? times.communication
                  : times.messages) += entry.end - entry.start;
    if (kernel)
      kernels.add(entry);
    all.add(entry);
  }
  // Sums of the same numbers in another order may differ in the last digit.
  times.exposed = std::max(0.0, all.seconds - kernels.seconds);
  for (double *seconds : {&times.computing, &times.communication,
                          &times.messages, &times.exposed})
    *seconds /= double(steps);
  times.idle = std::max(0.0, step - all.seconds / double(steps));
  return times;
}

Timeline Replay::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t stage = 0; stage < states.size(); ++stage)
      moved |= advance(stage);
  }
  double last = 0;
  for (size_t stage = 0; stage < states.size(); ++stage) {
    if (!isDone(stage))
      report_fatal_error(
          "a stage waits for ever; verify-schedule refuses that");
    for (double end : states[stage].streams)
      last = std::max(last, end);
  }
  Timeline timeline;
  SmallVector<ArrayRef<TimelineEntry>> all(perStage.begin(), perStage.end());
  setSeconds(program, all, last, timeline);
  for (auto [stage, entries] : zip_equal(program.stages, perStage)) {
    timeline.stages.push_back(
        timesOf(stage, entries, program.steps, timeline.seconds));
    append_range(timeline.entries, entries);
  }
  return timeline;
}

Timeline simulate(const SimulatedProgram &program) {
  return sharesCores(program) ? simulateOnCores(program)
                              : Replay(program).run();
}

} // namespace autopar
