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

/// The hyperparameters of a program, in its order; their first values are
/// fillOf.
std::vector<const PersistentEntry *>
hyperparametersOf(const Manifest &manifest);

/// The value of a hyperparameter in the first step.
double fillOf(const PersistentEntry &hyperparameter);

/// The number in as few digits as tell it apart.
std::string numberText(double value);

/// `a number of 0 or more and below 1`
std::string rangeText(const NumberRange &range);

/// Checks that the state may be this, whole: an error if it is a hyperparameter
/// and the number is none of its range.
Status checkState(const PersistentEntry &state, const void *value);

/// Has hyperparameters begin as `NAME=NUMBER` says.
Status setHyperparameters(const std::vector<std::string> &assignments,
                          Manifest &manifest);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_HYPERPARAMETERS_H
