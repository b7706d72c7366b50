//===- StageBound.h - What the slowest stage takes at least -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_STAGEBOUND_H
#define AUTOPAR_LIB_PLANNING_SEARCH_STAGEBOUND_H

#include "autopar/Planning/Solver/Problem.h"

namespace autopar {

/// The least costs of stages as plain data, by how values are sharded. A
/// decision is the sharding of all values of one class.
struct StageBoundCosts {
  /// A part of the cost of an op and its reshards: seconds per choice of one
  /// decision. An op takes at least the sum of its parts.
  struct Part {
    unsigned decision;
    std::vector<double> seconds;
  };
  /// A value that a later stage may read. `made` and `read` are positions of
  /// the ops that make and read it; `read` is sorted.
  struct Sent {
    unsigned decision;
    size_t made;
    std::vector<size_t> read;
  };
  /// The least seconds to receive a value, and to send it, in stages of one
  /// kind. Indices are a decision and its choice.
  struct Messages {
    std::vector<std::vector<double>> receive, send;
  };

  std::vector<std::vector<Part>> opKinds;
  std::vector<unsigned> ops; // the kind of each, in order
  std::vector<Sent> sent;
  std::vector<size_t> choices; // per decision
  std::vector<Messages> messages;
  std::vector<unsigned> stages; // the kind of each stage's messages
  double seconds = 0;           // a lower bound for all stages together
};

/// Returns a lower bound on the seconds of the slowest stage, however ops are
/// cut into stages and whatever is decided; `limit` at most. Returns 0 if the
/// bound would take too long to compute.
double leastOfSlowestStage(const StageBoundCosts &costs, double limit);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_STAGEBOUND_H
