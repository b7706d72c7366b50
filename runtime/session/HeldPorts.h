//===- HeldPorts.h - Inputs and results of a rank ---------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_HELDPORTS_H
#define AUTOPAR_RUNTIME_SESSION_HELDPORTS_H

#include "../core/Manifest.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// A tensor that the ranks deliver from their steps.
struct ResultPort {
  enum When { EveryStep, FirstStep, AtEnd };
  const Port *port = nullptr; // of the manifest
  When when = EveryStep;
  bool isAverage = false; // of the parameter of the port's name
};

/// Returns the ports of results: the manifest's outputs, gradients (which no
/// step keeps), trained parameters, their averages (states, which the last step
/// leaves) and state outputs.
std::vector<ResultPort> resultPorts(const Manifest &manifest);

/// The place of a port on a rank.
struct LocalPort {
  size_t index = 0; // in manifest.inputs, checks or resultPorts()
  int64_t arenaOffset = 0;
  int64_t persistent = -1; // of what is in no arena: index of its tensor
  int64_t after = -1;      // the op after which it is there; -1: at the end
};

/// Returns the inputs that a rank's stage reads.
std::vector<LocalPort> inputsOfRank(const Manifest &manifest, int rank);

/// Returns the wanted results of which a rank delivers its block, because it is
/// the first that holds that block. `wanted` is indexed like resultPorts().
std::vector<LocalPort> resultsOfRank(const Manifest &manifest,
                                     const std::vector<ResultPort> &ports,
                                     const std::vector<bool> &wanted, int rank);

/// Returns the checks that a rank reads, because it is the first that has the
/// value.
std::vector<LocalPort> checksOfRank(const Manifest &manifest, int rank);

/// Returns the element of the global tensor at which a part begins if the part
/// is contiguous there. It is nullopt for an empty part.
std::optional<int64_t> pieceOffset(const std::vector<Interval> &intervals);

/// Finds the byte offset of the rank's part of an input in the whole, by
/// micro-batch. Each part must be contiguous there.
Status findPieces(const Manifest &manifest, int rank, const Port &port,
                  std::vector<int64_t> &offsets);

/// Returns the message with which the value of a check ends the run. It is
/// empty if the run continues.
std::string violation(const Check &check, const char *value);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_HELDPORTS_H
