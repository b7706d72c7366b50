//===- Hyperparameters.h - Numbers that are set between steps ---*- C++ -*-===//
//
// Each hyperparameter that a recipe names `at_run_time` is a state of each
// rank: a number that steps read and never change.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CORE_HYPERPARAMETERS_H
#define AUTOPAR_RUNTIME_CORE_HYPERPARAMETERS_H

#include "Manifest.h"

#include <optional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// Returns the hyperparameters of a program in the manifest's order. Their
/// initial values are fillOf.
std::vector<const PersistentEntry *>
hyperparametersOf(const Manifest &manifest);

/// Returns the value of a hyperparameter in the first step.
double fillOf(const PersistentEntry &hyperparameter);

/// Returns the number with as few digits as identify it.
std::string numberText(double value);

/// Returns a text such as `a number of 0 or more and below 1`.
std::string rangeText(const NumberRange &range);

/// Checks the value of a whole state. It fails if the state is a hyperparameter
/// and the number is outside its range.
Status checkState(const PersistentEntry &state, const void *value);

/// Sets the initial values of hyperparameters from `NAME=NUMBER` assignments.
Status setHyperparameters(const std::vector<std::string> &assignments,
                          Manifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_HYPERPARAMETERS_H
