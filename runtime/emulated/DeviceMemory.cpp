//===- DeviceMemory.cpp - The emulated GPU's memory -----------------------===//

#include "DeviceMemory.h"

#include "Gpu.h"

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace autopar::runtime::emulated {

static size_t pageSize() {
  static const size_t size = size_t(sysconf(_SC_PAGESIZE));
  return size;
}

static size_t alignTo(size_t value, size_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

//===----------------------------------------------------------------------===//
// AddressRange
//===----------------------------------------------------------------------===//

AddressRange::~AddressRange() {
  if (begin)
    munmap(begin, size);
}

bool AddressRange::reserve(size_t bytes) {
  for (; bytes >= (size_t(1) << 30); bytes /= 2) {
    void *memory = mmap(nullptr, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      continue;
    begin = static_cast<char *>(memory);
    size = bytes;
    used = pageSize(); // address 0 of the range is nobody's
    return true;
  }
  return false;
}

int64_t AddressRange::take(size_t bytes) {
  // Whole pages, and one more that belongs to no allocation.
  size_t wanted = alignTo(std::max<size_t>(bytes, 1), pageSize()) + pageSize();
  if (wanted < bytes || wanted > size - used)
    return -1;
  size_t offset = used;
  used += wanted;
  return int64_t(offset);
}

bool AddressRange::commit(size_t offset, size_t bytes) {
  bytes = alignTo(std::max<size_t>(bytes, 1), pageSize());
  return mprotect(begin + offset, bytes, PROT_READ | PROT_WRITE) == 0;
}

void AddressRange::discard(size_t offset, size_t bytes) {
  bytes = alignTo(std::max<size_t>(bytes, 1), pageSize());
  madvise(begin + offset, bytes, MADV_DONTNEED);
  mprotect(begin + offset, bytes, PROT_NONE);
}

//===----------------------------------------------------------------------===//
// Allocations
//===----------------------------------------------------------------------===//

bool DeviceMemory::reserve() {
  if (addresses.begin)
    return true;
  constexpr size_t wanted = size_t(1) << 40;
  return addresses.reserve(wanted) && backing.reserve(addresses.size) &&
         backing.size == addresses.size && pinned.reserve(wanted);
}

CUresult DeviceMemory::allocate(CUdeviceptr &address, size_t bytes,
                                size_t limit) {
  if (bytes > limit - std::min(limit, used))
    return refuse(CUDA_ERROR_OUT_OF_MEMORY,
                  "out of memory: " + std::to_string(bytes) +
                      " bytes asked for, " + std::to_string(used) + " of " +
                      std::to_string(limit) + " in use");
  int64_t offset = reserve() ? backing.take(bytes) : -1;
  if (offset < 0 || !backing.commit(size_t(offset), bytes))
    return refuse(CUDA_ERROR_OUT_OF_MEMORY,
                  "out of memory: the host has no room for " +
                      std::to_string(bytes) + " bytes of device memory");
  std::memset(backing.begin + offset, 0xff, bytes);
  address = reinterpret_cast<CUdeviceptr>(addresses.begin) + offset;
  Allocation &allocation = allocations[address];
  allocation.address = address;
  allocation.bytes = bytes;
  allocation.madeFor = gpu().label;
  allocation.initialised = BitMap(bytes);
  used += bytes;
  return CUDA_SUCCESS;
}

CUresult DeviceMemory::allocatePinned(void *&memory, size_t bytes) {
  int64_t offset = reserve() ? pinned.take(bytes) : -1;
  if (offset < 0 || !pinned.commit(size_t(offset), bytes))
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "out of memory: no room for " +
                                                std::to_string(bytes) +
                                                " bytes of pinned host memory");
  memory = pinned.begin + offset;
  Allocation &allocation = allocations[CUdeviceptr(memory)];
  allocation.address = CUdeviceptr(memory);
  allocation.bytes = bytes;
  allocation.pinned = true;
  allocation.madeFor = gpu().label;
  // The host may write it unseen.
  allocation.initialised = BitMap(bytes);
  allocation.initialised.set(0, bytes, true);
  return CUDA_SUCCESS;
}

CUresult DeviceMemory::registerHost(void *memory, size_t bytes) {
  auto begin = CUdeviceptr(memory);
  auto next = allocations.lower_bound(begin);
  bool overlaps = (next != allocations.end() && next->first < begin + bytes) ||
                  isPinned(memory);
  if (overlaps)
    return refuse(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                  "a part of the host memory is pinned already");
  Allocation &allocation = allocations[begin];
  allocation.address = begin;
  allocation.bytes = bytes;
  allocation.pinned = allocation.registered = true;
  allocation.madeFor = gpu().label;
  allocation.initialised = BitMap(bytes);
  allocation.initialised.set(0, bytes, true);
  return CUDA_SUCCESS;
}

bool DeviceMemory::isRegistered(const void *address) const {
  auto next = allocations.upper_bound(CUdeviceptr(address));
  if (next == allocations.begin())
    return false;
  const Allocation &found = std::prev(next)->second;
  return found.registered && CUdeviceptr(address) < found.end();
}

Allocation *DeviceMemory::find(CUdeviceptr address) {
  auto next = allocations.upper_bound(address);
  return next == allocations.begin() ? nullptr : &std::prev(next)->second;
}

Allocation *DeviceMemory::toRelease(CUdeviceptr address, bool isPinned,
                                    const char *call) {
  auto it = allocations.find(address);
  if (it == allocations.end() || it->second.pinned != isPinned) {
    fault(FaultKind::doubleFree, std::string(call) + " of " +
                                     describe(address) +
                                     ", where no allocation begins");
    return nullptr;
  }
  if (!it->second.live) {
    fault(FaultKind::doubleFree,
          std::string(call) + " of " + describe(address) + ", a second time");
    return nullptr;
  }
  return &it->second;
}

void DeviceMemory::release(Allocation &allocation) {
  if (allocation.registered) { // the host's again
    allocations.erase(allocation.address);
    return;
  }
  allocation.live = false;
  allocation.initialised = BitMap();
  if (allocation.pinned) {
    pinned.discard(allocation.address - CUdeviceptr(pinned.begin),
                   allocation.bytes);
    return;
  }
  used -= allocation.bytes;
  backing.discard(allocation.address - CUdeviceptr(addresses.begin),
                  allocation.bytes);
}

char *DeviceMemory::bytes(CUdeviceptr address) const {
  if (isDevice(address))
    return backing.begin + (address - CUdeviceptr(addresses.begin));
  char *host = reinterpret_cast<char *>(address);
  return isPinned(host) ? host : nullptr;
}

CUdeviceptr DeviceMemory::addressOf(const char *bytes) const {
  if (backing.contains(bytes))
    return CUdeviceptr(addresses.begin) + (bytes - backing.begin);
  return CUdeviceptr(bytes);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::string DeviceMemory::describe(CUdeviceptr address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", address);
  Allocation *allocation = find(address);
  if (!allocation || (!isDevice(address) && !isPinned((void *)address)))
    return std::string(text) + " (host memory)";
  std::string result = std::string(text) + " (byte " +
                       std::to_string(address - allocation->address) +
                       " of the " + std::to_string(allocation->bytes) +
                       (allocation->pinned ? " pinned bytes" : " bytes");
  if (!allocation->madeFor.empty())
    result += " allocated for " + allocation->madeFor;
  return result + (allocation->live ? ")" : ", freed)");
}

CUresult DeviceMemory::checkRange(CUdeviceptr address, size_t bytes,
                                  const std::string &who) {
  if (bytes == 0)
    return CUDA_SUCCESS;
  if (!isDevice(address) && !isPinned(reinterpret_cast<void *>(address)))
    return fault(FaultKind::hostPointer,
                 who + " is " +
                     (address ? describe(address) : "a null pointer"));
  Allocation *allocation = find(address);
  if (!allocation)
    return fault(FaultKind::outOfBounds,
                 who + ": " + describe(address) + " was never allocated");
  if (!allocation->live && address < allocation->end())
    return fault(FaultKind::useAfterFree, who + ": " + describe(address));
  if (address >= allocation->end() || bytes > allocation->end() - address)
    return fault(FaultKind::outOfBounds, who + ": " + std::to_string(bytes) +
                                             " bytes from " +
                                             describe(address));
  return CUDA_SUCCESS;
}

std::vector<const Allocation *> DeviceMemory::live() const {
  std::vector<const Allocation *> result;
  for (const auto &entry : allocations)
    if (entry.second.live)
      result.push_back(&entry.second);
  return result;
}

} // namespace autopar::runtime::emulated
