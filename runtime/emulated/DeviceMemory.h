//===- DeviceMemory.h - The emulated GPU's memory ---------------*- C++ -*-===//
//
// Device addresses are in a reserved range that nothing can access: a host that
// dereferences one dies. The bytes are in a second range, at a fixed distance.
// Freed addresses are not given again, so that a late use is recognised.
// Pinned host memory is in a third range; its device address is its host
// address.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_DEVICEMEMORY_H
#define AUTOPAR_RUNTIME_EMULATED_DEVICEMEMORY_H

#include "BitMap.h"
#include "EmulatedDevice.h"

#include <map>

namespace autopar::runtime::emulated {

/// A reserved part of the address space, given out from low to high.
class AddressRange {
public:
  ~AddressRange();
  /// Reserves up to `bytes` without memory behind them.
  bool reserve(size_t bytes);
  bool contains(const void *address) const {
    return address >= begin && address < begin + size;
  }
  /// The offset of `bytes` unused bytes at a multiple of 512, with unused bytes
  /// after them, or -1.
  int64_t take(size_t bytes);
  /// Puts memory behind [offset, offset + bytes), or takes it away.
  bool commit(size_t offset, size_t bytes);
  void discard(size_t offset, size_t bytes);

  char *begin = nullptr;
  size_t size = 0;

private:
  size_t used = 0;
};

struct Allocation {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  bool live = true;
  bool pinned = false;     // host memory
  bool registered = false; // that was the program's before
  std::string madeFor;     // the label at its allocation
  BitMap initialised;

  CUdeviceptr end() const { return address + bytes; }
};

class DeviceMemory {
public:
  /// Device memory, filled with a pattern (NaN as a float), uninitialised.
  CUresult allocate(CUdeviceptr &address, size_t bytes, size_t limit);
  CUresult allocatePinned(void *&memory, size_t bytes);
  /// Memory of the host counts as pinned until it is released.
  CUresult registerHost(void *memory, size_t bytes);
  /// The live allocation that begins there, or null with a recorded fault.
  Allocation *toRelease(CUdeviceptr address, bool pinned, const char *call);
  void release(Allocation &allocation);

  bool isDevice(CUdeviceptr address) const {
    return addresses.contains(reinterpret_cast<const void *>(address));
  }
  bool isPinned(const void *address) const {
    return pinned.contains(address) || isRegistered(address);
  }
  /// The allocation, live or not, with the largest address not above
  /// `address`; null if there is none.
  Allocation *find(CUdeviceptr address);
  /// Where the bytes of a device or pinned address are; null for others.
  char *bytes(CUdeviceptr address) const;
  /// The address whose bytes are there.
  CUdeviceptr addressOf(const char *bytes) const;
  size_t usedBytes() const { return used; }

  /// "0x7f.. (byte 16 of the 64 bytes allocated for /layer0/MatMul)".
  std::string describe(CUdeviceptr address);
  /// Checks that [address, address + bytes) is inside one live allocation;
  /// else records a fault that begins with `who`.
  CUresult checkRange(CUdeviceptr address, size_t bytes,
                      const std::string &who);
  /// Every live allocation, by address.
  std::vector<const Allocation *> live() const;

private:
  bool reserve();
  bool isRegistered(const void *address) const;

  AddressRange addresses; // never accessible
  AddressRange backing;   // of the same size
  AddressRange pinned;
  std::map<CUdeviceptr, Allocation> allocations;
  size_t used = 0;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_DEVICEMEMORY_H
