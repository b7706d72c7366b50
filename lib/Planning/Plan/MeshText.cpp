//===- MeshText.cpp - A mesh as text --------------------------------------===//

#include "autopar/Planning/Plan/MeshText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

std::string meshText(const Mesh &mesh) {
  return join(map_range(mesh.axes(),
                        [](const MeshAxis &axis) {
                          return axis.name + "=" + std::to_string(axis.size);
                        }),
              ", ");
}

} // namespace autopar
