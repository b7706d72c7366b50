//===- DeadEnds.h - Choices that no best solution needs -------------------===//

#ifndef AUTOPAR_PLANNING_SOLVER_DEADENDS_H
#define AUTOPAR_PLANNING_SOLVER_DEADENDS_H

#include "autopar/Planning/Solver/Elimination.h"

namespace autopar {

/// Per node the choices that remain, ascending.
using Domains = std::vector<std::vector<unsigned>>;

/// Returns all choices that are legal by themselves.
Domains allChoices(const CostGraph &graph);

/// Drops a choice c of a node if another choice c' costs no more whatever the
/// neighbours choose (Goldstein's criterion). At least one best solution
/// remains. No domain may be empty.
void dropDeadEnds(const CostGraph &graph, Domains &domains);

} // namespace autopar

#endif // AUTOPAR_PLANNING_SOLVER_DEADENDS_H
