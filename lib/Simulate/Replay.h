//===- Replay.h - What replays share ----------------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_SIMULATE_REPLAY_H
#define AUTOPAR_LIB_SIMULATE_REPLAY_H

#include "autopar/Simulate/Simulate.h"

namespace autopar {

/// Sets the seconds of a step by what all devices did until `end`.
void setSeconds(const SimulatedProgram &program,
                llvm::ArrayRef<llvm::ArrayRef<TimelineEntry>> entries,
                double end, Timeline &timeline);

/// Sums up what one device did in a step of so many seconds, by what it did in
/// all of them.
StageTimes timesOf(const StageProgram &stage,
                   std::vector<TimelineEntry> entries, int64_t steps,
                   double step);

/// Returns whether some node has fewer cores than ranks.
bool sharesCores(const SimulatedProgram &program);

/// The replay of all ranks on the cores that they share; messages have slots,
/// and each rank one stream.
Timeline simulateOnCores(const SimulatedProgram &program);

/// The number of the collective's communicator that a device of its stage is
/// in.
inline int64_t communicatorOf(const SimulatedProgram &program,
                              const Activity &activity, int64_t device) {
  return program.communicators.empty()
             ? 0
             : program.communicators[activity.communicators][device];
}

} // namespace autopar

#endif // AUTOPAR_LIB_SIMULATE_REPLAY_H
