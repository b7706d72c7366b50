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

/// The owner of a session tells this the process that starts its workers, with
/// two descriptors: of the shared memory, and of the owner's process.
struct WorkerSetup {
  int first = 0;                   // of the ranks that are workers
  int64_t bytes = 0;               // of the shared memory
  std::vector<size_t> entries;     // numbers of the executable's programs
  std::vector<uint64_t> checksums; // of these programs
  std::string weights;             // as of the session, from the root on
  RankOptions options;
};

/// The descriptor of the socket of that process, and its only argument.
inline constexpr int workerSocket = 3;
inline constexpr const char *workerArgument = "--workers";

/// Rises when what a session and its workers tell each other, or the memory
/// that they share, changes its meaning.
inline constexpr int sessionProtocol = 2;

/// A worker says this to a session of another protocol.
Status otherVersion();

/// These take a setup over the socket; one of another protocol is refused.
Status sendSetup(int socket, const WorkerSetup &setup, int memory, int owner);
Status receiveSetup(WorkerSetup &setup, int &memory, int &owner);

/// The main function of that process: takes the setup from its socket, forks
/// the ranks, which load and do what the session's board says, and notes how
/// they end. A failure before the shared memory is there goes to the socket.
/// All of them end with the session or with its owner.
int runWorkers();

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_WORKER_H
