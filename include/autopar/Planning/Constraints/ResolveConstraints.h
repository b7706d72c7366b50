//===- ResolveConstraints.h - From names and axes to limits ---------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_RESOLVECONSTRAINTS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_RESOLVECONSTRAINTS_H

#include "autopar/Planning/Constraints/Limits.h"

namespace autopar {

/// Turns constraints into limits for `graph` on `mesh`. An error names the
/// constraint and says why it cannot be met: nothing has the name, the mesh has
/// no such axis, the number of dimensions is wrong, the rule of an op does not
/// allow it, or two constraints exclude each other.
llvm::Expected<Limits> resolve(const Constraints &constraints,
                               const ModelGraph &graph, const Mesh &mesh,
                               int64_t stages);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_RESOLVECONSTRAINTS_H
