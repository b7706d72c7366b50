//===- HeldPorts.h - Inputs and outputs of a rank ---------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_HELDPORTS_H
#define AUTOPAR_RUNTIME_STUB_HELDPORTS_H

#include "../core/Manifest.h"

namespace autopar::runtime {

/// Where a port is stored on a rank.
struct LocalPort {
  size_t index = 0; // in manifest.inputs, outputs or checks
  int64_t arenaOffset = 0;
  int64_t persistent = -1; // of an input that the step reads in place
};

/// The inputs that a rank's stage reads.
std::vector<LocalPort> inputsOfRank(const Manifest &manifest, int rank);

/// The `wanted` outputs (by number) of which a rank delivers its block: it is
/// the first that holds it.
std::vector<LocalPort> outputsOfRank(const Manifest &manifest, int rank,
                                     const std::vector<bool> &wanted);

/// The checks that a rank reads: it is the first that has the value.
std::vector<LocalPort> checksOfRank(const Manifest &manifest, int rank);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_HELDPORTS_H
