//===- NcclOperation.h - What runs on an emulated communicator --*- C++ -*-===//
//
// A collective, or the messages of one group. At the head of its stream it
// waits until the communicator is free, gives its data to the others, waits for
// theirs, and writes its result. The operations of a communicator run one at a
// time, in the order in which streams reach them: on another rank that order
// may differ, unless streams and events fix it, and then calls do not match.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_NCCLOPERATION_H
#define AUTOPAR_RUNTIME_EMULATED_NCCLOPERATION_H

#include "EmulatedDevice.h"
#include "NcclCommunicator.h"
#include "NcclFaults.h"

namespace autopar::runtime::emulated {

int64_t typeBytes(int32_t ncclType);

/// One call of NCCL's functions that move data.
struct Call {
  CallRecord record;
  CUdeviceptr in = 0, out = 0;
  int64_t inBytes = 0, outBytes = 0;
};

class NcclOperation {
public:
  virtual ~NcclOperation() { comm.captured -= inGraph ? 1 : 0; }

  /// See Work::poll.
  Progress poll(bool first);
  virtual std::string name() const = 0;
  virtual void addRanges(std::vector<Range> &ranges) const = 0;
  /// Whether it is counted in the communicator's pending operations, or in
  /// those that a graph holds.
  bool counted = false, inGraph = false;

protected:
  explicit NcclOperation(ncclComm &comm) : comm(comm) {}

  /// Gives this member's data to the others; called once a run.
  virtual void post() = 0;
  /// What can be done now; true when it was the last. Adds the members that it
  /// waits for. A mismatch is left in `problem`.
  virtual bool advance(std::vector<int> &waitsFor) = 0;
  virtual const CallRecord &call() const = 0;

  ncclComm &comm;
  std::string problem;

private:
  enum class Stage { queued, running, over };
  bool begin(std::vector<int> &waitsFor);
  Progress end(Progress how);
  Progress mismatch(const std::string &text);
  void note(const std::vector<int> &waitsFor);
  /// True if it can never go on: several ranks wait for each other.
  bool isDeadlock(std::string &text);

  Stage stage = Stage::over;
  PlannedFault planned = PlannedFault::none;
  double nextCheck = 0;
  std::vector<uint32_t> versions,
      looks; // of the ranks' notes, at the last check
};

std::unique_ptr<NcclOperation> makeCollective(ncclComm &comm, const Call &call);
/// Sends and receives that run together.
std::unique_ptr<NcclOperation> makeMessages(ncclComm &comm,
                                            std::vector<Call> calls);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_NCCLOPERATION_H
