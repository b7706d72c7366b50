//===- TrainingOutcome.h - How a training went ------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_TRAININGOUTCOME_H
#define AUTOPAR_RUNTIME_STUB_TRAININGOUTCOME_H

#include "Run.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// The warnings and problems that are reported after a training.
struct TrainingOutcome {
  /// The file that the parameters go to; it is empty if they are not written.
  /// Parameters of a training whose loss or parameters are not finite replace
  /// no file.
  std::string final;
  std::vector<std::string> warnings;
  std::vector<std::string> problems; // of each the exit code is not 0
};

/// Returns the outcome of a run. It is empty for a program that does not train.
TrainingOutcome outcomeOf(const Run &run);

/// Returns warnings before a training runs: it has no data, writes no
/// parameters, or has another number of steps than its schedule.
std::vector<std::string> doubtsOfTraining(const Run &run);

/// Lists the states that begin anew because --weights restores only parameters.
/// The text is part of a warning and empty if there are none.
std::string begunAnew(const Run &run);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_TRAININGOUTCOME_H
