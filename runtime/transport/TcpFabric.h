//===- TcpFabric.h - Ranks that a launcher started --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_TCPFABRIC_H
#define AUTOPAR_RUNTIME_TRANSPORT_TCPFABRIC_H

#include "TcpHub.h"

#include <atomic>
#include <map>

namespace autopar::runtime {

/// One rank's connection to the hub. A thread reads what comes; it also ends
/// the process if that does not end by itself soon after another rank failed.
class TcpFabric : public RankFabric {
public:
  TcpFabric(TcpIdentity identity, int rank)
      : identity(std::move(identity)), rank(rank) {}
  ~TcpFabric() override;

  /// Finds the hub at one of the ports from `port` on, and waits for all ranks.
  Status join(const std::string &host, int port);
  /// `currentOp`, which must outlive this, is what the rank is at, for messages
  /// when it dies. `endWaits` is called once another rank has failed.
  void watch(const std::atomic<int32_t> &currentOp,
             std::function<void()> endWaits);

  Status barrier(bool withDeadline, double &waitedSeconds) override;
  Status share(int root, void *data, int64_t bytes) override;
  bool aborted() override { return ended.load(); }
  void publish(const RankProgress &progress) override;
  Status progressOf(int rank, RankProgress &progress) override;

  /// The signal (0: none) that this rank brings to its barriers, and the one
  /// that all ranks left the last barrier with, if any was sent one.
  void bringSignal(int signal) { ownSignal = signal; }
  int agreedSignal();

  /// Tells all ranks that this one failed, unless it has heard of a failure.
  void fail(const std::string &text);
  /// Brings rank 0 this rank's result, and waits for the end of the run.
  Status deliver(const std::string &result);
  /// The first failure of the run as the hub told it, or "". `tellsIt`: this
  /// rank tells people, for it failed so, is rank 0, or rank 0 is gone.
  std::string failure(bool &tellsIt);

private:
  Status findHub(const std::string &host, int port, double until);
  Status greet(const std::string &host, int port, bool &refused);
  void readAll();
  void take(const Frame &frame);
  void end(const std::string &text, bool lost);
  void guardEnd();
  Status tell(FrameKind kind, const std::string &bytes = "");
  /// Waits until `done()`, which is asked under the mutex; with a deadline for
  /// `seconds` (below 0: those of --timeout).
  template <typename Done>
  Status wait(const Done &done, bool withDeadline, bool &late,
              double seconds = -1);
  Status lateAtBarrier();

  const TcpIdentity identity;
  const int rank;
  const std::atomic<int32_t> *currentOp = nullptr;
  Socket socket;
  std::mutex sending;
  std::thread thread;
  std::atomic<bool> ended{false};
  uint32_t barriers = 0;
  int32_t ownSignal = 0;
  double published = 0; // when, and what
  RankProgress last;

  std::mutex mutex;
  std::condition_variable changed;
  bool joined = false, over = false, leaving = false; // guarded, as all below
  bool missingKnown = false, hubLost = false;
  uint32_t met = 0;
  int32_t metSignal = 0;
  std::vector<std::string> shared;
  std::vector<int> missing;
  std::map<int, RankProgress> answers;
  std::string text;
  std::string own; // the failure of this rank, if it heard of none before
  std::function<void()> endWaits;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_TCPFABRIC_H
