//===- MeshText.h - A mesh as text ----------------------------------------===//

#ifndef AUTOPAR_PLANNING_PLAN_MESHTEXT_H
#define AUTOPAR_PLANNING_PLAN_MESHTEXT_H

#include "autopar/Interfaces/Sharding.h"
#include <string>

namespace autopar {

/// Returns a mesh as text: `data=2, tensor=2`.
std::string meshText(const Mesh &mesh);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_MESHTEXT_H
