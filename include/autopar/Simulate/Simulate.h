//===- Simulate.h - A scheduled program on a cluster, without devices -----===//
//
// What a device of each stage does, on plain data; ReadSchedule.h makes it of a
// module.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SIMULATE_SIMULATE_H
#define AUTOPAR_SIMULATE_SIMULATE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>
#include <vector>

namespace autopar {

enum class ActivityKind {
  Kernel,
  Collective,
  Send,
  Recv,
  RecordEvent,
  WaitEvent
};

/// One thing that a device does in a micro-batch, in the order in which the
/// host starts it.
struct Activity {
  ActivityKind kind = ActivityKind::Kernel;
  std::string name; // of the node it is of
  int64_t stream = 0;
  double seconds = 0;  // of kernels and communication, once it can begin
  int64_t channel = 0; // of sends and receives
  int64_t event = 0;   // of records and waits
  /// Of collectives: the place in SimulatedProgram::communicators.
  size_t communicators = 0;
  int64_t bytesInUse = 0; // of the arena, while it runs
};

/// What each device of one stage does; they are alike.
struct StageProgram {
  std::vector<Activity> activities;
  int64_t streams = 1;
  int64_t weightBytes = 0; // parameters, states and inputs that steps read
  int64_t arenaBytes = 0;  // of the arena, which is there all the time
};

struct SimulatedProgram {
  std::vector<StageProgram> stages;
  int64_t microBatches = 1; // of a step
  /// That are replayed; several overlap.
  int64_t steps = 1;
  int64_t devicesPerStage = 1;
  /// Messages that a channel holds before they are received; 0: a send ends
  /// with its receive.
  int64_t channelSlots = 0;
  /// Per split of a stage's devices into communicators the one that each device
  /// is in; empty: all of a stage are in one.
  std::vector<std::vector<int64_t>> communicators;
  /// The node of each device, of all stages, and the cores of each node, which
  /// ranks on processors share; 0: each has its own. Seconds of activities are
  /// those on a core.
  std::vector<int64_t> nodeOf, coresOfNode;
};

/// An activity that took place, in seconds from the begin of the first step.
struct TimelineEntry {
  int64_t stage, activity; // activity: index in its stage
  int64_t microBatch;      // of all steps
  double start, end;
};

/// What a device of one stage did in a step, in seconds: the mean of all steps.
struct StageTimes {
  double computing = 0;
  double communication = 0; // collectives
  double messages = 0;      // sent and received, waiting not counted
  double busy() const { return computing + communication + messages; }
  /// Of collectives and messages, what no kernel ran beside.
  double exposed = 0;
  double idle = 0;       // nothing ran
  int64_t heldBytes = 0; // weights and arena
};

struct Timeline {
  std::vector<TimelineEntry> entries; // of a device of each stage in order
  std::vector<StageTimes> stages;     // means of its devices
  /// A step; where steps overlap, from the end of one to the end of the next.
  double seconds = 0;
  double end = 0; // of the last step
};

/// Replays all stages, each micro-batch once its device is done with the one
/// before. All messages must arrive: what verify-schedule accepts. Where ranks
/// share cores they take turns, which lets others wait.
Timeline simulate(const SimulatedProgram &program);

/// Utilisation, communication and memory by stage, as a table.
std::string timelineText(const SimulatedProgram &program,
                         const Timeline &timeline);

/// What timelineText tells, of all stages, in seconds and bytes.
llvm::json::Object toJSON(const SimulatedProgram &program,
                          const Timeline &timeline);

/// The trace-event format that Perfetto and chrome://tracing open: a process
/// per stage, a thread per stream, memory as a counter. Times in microseconds.
std::string traceText(const SimulatedProgram &program,
                      const Timeline &timeline);

} // namespace autopar

#endif // AUTOPAR_SIMULATE_SIMULATE_H
