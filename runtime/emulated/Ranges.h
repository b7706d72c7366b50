//===- Ranges.h - Checks of the bytes that work declares --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_RANGES_H
#define AUTOPAR_RUNTIME_EMULATED_RANGES_H

#include "Queues.h"

namespace autopar::runtime::emulated {

/// "reads", "writes", "reads and writes".
const char *accessWords(int access);

/// Calls `visit(begin, end)` for each contiguous piece until it returns false.
template <typename Visit> void forEachPiece(const Range &range, Visit visit) {
  if (range.bytes == 0)
    return;
  size_t rows = range.rows, bytes = range.bytes;
  if (rows > 1 && range.pitch == bytes) {
    bytes *= rows;
    rows = 1;
  }
  for (size_t batch = 0; batch < range.batches; ++batch)
    for (size_t row = 0; row < rows; ++row) {
      CUdeviceptr begin =
          range.address + batch * range.batchPitch + row * range.pitch;
      if (!visit(begin, begin + bytes))
        return;
    }
}

/// Device (or pinned) addresses inside one live allocation; else a recorded
/// fault.
CUresult checkRange(const Range &range, const OpName &op);

/// Before work runs: what it reads is initialised, pinned memory that it copies
/// is as it was when enqueued.
CUresult checkBeforeRun(const Range &range, const OpName &op, HostSum sum);
void markInitialised(const Range &range);

/// A sum that differs, nearly surely, if the host's bytes there do.
uint64_t sumOfBytes(const Range &range);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_RANGES_H
