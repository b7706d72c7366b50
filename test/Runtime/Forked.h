//===- Forked.h - Ranks as processes, for tests -----------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_FORKED_H
#define AUTOPAR_TEST_RUNTIME_FORKED_H

#include "core/Manifest.h"
#include "transport/SharedFabric.h"
#include "transport/SharedMemoryTransport.h"

#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace autopar::runtime {

/// A manifest with `ranks` devices of one stage and one communicator of all.
inline Manifest worldManifest(int ranks) {
  Manifest manifest;
  manifest.mesh = {{"data", ranks}};
  manifest.devicesPerStage = ranks;
  std::vector<int> everyone(ranks);
  std::iota(everyone.begin(), everyone.end(), 0);
  manifest.communicators.push_back({{"data"}, {everyone}, 4 << 20});
  manifest.arenaBytes = {0};
  manifest.setupArenaBytes = {0};
  manifest.packedSlots = {0};
  manifest.persistent = {{}};
  return manifest;
}

using RankBody = std::function<std::string(int, Transport &)>;

/// How a process of a test takes part: it calls the body with its transport.
using RankStarter =
    std::function<std::string(SharedFabric &, const Manifest &, int rank,
                              double timeoutSeconds, const RankBody &)>;

inline std::string startInSharedMemory(SharedFabric &fabric,
                                       const Manifest &manifest, int rank,
                                       double timeoutSeconds,
                                       const RankBody &body) {
  ThreadPool pool(rank % 2 + 1, /*spin=*/false);
  SharedMemoryTransport transport(fabric, manifest, rank, pool, timeoutSeconds,
                                  Patience::sharedCore());
  return body(rank, transport);
}

/// Runs `body` in `count` processes. It returns an empty string, or what went
/// wrong. The result joins all of these.
inline std::string runProcesses(int count,
                                const std::function<std::string(int)> &body) {
  constexpr int64_t messageBytes = 4096;
  Buffer messages;
  if (messages.allocateShared(count * messageBytes, "messages").failed())
    return "no shared memory";
  std::vector<pid_t> children;
  for (int rank = 0; rank < count; ++rank) {
    pid_t child = fork();
    if (child > 0) {
      children.push_back(child);
      continue;
    }
    std::string result = body(rank);
    std::snprintf(static_cast<char *>(messages.data()) + rank * messageBytes,
                  messageBytes, "%s", result.c_str());
    _exit(0);
  }
  std::string all;
  for (int rank = 0; rank < count; ++rank) {
    int status = 0;
    waitpid(children[rank], &status, 0);
    std::string text =
        static_cast<const char *>(messages.data()) + rank * messageBytes;
    if (status != 0)
      text += " (ended with status " + std::to_string(status) + ")";
    if (!text.empty())
      all += "rank " + std::to_string(rank) + ": " + text + "\n";
  }
  return all;
}

/// Runs `body` as every rank of `manifest` in a process of its own.
inline std::string runForked(const Manifest &manifest, double timeoutSeconds,
                             const RankBody &body,
                             const RankStarter &start = startInSharedMemory) {
  SharedFabric fabric;
  SharedMemory shared;
  if (fabric.create(manifest, shared).failed())
    return "no shared memory";
  return runProcesses(manifest.worldSize(), [&](int rank) {
    return start(fabric, manifest, rank, timeoutSeconds, body);
  });
}

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_FORKED_H
