//===- StoredOnce.h - Tensors that entries store alike ----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_STOREDONCE_H
#define AUTOPAR_RUNTIME_SESSION_STOREDONCE_H

#include "../core/Manifest.h"

#include <vector>

namespace autopar::runtime {

/// A group for each entry: entries of one group have each state that two of
/// them name in common. An entry is of the first group whose states it all
/// stores alike, as far as it has them, on every rank; it must have one of
/// them. Sharing some of the states that two entries name would mix their
/// steps.
std::vector<int> groupsOfStates(const std::vector<const Manifest *> &entries);

/// A number for each entry and persistent tensor of a rank: tensors of one
/// number are stored
/// once; -1: the entry has it for itself. Parameters that steps only read have
/// one number if they are the same part of the same bytes of a file, in one
/// type; states if their entries are of one group.
std::vector<std::vector<int>>
numbersOfTensors(const std::vector<const Manifest *> &entries, int rank);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_STOREDONCE_H
