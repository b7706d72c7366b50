//===- HeldPorts.h - Inputs and results of a rank ---------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_HELDPORTS_H
#define AUTOPAR_RUNTIME_STUB_HELDPORTS_H

#include "Run.h"

namespace autopar::runtime {

/// Where a port is stored on a rank.
struct LocalPort {
  size_t index = 0; // in manifest.inputs, checks or the run's results
  int64_t arenaOffset = 0;
  int64_t persistent = -1; // of what is in no arena: index of its tensor
  int64_t after = -1;      // the op after which it is there; -1: at the end
};

/// The inputs that a rank's stage reads.
std::vector<LocalPort> inputsOfRank(const Manifest &manifest, int rank);

/// The wanted results of which a rank delivers its block: it is the first that
/// holds it.
std::vector<LocalPort> resultsOfRank(const Run &run, int rank);

/// The checks that a rank reads: it is the first that has the value.
std::vector<LocalPort> checksOfRank(const Manifest &manifest, int rank);

/// The element of the global tensor at which a part begins, if it is there in
/// one piece; none for an empty part.
std::optional<int64_t> pieceOffset(const std::vector<Interval> &intervals);

/// The bytes at which the rank's part of an input begins in the whole, by
/// micro-batch; each part must be there in one piece.
Status findPieces(const Manifest &manifest, int rank, const Port &port,
                  std::vector<int64_t> &offsets);

/// The message with which the value of a check ends the run; empty: the run
/// goes on.
std::string violation(const Check &check, const char *value);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_HELDPORTS_H
