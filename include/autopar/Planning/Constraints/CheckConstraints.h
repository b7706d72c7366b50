//===- CheckConstraints.h - Whether constraints are met -------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_CHECKCONSTRAINTS_H
#define AUTOPAR_PLANNING_CONSTRAINTS_CHECKCONSTRAINTS_H

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// Whether a mesh (of one stage's devices) with so many stages is allowed.
bool allowsMesh(const Constraints &constraints, llvm::ArrayRef<MeshAxis> axes,
                int64_t stages);
/// Axes that a constraint pins, `layer` among them; empty: none does. An error
/// where two differ.
llvm::Expected<llvm::SmallVector<MeshAxis>>
pinnedMesh(const Constraints &constraints);

/// Whether a finished plan meets the constraints.
llvm::Error verify(const Plan &plan, const ModelGraph &graph,
                   const Constraints &constraints);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_CHECKCONSTRAINTS_H
