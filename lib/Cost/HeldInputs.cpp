//===- HeldInputs.cpp - Inputs that a device reads in place ---------------===//

#include "autopar/Cost/HeldInputs.h"
#include "llvm/ADT/STLExtras.h"

namespace autopar {

/// Ones, then any block, then whole dimensions.
bool isOnePiece(llvm::ArrayRef<int64_t> shape, const Sharding &sharding,
                const Mesh &mesh) {
  bool began = false;
  for (auto [size, dim] : llvm::zip_equal(shape, sharding.dims)) {
    if (dim.interval || isUneven(size, dim, mesh))
      return false; // may reach outside
    int64_t block = localSize(size, dim, mesh);
    if (began && block != size)
      return false;
    began |= block != 1;
  }
  return true;
}

} // namespace autopar
