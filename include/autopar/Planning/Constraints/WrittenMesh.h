//===- WrittenMesh.h - Meshes as users write them -------------------------===//

#ifndef AUTOPAR_PLANNING_CONSTRAINTS_WRITTENMESH_H
#define AUTOPAR_PLANNING_CONSTRAINTS_WRITTENMESH_H

#include "autopar/Planning/Constraints/Demands.h"
#include "autopar/Planning/Plan/Plan.h"
#include <set>

namespace autopar {

/// The axis that counts pipeline stages in a mesh as users write it.
inline constexpr llvm::StringLiteral kStageAxis = "layer";

/// Parses a mesh such as `data=2,tensor=2`.
llvm::Expected<llvm::SmallVector<MeshAxis>> parseMesh(llvm::StringRef text);
/// Returns the text that parseMesh takes.
std::string stringifyMesh(llvm::ArrayRef<MeshAxis> axes);

/// The names of the axes of a searched mesh if nothing else names them.
inline constexpr llvm::StringLiteral kFreeAxes[] = {"x", "y"};

/// Returns all names that the search gives to axes if the request names none.
std::set<std::string> searchedAxes();
/// Returns whether these are the names that the search gives to axes if the
/// request names none.
bool isSearched(llvm::ArrayRef<MeshAxis> axes,
                llvm::ArrayRef<StrategyName> strategies);

/// Returns the axes of a stage's devices: all axes but time.
llvm::SmallVector<MeshAxis> deviceAxes(const Mesh &mesh);

/// Returns whether the name of each axis is one of the strategies other than
/// `layer`.
bool isNamed(llvm::ArrayRef<MeshAxis> axes,
             llvm::ArrayRef<StrategyName> strategies);

/// Returns the mesh that the plan chose, as a user writes it. The names of
/// strategies are matched with axes by position.
llvm::SmallVector<MeshAxis>
writtenMesh(const Plan &plan, llvm::ArrayRef<StrategyName> strategies);

} // namespace autopar

#endif // AUTOPAR_PLANNING_CONSTRAINTS_WRITTENMESH_H
