//===- ResolveConstraints.h - From names and axes to limits ---------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_RESOLVECONSTRAINTS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_RESOLVECONSTRAINTS_H

#include "autopar/Planning/Constraints/Limits.h"

namespace autopar {

/// An error names the constraint and why it cannot be met: a name that nothing
/// has, an axis that the mesh has not, a wrong number of dimensions, an op
/// whose rule does not allow it, two constraints that exclude each other.
llvm::Expected<Limits> resolve(const Constraints &constraints,
                               const ModelGraph &graph, const Mesh &mesh,
                               int64_t stages);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_RESOLVECONSTRAINTS_H
