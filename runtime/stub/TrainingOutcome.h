//===- TrainingOutcome.h - How a training went ------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_TRAININGOUTCOME_H
#define AUTOPAR_RUNTIME_STUB_TRAININGOUTCOME_H

#include "Run.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// What is told of a training when it is over.
struct TrainingOutcome {
  /// Where the parameters go; empty: nowhere. Those of a training whose loss or
  /// parameters are not finite replace no file.
  std::string final;
  std::vector<std::string> warnings;
  std::vector<std::string> problems; // of each the exit code is not 0
};

/// Nothing of a program that does not train.
TrainingOutcome outcomeOf(const Run &run);

/// Warnings before a training runs: it has no data, writes no parameters, or
/// has other steps than its schedule.
std::vector<std::string> doubtsOfTraining(const Run &run);

/// What begins anew where --weights gives a training its parameters, for a
/// warning; empty: nothing does.
std::string begunAnew(const Run &run);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_TRAININGOUTCOME_H
