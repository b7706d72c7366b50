//===- Ranges.cpp - Checks of the bytes that work declares ----------------===//

#include "Ranges.h"

#include "Gpu.h"

#include <cstring>

namespace autopar::runtime::emulated {

const char *accessWords(int access) {
  switch (access & accessReadWrite) {
  case accessRead:
    return "reads";
  case accessWrite:
    return "writes";
  default:
    return "reads and writes";
  }
}

CUresult checkRange(const Range &range, const OpName &op) {
  if (range.bytes == 0 || range.rows == 0 || range.batches == 0)
    return CUDA_SUCCESS;
  // The pieces are between the first and the last.
  size_t bytes = range.bytes + (range.rows - 1) * range.pitch +
                 (range.batches - 1) * range.batchPitch;
  return gpu().memory.checkRange(range.address, bytes,
                                 "'" + op.op + "' on " + op.stream + " " +
                                     accessWords(range.access) + " " +
                                     range.name);
}

static CUresult checkInitialised(const Range &range, const OpName &op) {
  CUresult code = CUDA_SUCCESS;
  Allocation *allocation = gpu().memory.find(range.address);
  forEachPiece(range, [&](CUdeviceptr begin, CUdeviceptr end) {
    size_t from = begin - allocation->address, to = end - allocation->address;
    size_t unset = allocation->initialised.firstUnset(from, to);
    if (unset == to)
      return true;
    code = fault(
        FaultKind::uninitialisedRead,
        "'" + op.op + "' on " + op.stream + " reads " + range.name +
            " at byte " +
            std::to_string(allocation->address + unset - range.address) +
            " of it: " + gpu().memory.describe(allocation->address + unset));
    return false;
  });
  return code;
}

CUresult checkBeforeRun(const Range &range, const OpName &op, HostSum sum) {
  if (sum.known && sumOfBytes(range) != sum.sum)
    return fault(
        FaultKind::hostRace,
        "the host wrote memory that '" + op.op + "' on " + op.stream + " " +
            accessWords(range.access) +
            ", before that had run: " + gpu().memory.describe(range.address));
  if (range.bytes && (range.access & accessRead) &&
      !(range.access & accessUnchecked))
    return checkInitialised(range, op);
  return CUDA_SUCCESS;
}

void markInitialised(const Range &range) {
  if (range.bytes == 0)
    return;
  Allocation *allocation = gpu().memory.find(range.address);
  forEachPiece(range, [&](CUdeviceptr begin, CUdeviceptr end) {
    allocation->initialised.set(begin - allocation->address,
                                end - allocation->address, true);
    return true;
  });
}

uint64_t sumOfBytes(const Range &range) {
  constexpr uint64_t prime = 0x9e3779b97f4a7c15ull;
  uint64_t sums[4] = {1, 2, 3, 4};
  forEachPiece(range, [&](CUdeviceptr begin, CUdeviceptr end) {
    const char *bytes = reinterpret_cast<const char *>(begin);
    size_t count = end - begin, at = 0;
    for (; at + 32 <= count; at += 32)
      for (int lane = 0; lane < 4; ++lane) {
        uint64_t word;
        std::memcpy(&word, bytes + at + 8 * lane, 8);
        sums[lane] = (sums[lane] ^ word) * prime;
      }
    for (; at < count; ++at)
      sums[at % 4] = (sums[at % 4] ^ uint64_t(uint8_t(bytes[at]))) * prime;
    return true;
  });
  return sums[0] ^ (sums[1] << 1) ^ (sums[2] << 2) ^ (sums[3] << 3);
}

} // namespace autopar::runtime::emulated
