//===- Worker.h - The processes of a session's ranks ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_WORKER_H
#define AUTOPAR_RUNTIME_SESSION_WORKER_H

#include "../core/Status.h"
#include "RankOptions.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace autopar::runtime {

/// The message from the owner of a session to the process that starts its
/// workers. It comes with two descriptors, of the shared memory and of the
/// owner's process.
struct WorkerSetup {
  int first = 0;                   // of the ranks that are workers
  int64_t bytes = 0;               // of the shared memory
  std::vector<size_t> entries;     // numbers of the executable's programs
  std::vector<uint64_t> checksums; // of these programs
  std::string weights;             // as of the session, from the root on
  RankOptions options;
};

/// The descriptor of the socket of that process, which is its only argument.
inline constexpr int workerSocket = 3;
inline constexpr const char *workerArgument = "--workers";

/// The version of the protocol. It increases when messages between a session
/// and its workers, or their shared memory, change.
inline constexpr int sessionProtocol = 2;

/// Returns the error of a worker for a session of another protocol.
Status otherVersion();

/// Send and receive a setup over the socket. A setup of another protocol is
/// rejected.
Status sendSetup(int socket, const WorkerSetup &setup, int memory, int owner);
Status receiveSetup(WorkerSetup &setup, int &memory, int &owner);

/// The main function of that process: takes the setup from its socket, forks
/// the ranks, which load and do what the session's board says, and notes how
/// they end. A failure before the shared memory is there goes to the socket.
/// All of them end with the session or with its owner.
int runWorkers();

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_WORKER_H
