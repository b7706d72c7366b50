//===- CommonMemory.cpp - Memory of a rank's entries ----------------------===//

#include "CommonMemory.h"

#include "../files/ContentHash.h"

#include <cstring>
#include <vector>

namespace autopar::runtime {

void *CommonMemory::use(int number) {
  auto found = tensors.find(number);
  if (found == tensors.end())
    return nullptr;
  ++found->second.users;
  return found->second.data;
}

void CommonMemory::add(int number, Device &device, void *data) {
  tensors[number] = {data, &device, 1};
}

Status CommonMemory::drop(int number) {
  auto found = tensors.find(number);
  if (found == tensors.end() || --found->second.users > 0)
    return Status::success();
  Tensor tensor = found->second;
  tensors.erase(found);
  return tensor.device->release(tensor.data);
}

static Status readBytes(Device &device, void *data, int64_t count,
                        std::vector<char> &bytes) {
  bytes.resize(size_t(count));
  Transfer transfer;
  transfer.device = data;
  transfer.slice.intervals = {{count, 0, count}};
  transfer.slice.copy = [&](const std::vector<Interval> &part, char *host) {
    std::memcpy(bytes.data() + part[0].start, host, size_t(part[0].length));
    return Status::success();
  };
  APRT_TRY(device.collect({transfer}));
  return device.synchronize();
}

Status CommonMemory::merge(Device &device, int64_t bytes, void *&data) {
  if (bytes == 0)
    return Status::success();
  std::vector<char> mine, other;
  APRT_TRY(readBytes(device, data, bytes, mine));
  ContentHash hash;
  hash.add(mine.data(), mine.size());
  auto [first, last] = constants.equal_range(hash.value());
  for (auto it = first; it != last; ++it) {
    if (it->second.bytes != bytes)
      continue;
    APRT_TRY(readBytes(device, it->second.data, bytes, other));
    if (mine != other)
      continue;
    APRT_TRY(device.release(data));
    data = it->second.data;
    return Status::success();
  }
  constants.emplace(hash.value(), Constant{bytes, data});
  return Status::success();
}

Status CommonMemory::takeArena(Device &device, MemoryCounter &counter,
                               void *&given) {
  if (!arena)
    APRT_TRY(device.allocate(arenaBytes, "the arena", counter, arena));
  given = arena;
  return Status::success();
}

} // namespace autopar::runtime
