//===- WrittenMesh.h - Meshes as users write them -------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_WRITTENMESH_H
#define AUTOPAR_PLANNING_CONSTRAINTS_WRITTENMESH_H

#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Plan/Plan.h"

namespace autopar {

/// The axis of a mesh, as users write it, that counts pipeline stages.
inline constexpr llvm::StringLiteral kStageAxis = "layer";

/// `data=2,tensor=2`
llvm::Expected<llvm::SmallVector<MeshAxis>> parseMesh(llvm::StringRef text);

/// The axes of a mesh that is searched, where nothing names them.
inline constexpr llvm::StringLiteral kFreeAxes[] = {"x", "y"};

/// Whether the search calls the axes of a mesh so where nothing fixes it.
bool isSearched(llvm::ArrayRef<MeshAxis> axes,
                llvm::ArrayRef<StrategyName> strategies);

/// The axes of a stage's devices: all but time.
llvm::SmallVector<MeshAxis> deviceAxes(const Mesh &mesh);

/// Whether each axis is one of the names other than `layer`.
bool isNamed(llvm::ArrayRef<MeshAxis> axes,
             llvm::ArrayRef<StrategyName> strategies);

/// The mesh that the plan chose, as a user writes it: names of strategies match
/// axes by position.
llvm::SmallVector<MeshAxis>
writtenMesh(const Plan &plan, llvm::ArrayRef<StrategyName> strategies);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_WRITTENMESH_H
