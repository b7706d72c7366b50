//===- CheckConstraints.h - Whether constraints are met -------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_CHECKCONSTRAINTS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_CHECKCONSTRAINTS_H

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Plan/Plan.h"
#include <set>

namespace autopar {

/// Returns whether the constraints allow the mesh `axes` for the devices of one
/// stage together with this number of stages.
bool allowsMesh(const Constraints &constraints, llvm::ArrayRef<MeshAxis> axes,
                int64_t stages);
/// Returns the axes that a constraint pins, `layer` among them; empty if none
/// does. Returns an error if two constraints pin different axes.
llvm::Expected<llvm::SmallVector<MeshAxis>>
pinnedMesh(const Constraints &constraints);

/// Returns an error if a constraint forbids a mesh with an axis that is not
/// among `names`, those of all axes of a search: it would forbid nothing.
llvm::Error checkForbiddenAxes(const Constraints &constraints,
                               const std::set<std::string> &names);

/// Checks that a finished plan meets the constraints.
llvm::Error verify(const Plan &plan, const ModelGraph &graph,
                   const Constraints &constraints);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_CHECKCONSTRAINTS_H
