//===- NcclCommunicator.h - An emulated NCCL communicator -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_NCCLCOMMUNICATOR_H
#define AUTOPAR_RUNTIME_EMULATED_NCCLCOMMUNICATOR_H

#include "../cuda/NcclApi.h"
#include "NcclRegion.h"

#include <memory>
#include <sys/types.h>
#include <vector>

namespace autopar::runtime {

/// A member's end of a communicator. Handles stay valid memory until the
/// process ends, so that use after destruction is found.
struct ncclComm {
  using Region = emulated::NcclRegion;
  enum class State { starting, ready, finalizing, finalized, aborted, gone };

  /// Joins a communicator that an id names, or takes part in a split of
  /// `parent`. Failures are left in `error`.
  void join(const emulated::RegionName &name, int members, int member);
  void split(int color, int key, ncclComm_t *result, ncclComm *child);

  /// Makes progress with what runs in the background.
  void advance();
  /// advance(), and what ncclCommGetAsyncError says.
  ncclResult_t asyncResult();
  /// A split of it or a launch of NCCL's thread goes on.
  bool isBusy() const { return current || launching > 0; }
  ncclResult_t finalize();
  /// Gives up the seat; `how` is gone or aborted.
  void leave(State how);

  /// Keeps the first failure; it is what the communicator says from now on.
  ncclResult_t raise(ncclResult_t code, const std::string &text);
  /// InvalidUsage with a text, if nothing may be asked of it any more.
  ncclResult_t checkUsable(const char *call);

  /// False, with a remote error raised, if a member died or gave up.
  bool checkMembers(const std::string &during);

  int32_t worldRank(int member) const;
  /// The note of this process in the region that all ranks share.
  emulated::WaitNote &waitNote() const;

  Region region;
  ncclComm *root = this; // made by ncclCommInitRankConfig
  int rank = -1;
  int size = 0;
  pid_t process = 0;
  bool blocking = true;
  State state = State::starting;
  ncclResult_t error = ncclSuccess;
  std::string text; // of the last failure

  int looks = 0; // until a new communicator is ready
  // Operations.
  int launching = 0;     // calls that NCCL's thread did not come to yet
  bool busy = false;     // one of them runs
  uint32_t sequence = 0; // collectives begun
  int pending = 0;       // enqueued and not done, without those in graphs
  int captured = 0;      // held by graphs
  int running = 0;       // of the root: operations of this process that wait

private:
  /// A split in its steps: wait until the board is free, post, wait for all,
  /// join the child's region, wait for the child's members, tell the host.
  struct Split {
    enum class Step { board, others, members, end };
    Step step = Step::board;
    int looks = 0; // until the next step
    int color = 0, key = 0;
    ncclComm_t *result = nullptr;
    ncclComm *child = nullptr; // null: in no group
  };
  void advanceSplit();
  bool isDoneWith(int member) const;
  bool boardIsFree() const;
  void postSplit();
  void finishSplit();
  void publishSplit();

  emulated::RegionName created; // of the split's candidate
  uint32_t splits = 0;
  std::unique_ptr<Split> current; // split that is going on
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_EMULATED_NCCLCOMMUNICATOR_H
