//===- HostCompute.h - How emulated libraries compute -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_HOSTCOMPUTE_H
#define AUTOPAR_RUNTIME_EMULATED_HOSTCOMPUTE_H

#include "../cpu/ThreadPool.h"
#include "../cpu/Workspace.h"

#include <cstdint>
#include <cstring>

namespace autopar::runtime::emulated {

/// The calling thread, with scratch for the runtime's own loops.
struct HostCompute {
  ThreadPool pool{1, /*spin=*/false};
  MemoryCounter memory;
  Workspace workspace{1, memory};
};
HostCompute &hostCompute();

/// Nearest value with ten bits after the point, ties away from zero: as tensor
/// cores take a float.
inline float roundToTf32(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if ((bits & 0x7f800000u) == 0x7f800000u)
    return value;
  bits = (bits + 0x1000u) & ~0x1fffu;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_HOSTCOMPUTE_H
