//===- StageBound.h - What the slowest stage takes at least -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_SEARCH_STAGEBOUND_H
#define AUTOPAR_LIB_PLANNING_SEARCH_STAGEBOUND_H

#include "autopar/Planning/Solver/Problem.h"

namespace autopar {

/// What a stage costs by how values are sharded, as plain data. A decision is
/// how all values of a class are sharded.
struct StageBoundCosts {
  /// An op's part of what it costs, the reshards at it included: seconds per
  /// choice of a decision. An op takes no less than its parts together.
  struct Part {
    unsigned decision;
    std::vector<double> seconds;
  };
  /// A value that a later stage may read: where it is made and read, positions
  /// of ops, these in order.
  struct Sent {
    unsigned decision;
    size_t made;
    std::vector<size_t> read;
  };
  /// What it takes at least to receive a value, and to send it, per decision
  /// and choice, in stages of a kind.
  struct Messages {
    std::vector<std::vector<double>> receive, send;
  };

  std::vector<std::vector<Part>> opKinds;
  std::vector<unsigned> ops; // kind of each, in the order of the stages
  std::vector<Sent> sent;
  std::vector<size_t> choices; // per decision
  std::vector<Messages> messages;
  std::vector<unsigned> stages; // kind of the messages of each
  double seconds = 0;           // of all stages together at least
};

/// In each way to cut the ops into stages the slowest takes as much, or
/// `limit`, whatever is decided. 0 where it would take too long to say.
double leastOfSlowestStage(const StageBoundCosts &costs, double limit);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_SEARCH_STAGEBOUND_H
