//===- KernelAccess.cpp - Checks of a kernel's accesses -------------------===//

#include "Gpu.h"
#include "KernelRun.h"
#include "Ranges.h"

#include <algorithm>

namespace autopar::runtime::emulated {

//===----------------------------------------------------------------------===//
// Before a launch
//===----------------------------------------------------------------------===//

void KernelRunner::prepareParameters() {
  const apemu_kernel &kernel = *current->kernel;
  DeviceMemory &memory = gpu().memory;
  argumentValues = current->arguments;
  argumentPointers.clear();
  parameters.assign(size_t(kernel.pointers), Parameter());
  for (size_t i = 0; i < parameters.size(); ++i) {
    Parameter &parameter = parameters[i];
    CUdeviceptr address = argumentValues[i];
    parameter.bytes = uint64_t(kernel.parameters[i].bytes);
    parameter.access = int(kernel.parameters[i].access);
    if (parameter.bytes == 0)
      continue;
    parameter.base = memory.bytes(address);
    argumentValues[i] = reinterpret_cast<uint64_t>(parameter.base);
    parameter.allocation = memory.find(address);
    parameter.offset = address - parameter.allocation->address;
    size_t end = parameter.offset + parameter.bytes;
    bool initialised = parameter.allocation->initialised.firstUnset(
                           parameter.offset, end) == end;
    parameter.checkInitialised =
        !initialised && (parameter.access & APEMU_READ);
    parameter.markInitialised =
        !initialised && (parameter.access & APEMU_WRITE);
  }
  for (uint64_t &value : argumentValues)
    argumentPointers.push_back(&value);
  shareCells();
  for (Parameter &parameter : parameters)
    parameter.plain = !parameter.checkInitialised &&
                      !parameter.markInitialised && !parameter.cells;
}

/// Parameters that overlap, one of them written, are watched by the same cells.
void KernelRunner::shareCells() {
  std::vector<Parameter *> byBase;
  for (Parameter &parameter : parameters)
    if (parameter.base)
      byBase.push_back(&parameter);
  std::sort(
      byBase.begin(), byBase.end(),
      [](const Parameter *a, const Parameter *b) { return a->base < b->base; });
  size_t used = 0;
  for (size_t first = 0, next; first < byBase.size(); first = next) {
    const char *end = byBase[first]->base + byBase[first]->bytes;
    int access = byBase[first]->access;
    for (next = first + 1; next < byBase.size() && byBase[next]->base < end;
         ++next) {
      end = std::max(end, byBase[next]->base + byBase[next]->bytes);
      access |= byBase[next]->access;
    }
    if (!(access & APEMU_WRITE))
      continue;
    if (used == globalCells.size())
      globalCells.push_back(std::make_unique<Cells>());
    Cells &cells = *globalCells[used++];
    auto hint = smallestGranule.find(current->kernel);
    // Where cells begin is a multiple of every granule.
    uintptr_t base = reinterpret_cast<uintptr_t>(byBase[first]->base) & ~15ull;
    cells.watch(reinterpret_cast<char *>(base), size_t(end - (char *)base),
                hint == smallestGranule.end() ? 2 : hint->second,
                access & APEMU_READ);
    for (size_t i = first; i < next; ++i)
      byBase[i]->cells = &cells;
  }
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static bool isMisaligned(const char *address, uint64_t bytes) {
  return (reinterpret_cast<uintptr_t>(address) & (bytes - 1)) && bytes <= 16 &&
         (bytes & (bytes - 1)) == 0;
}

void KernelRunner::global(KernelThread &thread, const char *address,
                          uint64_t bytes, int access, int index) {
  if (__builtin_expect(size_t(index) >= parameters.size(), 0))
    index = findParameter(address);
  if (__builtin_expect(index >= 0, 1)) {
    const Parameter &parameter = parameters[size_t(index)];
    uint64_t offset = uint64_t(address - parameter.base);
    if (__builtin_expect(
            offset <= parameter.bytes && bytes <= parameter.bytes - offset &&
                !(access & ~parameter.access) && !isMisaligned(address, bytes),
            1)) {
      if (!parameter.plain)
        tracked(parameter, thread, address, bytes, access);
      return;
    }
  }
  reportGlobal(thread, address, bytes, access, index);
  leave();
}

void KernelRunner::tracked(const Parameter &parameter, KernelThread &thread,
                           const char *address, uint64_t bytes, int access) {
  if (parameter.cells && (access & APEMU_READ))
    trackRead<false>(*parameter.cells, thread, address, bytes);
  if (parameter.cells && (access & APEMU_WRITE))
    trackWrite<false>(*parameter.cells, thread, address, bytes);
  if (!parameter.checkInitialised && !parameter.markInitialised)
    return;
  size_t begin = parameter.offset + size_t(address - parameter.base);
  BitMap &initialised = parameter.allocation->initialised;
  if (parameter.checkInitialised && (access & APEMU_READ) &&
      initialised.firstUnset(begin, begin + bytes) != begin + bytes) {
    fail(thread, FaultKind::uninitialisedRead, "reads " + placeOf(address));
    leave();
  }
  if (parameter.markInitialised && (access & APEMU_WRITE))
    initialised.set(begin, begin + bytes, true);
}

void KernelRunner::shared(KernelThread &thread, const char *address,
                          uint64_t bytes, int access) {
  uint64_t offset = uint64_t(address - sharedCells.base);
  if (__builtin_expect(offset > sharedCells.bytes ||
                           bytes > sharedCells.bytes - offset ||
                           isMisaligned(address, bytes),
                       0)) {
    reportShared(thread, address, bytes, access);
    leave();
  }
  if (access & APEMU_READ)
    trackRead<true>(sharedCells, thread, address, bytes);
  if (access & APEMU_WRITE)
    trackWrite<true>(sharedCells, thread, address, bytes);
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// The cells of an access: [first, last).
struct CellSpan {
  size_t first, last;
};

static inline CellSpan spanOf(Cells &cells, const char *address,
                              uint64_t bytes) {
  size_t offset = size_t(address - cells.base);
  if (__builtin_expect((offset | bytes) & ((size_t(1) << cells.shift) - 1), 0))
    cells.refine(address, bytes);
  return {offset >> cells.shift, (offset + bytes) >> cells.shift};
}

template <bool isShared>
inline void KernelRunner::trackRead(Cells &cells, KernelThread &thread,
                                    const char *address, uint64_t bytes) {
  CellSpan span = spanOf(cells, address, bytes);
  for (size_t i = span.first; i < span.last; ++i) {
    Cell written = cells.written[i];
    uint64_t epoch = written >> cellEpochShift;
    // Each block has its own shared memory, and writes it anew.
    if (isShared && epoch < epochs.block) {
      fail(thread, FaultKind::uninitialisedRead,
           "reads " + placeOf(address) +
               ", which no thread of the block has written");
      leave();
    }
    if (__builtin_expect(epoch >= epochs.launch, 0)) {
      Order order = orderOf(written, epochs, thread.id);
      if (__builtin_expect(order != Order::before, 0)) {
        failRace(thread, written, order, /*otherWrites=*/true,
                 /*writes=*/false, address, bytes, isShared);
        leave();
      }
    }
    if (cells.hasReads)
      cells.read[i] = addReader(cells.read[i], epochs, thread.id);
  }
}

template <bool isShared>
inline void KernelRunner::trackWrite(Cells &cells, KernelThread &thread,
                                     const char *address, uint64_t bytes) {
  CellSpan span = spanOf(cells, address, bytes);
  Cell mine = cellOf(epochs, thread.id);
  uint64_t oldest = isShared ? epochs.block : epochs.launch;
  auto check = [&](Cell cell, bool otherWrites) {
    if (__builtin_expect((cell >> cellEpochShift) < oldest, 1))
      return;
    Order order =
        orderOf(isShared ? cell & ~cellBlocksShare : cell, epochs, thread.id);
    if (__builtin_expect(order == Order::before, 1))
      return;
    failRace(thread, cell, order, otherWrites, /*writes=*/true, address, bytes,
             isShared);
    leave();
  };
  for (size_t i = span.first; i < span.last; ++i) {
    check(cells.written[i], true);
    if (cells.hasReads)
      check(cells.read[i], false);
    cells.written[i] = mine;
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void KernelRunner::reportGlobal(KernelThread &thread, const char *address,
                                uint64_t bytes, int access, int index) {
  std::string what = std::string(accessWords(access)) + " " +
                     std::to_string(bytes) + " bytes ";
  if (index < 0) {
    fail(thread, FaultKind::outOfBounds,
         what + "outside of all its parameters: " + placeOf(address));
    return;
  }
  const Parameter &parameter = parameters[size_t(index)];
  uint64_t offset = uint64_t(address - parameter.base);
  what += "at parameter " + std::to_string(index);
  if (parameter.base)
    what += " + " + std::to_string(int64_t(offset));
  if (offset > parameter.bytes || bytes > parameter.bytes - offset)
    fail(thread, FaultKind::outOfBounds,
         what + ", which has " + std::to_string(parameter.bytes));
  else if (access & ~parameter.access)
    fail(thread, FaultKind::writeOfReadOnly,
         what + ", which the kernel is said to " +
             (parameter.access == APEMU_READ ? "read only" : "write only"));
  else
    fail(thread, FaultKind::misaligned, what + ": " + placeOf(address));
}

void KernelRunner::reportShared(KernelThread &thread, const char *address,
                                uint64_t bytes, int access) {
  std::string what = std::string(accessWords(access)) + " " +
                     std::to_string(bytes) + " bytes at byte " +
                     std::to_string(address - sharedCells.base) +
                     " of shared memory";
  if (isMisaligned(address, bytes))
    fail(thread, FaultKind::misaligned, what);
  else
    fail(thread, FaultKind::outOfBounds,
         what + ", which has " + std::to_string(sharedCells.bytes));
}

void KernelRunner::failRace(KernelThread &thread, Cell other, Order order,
                            bool otherWrites, bool writes, const char *address,
                            uint64_t bytes, bool isShared) {
  std::string text = writes ? "writes " : "reads ";
  text += std::to_string(bytes) + " bytes of " +
          (isShared ? "shared" : "global") + " memory that ";
  if (order == Order::otherBlock) {
    if (other & cellBlocksShare) {
      text += "another block";
    } else {
      auto next = std::upper_bound(blockEpochs.begin(), blockEpochs.end(),
                                   other >> cellEpochShift);
      text += "thread " + threadText(uint32_t(other & cellThread)) +
              " of block " +
              blockText(blockOrder[size_t(next - blockEpochs.begin()) - 1]);
    }
    text += otherWrites ? " writes: " : " reads: ";
  } else {
    // Of several readers a cell names the last one.
    auto id = uint32_t(other & cellThread);
    bool several = other & (cellWarpShares | cellBlockShares);
    text += several && id == thread.id
                ? std::string("another thread of its ") +
                      (other & cellBlockShares ? "block" : "warp")
                : "thread " + threadText(id);
    text += otherWrites ? " writes" : " reads";
    text += " with no barrier between: ";
  }
  fail(thread,
       order == Order::otherBlock ? FaultKind::blockRace
                                  : FaultKind::threadRace,
       text + placeOf(address));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

int KernelRunner::findParameter(const char *address) const {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].base && address >= parameters[i].base &&
        address < parameters[i].base + parameters[i].bytes)
      return int(i);
  return -1;
}

std::string KernelRunner::placeOf(const char *address) const {
  if (address >= sharedCells.base &&
      address < sharedCells.base + sharedCells.bytes)
    return "byte " + std::to_string(address - sharedCells.base) +
           " of shared memory";
  int index = findParameter(address);
  std::string text;
  if (index >= 0)
    text = "parameter " + std::to_string(index) + " + " +
           std::to_string(address - parameters[size_t(index)].base) + ", ";
  return text + gpu().memory.describe(gpu().memory.addressOf(address));
}

} // namespace autopar::runtime::emulated
