//===- TcpHub.h - Where ranks of a launcher meet ----------------*- C++ -*-===//
//
// A thread of rank 0's process to which every rank, 0 too, has a connection. It
// counts barriers, passes on bytes, keeps everyone's progress, notices ranks
// that die, and collects what they bring rank 0 in the end.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_TCPHUB_H
#define AUTOPAR_RUNTIME_TRANSPORT_TCPHUB_H

#include "RankFabric.h"
#include "Socket.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace autopar::runtime {

/// What all ranks of a run say alike.
struct TcpIdentity {
  int world = 1;
  uint64_t program = 0; // checksum of program and options
  std::string run;      // the launcher's name of this run, and the port
  bool isNamed = false; // no other run on these hosts has the same `run`
  double timeoutSeconds = 60;
};

/// A hub listens at the first free one of so many ports.
constexpr int kHubPorts = 16;
/// Who connects has so long to say hello, and so many may be about to; of more
/// the first to come is dropped.
constexpr double kHelloSeconds = 5;
constexpr size_t kMostStrangers = 64;
/// So many strangers are told of by name.
constexpr int kMostWarnings = 8;
/// What a rank reports may be the death of another as its communication saw it:
/// that one's connection has so long to end, which names the op.
constexpr double kReportSeconds = 0.3;

/// Bytes of a rank's hello.
std::string helloBytes(const TcpIdentity &identity, int rank);

/// What the hub knows of the program.
struct TcpProgram {
  /// " in or after op 'X' (KIND)", or "": what a rank is at, which last told
  /// that it is at the op of this number.
  std::function<std::string(int rank, int op)> nameOp;
  /// The most bytes of a rank's result; none: any number.
  std::function<uint64_t(int)> mostResult = nullptr;
};

class TcpHub {
public:
  TcpHub(TcpIdentity identity, TcpProgram program)
      : identity(std::move(identity)), program(std::move(program)) {}
  ~TcpHub();
  TcpHub(const TcpHub &) = delete;
  TcpHub &operator=(const TcpHub &) = delete;

  /// Listens at `port` of this host's address `host` ("": of all of them) or at
  /// one of the next ports, and starts the thread.
  Status start(int port, const std::string &host = "127.0.0.1");
  int port() const { return listening; }
  /// Where a rank of this host reaches it.
  std::string host() const;

  /// Waits for the results of all ranks but 0. They may take as long as bytes
  /// come. results[r] is empty for rank 0.
  Status waitForResults(std::vector<std::string> &results);
  /// Tells all ranks that the run is over.
  void finish();

private:
  /// A connection. It is a stranger until it says hello; then it is welcome as
  /// rank `claimed`, and takes the seat of that rank when it says that it is
  /// here. One that gave up in between has taken nothing.
  struct Peer {
    Socket socket;
    std::string buffer;
    double since = 0; // when it connected
    int claimed = -1;
    int rank = -1; // -1: has no seat
    int32_t op = -1;
    RankProgress progress;
    uint32_t barrier = 0;
    int32_t endSignal = 0; // that it had been sent when it came there
  };

  void serve();
  // Joining: TcpJoining.cpp.
  bool canAccept() const;
  void acceptPeers();
  void dropStrangers(double before);
  void dropFirstStranger();
  void meetStranger(Peer &peer, const Frame &frame);
  void greet(Peer &peer, const Frame &frame);
  void takeSeat(Peer &peer);
  void leaveSeat(Peer &peer);
  /// Drops a connection that is none of a rank, and says so.
  void turnAway(Peer &peer, const std::string &why);
  void checkDeadline(double begun);

  uint64_t mostBytes(const Peer &peer, FrameKind kind) const;
  void readFrom(Peer &peer);
  void refuse(Peer &peer);
  void handle(Peer &peer, Frame &frame);
  void takeResult(Peer &peer, std::string bytes);
  void meet();
  void answerMissing(Peer &peer, uint32_t number);
  void answerProgress(Peer &peer, int rank);
  void pass(const Peer &from, const Frame &frame);
  void lost(Peer &peer);
  /// The first report is a failure after kReportSeconds.
  void report(const std::string &text);
  void checkReport();
  Peer *peerOf(int rank);
  std::vector<int> absent();
  /// A peer that cannot be told is lost.
  void tell(Peer &peer, FrameKind kind, const std::string &bytes = "");
  void tellAll(FrameKind kind, const std::string &bytes);
  void fail(const std::string &text);

  const TcpIdentity identity;
  const TcpProgram program;
  int listening = 0;
  std::string where; // the address of the listener
  Socket listener;
  std::thread thread;
  int wake = -1; // an eventfd: something for the thread to do
  // The thread's own.
  std::vector<std::unique_ptr<Peer>> peers;
  bool joined = false;
  uint32_t met = 0;        // barriers that are over
  double acceptsAgain = 0; // when, after a failure
  std::string trouble;     // the last one of joining
  int warnings = 0;        // that were told
  std::string reported;    // the first failure that a rank told
  double reportedAt = 0;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> results; // guarded, as all below
  size_t arrivedResults = 0;
  uint64_t arrivedBytes = 0;
  bool finishing = false, stopping = false;
  std::string failure;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_TCPHUB_H
