//===- RankOptions.h - How ranks run ----------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_RANKOPTIONS_H
#define AUTOPAR_RUNTIME_SESSION_RANKOPTIONS_H

#include <cstdint>

namespace autopar::runtime {

/// The options of ranks.
struct RankOptions {
  int64_t threads = 0;        // of each; 0: the host's cores shared out
  double timeoutSeconds = 60; // of a wait for another rank
  bool graphs = true;         // of a GPU
  bool verifyWeights = false; // all bytes
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_RANKOPTIONS_H
