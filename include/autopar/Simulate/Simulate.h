//===- Simulate.h - A scheduled program on a cluster, without devices -----===//
//
// The simulator replays what a device of each stage does. It works on plain
// data, which ReadSchedule.h makes from a module.
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

/// An activity of a device in a micro-batch. Activities are in the order in
/// which the host starts them.
struct Activity {
  ActivityKind kind = ActivityKind::Kernel;
  std::string name; // of its ONNX node
  int64_t stream = 0;
  double seconds = 0;  // from when a kernel or communication can begin
  int64_t channel = 0; // for sends and receives
  int64_t event = 0;   // for records and waits
  /// The place of a collective in SimulatedProgram::communicators.
  size_t communicators = 0;
  int64_t bytesInUse = 0; // bytes of the arena in use while it runs
};

/// The activities of each device of a stage; all of its devices do the same.
struct StageProgram {
  std::vector<Activity> activities;
  int64_t streams = 1;
  int64_t weightBytes = 0; // parameters, setup values and states, once loaded
  int64_t arenaBytes = 0;  // the size of the arena
};

struct SimulatedProgram {
  std::vector<StageProgram> stages;
  int64_t microBatches = 1; // of a step
  /// The number of steps that are replayed; several steps overlap.
  int64_t steps = 1;
  int64_t devicesPerStage = 1;
  /// The messages that a channel holds before they are received. 0: a send ends
  /// with its receive.
  int64_t channelSlots = 0;
  /// The communicator of each device, for each way in which a stage's devices
  /// are split into communicators. Empty: all devices of a stage are in one.
  std::vector<std::vector<int64_t>> communicators;
  /// The node of each device of all stages, and the cores of each node, which
  /// its CPU ranks share. 0: each rank has a core of its own. The seconds of
  /// activities are those on a whole core.
  std::vector<int64_t> nodeOf, coresOfNode;
};

/// An activity that took place, in seconds from the begin of the first step.
struct TimelineEntry {
  int64_t stage, activity; // activity: index in its stage
  int64_t microBatch;      // of all steps
  double start, end;
};

/// The seconds that a device of a stage spent in a step: the mean of all steps.
struct StageTimes {
  double computing = 0;
  double communication = 0; // collectives
  double messages = 0;      // sent and received, waiting not counted
  double busy() const { return computing + communication + messages; }
  /// The seconds of collectives and messages during which no kernel ran.
  double exposed = 0;
  double idle = 0;       // nothing ran
  int64_t heldBytes = 0; // weights and arena
};

struct Timeline {
  std::vector<TimelineEntry> entries; // one device of each stage, in order
  std::vector<StageTimes> stages;     // means of its devices
  /// The seconds of a step; if steps overlap, from the end of one to the end of
  /// the next.
  double seconds = 0;
  double end = 0; // of the last step
};

/// Replays all stages. A micro-batch begins when its device is done with the
/// one before. All messages must arrive, which verify-schedule has checked.
/// Ranks that share cores take turns, so that some wait for others.
Timeline simulate(const SimulatedProgram &program);

/// The utilisation, communication and memory of each stage, as a table.
std::string timelineText(const SimulatedProgram &program,
                         const Timeline &timeline);

/// The numbers of timelineText for all stages as JSON, in seconds and bytes.
llvm::json::Object toJSON(const SimulatedProgram &program,
                          const Timeline &timeline);

/// The timeline in the trace-event format, which Perfetto and chrome://tracing
/// open: a process per stage, a thread per stream, memory as a counter. Times
/// are in microseconds.
std::string traceText(const SimulatedProgram &program,
                      const Timeline &timeline);

} // namespace autopar

#endif // AUTOPAR_SIMULATE_SIMULATE_H
