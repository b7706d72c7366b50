//===- Cells.h - Who touched memory within a launch -------------*- C++ -*-===//
//
// A cell per granule (1 to 16 bytes) of memory remembers the thread that wrote
// it last, another one the threads that have read it since. Times are epochs: a
// counter that never falls, raised at every barrier, block and launch, so that
// cells need never be cleared.
//
// Blocks of a launch are in no order. Threads of a block are ordered by its
// barriers, threads of a warp by the warp's too (of any mask).
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_CELLS_H
#define AUTOPAR_RUNTIME_EMULATED_CELLS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace autopar::runtime::emulated {

/// The epochs of a running block.
struct Epochs {
  static constexpr int maxWarps = 32;

  uint64_t now = 0;
  uint64_t launch = 1;          // first of this launch
  uint64_t block = 1;           // first of this block
  uint64_t barrier = 1;         // since the block's last barrier
  uint64_t warp[maxWarps] = {}; // since each warp's last barrier

  void beginLaunch() { launch = now + 1; }
  void beginBlock() {
    block = now + 1;
    blockBarrier();
  }
  void blockBarrier() {
    barrier = ++now;
    for (uint64_t &epoch : warp)
      epoch = barrier;
  }
  void warpBarrier(uint32_t index) { warp[index] = ++now; }
};

/// epoch << 13 | readers of other blocks | of other warps | of the same warp |
/// thread (10 bits).
using Cell = uint64_t;

constexpr Cell cellThread = 1023;
constexpr Cell cellWarpShares = 1 << 10;
constexpr Cell cellBlockShares = 1 << 11;
constexpr Cell cellBlocksShare = 1 << 12;
constexpr int cellEpochShift = 13;

inline Cell cellOf(const Epochs &epochs, uint32_t thread) {
  return epochs.warp[thread / 32] << cellEpochShift | thread;
}

enum class Order { before, sameBlock, otherBlock };

/// How the access that `cell` remembers stands to thread `thread` now: done
/// before it, or in no order with it.
inline Order orderOf(Cell cell, const Epochs &epochs, uint32_t thread) {
  uint64_t epoch = cell >> cellEpochShift;
  if (epoch < epochs.launch)
    return Order::before;
  if (epoch < epochs.block || (cell & cellBlocksShare))
    return Order::otherBlock;
  if (epoch < epochs.barrier)
    return Order::before;
  uint32_t other = uint32_t(cell & cellThread);
  if (cell & cellBlockShares)
    return Order::sameBlock;
  if (other / 32 == thread / 32)
    return epoch < epochs.warp[thread / 32] ||
                   (other == thread && !(cell & cellWarpShares))
               ? Order::before
               : Order::sameBlock;
  return Order::sameBlock;
}

/// The cell of readers after `thread` has read too.
inline Cell addReader(Cell cell, const Epochs &epochs, uint32_t thread) {
  Cell mine = cellOf(epochs, thread);
  uint64_t epoch = cell >> cellEpochShift;
  if (epoch < epochs.launch)
    return mine;
  if (epoch < epochs.block)
    return mine | cellBlocksShare;
  mine |= cell & cellBlocksShare;
  if (orderOf(cell & ~cellBlocksShare, epochs, thread) == Order::before)
    return mine;
  mine |= cell & (cellWarpShares | cellBlockShares);
  uint32_t other = uint32_t(cell & cellThread);
  return mine | (other / 32 == thread / 32 ? cellWarpShares : cellBlockShares);
}

/// The cells of one contiguous piece of memory.
class Cells {
public:
  /// Watches [base, base + bytes). Old contents are of older epochs. The
  /// granule is the smallest access that is expected, as a power of 2.
  void watch(const char *newBase, size_t newBytes, unsigned newShift,
             bool withReads) {
    base = newBase;
    bytes = newBytes;
    shift = newShift;
    grow(written);
    hasReads = withReads;
    if (withReads)
      grow(read);
  }
  /// Makes the granule small enough for an access of `size` bytes there.
  /// Returns its shift.
  unsigned refine(const char *address, size_t size) {
    size_t offset = size_t(address - base) | size;
    unsigned wanted = shift;
    while (offset & ((size_t(1) << wanted) - 1))
      --wanted;
    if (wanted < shift) {
      spread(written, shift - wanted);
      if (hasReads)
        spread(read, shift - wanted);
      shift = wanted;
    }
    return shift;
  }

  const char *base = nullptr;
  size_t bytes = 0;
  unsigned shift = 2;
  bool hasReads = false;
  std::vector<Cell> written, read;

private:
  void grow(std::vector<Cell> &cells) {
    size_t count = (bytes >> shift) + 1;
    if (cells.size() < count)
      cells.resize(count);
  }
  /// Each cell becomes 2^by cells of the same contents.
  void spread(std::vector<Cell> &cells, unsigned by) {
    size_t count = (bytes >> shift) + 1;
    if (cells.size() < count << by)
      cells.resize(count << by);
    for (size_t i = count; i-- > 0;)
      for (size_t j = 0; j < size_t(1) << by; ++j)
        cells[(i << by) + j] = cells[i];
  }
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_CELLS_H
