//===- Meshes.h - Meshes of tests, and their texts ------------------------===//

#ifndef AUTOPAR_TEST_UNIT_PLANNING_SEARCH_MESHES_H
#define AUTOPAR_TEST_UNIT_PLANNING_SEARCH_MESHES_H

#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "lib/Planning/Search/MeshCandidates.h"
#include "llvm/ADT/STLExtras.h"

namespace autopar {

/// `data=2:data x=4:auto 1`: axes, what they are demanded to do, and stages.
inline std::string spell(const MeshCandidate &candidate) {
  std::string text;
  for (const auto &[axis, name] :
       llvm::zip_equal(candidate.axes, candidate.names))
    text += axis.name + "=" + std::to_string(axis.size) + ":" +
            stringifyStrategy(name).str() + " ";
  return text + std::to_string(candidate.stages);
}

using Texts = std::vector<std::string>;

/// Axes that demand nothing.
inline MeshCandidate freeMesh(llvm::StringRef mesh) {
  MeshCandidate candidate;
  candidate.axes = llvm::cantFail(parseMesh(mesh));
  candidate.names.assign(candidate.axes.size(), StrategyName::Auto);
  return candidate;
}

} // namespace autopar

#endif // AUTOPAR_TEST_UNIT_PLANNING_SEARCH_MESHES_H
