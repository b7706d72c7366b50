//===- KernelRun.cpp - Runs the blocks of a kernel ------------------------===//

#include "KernelRun.h"

#include "Gpu.h"
#include "KernelSignals.h"

#include <csignal>
#include <cstring>

namespace autopar::runtime::emulated {

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

void KernelRunner::run(const Launch &launch) {
  current = &launch;
  threadCount = launch.block[0] * launch.block[1] * launch.block[2];
  left = false;
  onFiber = nullptr;
  prepareParameters();
  prepareThreads();
  {
    KernelSignals signals(*this);
    if (sigsetjmp(escape, 0) == 0)
      runBlocks();
  }
  current = nullptr;
}

void KernelRunner::prepareThreads() {
  const Launch &launch = *current;
  size_t wanted = launch.kernel->synchronises ? threadCount : 1;
  if (threads.size() < wanted)
    threads.resize(wanted);
  if (launch.kernel->synchronises && !fibers.reserve(threadCount)) {
    fault(FaultKind::launchLimit, "'" + launch.name +
                                      "': the host has no "
                                      "memory for " +
                                      std::to_string(threadCount) + " stacks");
    left = true;
  }
  if (sharedMemory.size() < size_t(launch.sharedBytes) + 16)
    sharedMemory.resize(size_t(launch.sharedBytes) + 16);
  // Shared arrays may want 16 bytes.
  char *begin = sharedMemory.data();
  begin += -reinterpret_cast<uintptr_t>(begin) & 15;
  sharedCells.watch(begin, size_t(launch.sharedBytes), sharedCells.shift,
                    /*withReads=*/true);
  for (size_t i = 0; i < wanted; ++i) {
    KernelThread &thread = threads[i];
    thread.runner = this;
    thread.shared = begin;
    std::copy_n(launch.block, 3, thread.block_size);
    std::copy_n(launch.grid, 3, thread.grid_size);
    place(thread, uint32_t(i));
  }
}

void KernelRunner::place(KernelThread &thread, uint32_t id) const {
  const uint32_t *size = current->block;
  thread.id = id;
  thread.thread_index[0] = id % size[0];
  thread.thread_index[1] = id / size[0] % size[1];
  thread.thread_index[2] = id / size[0] / size[1];
}

void KernelRunner::runBlocks() {
  const Launch &launch = *current;
  uint64_t blocks = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  Permutation blockPermutation(blocks, random);
  blockEpochs.clear();
  blockOrder.clear();
  epochs.beginLaunch();
  for (uint64_t i = 0; i < blocks && !left; ++i) {
    beginBlock(blockPermutation.next());
    if (launch.kernel->synchronises)
      runFibers();
    else
      runLoop();
  }
}

void KernelRunner::beginBlock(uint64_t block) {
  const Launch &launch = *current;
  epochs.beginBlock();
  blockEpochs.push_back(epochs.block);
  blockOrder.push_back(block);
  std::memset(const_cast<char *>(sharedCells.base), 0xff,
              size_t(launch.sharedBytes));
  size_t used = launch.kernel->synchronises ? threadCount : 1;
  for (size_t i = 0; i < used; ++i) {
    threads[i].block_index[0] = uint32_t(block % launch.grid[0]);
    threads[i].block_index[1] =
        uint32_t(block / launch.grid[0] % launch.grid[1]);
    threads[i].block_index[2] =
        uint32_t(block / launch.grid[0] / launch.grid[1]);
  }
}

void KernelRunner::runLoop() {
  Permutation order(threadCount, random);
  KernelThread &thread = threads.front();
  auto *entry = current->kernel->entry;
  bool line = current->block[1] == 1 && current->block[2] == 1;
  for (uint32_t i = 0; i < threadCount; ++i) {
    auto id = uint32_t(order.next());
    if (line)
      thread.id = thread.thread_index[0] = id;
    else
      place(thread, id);
    entry(argumentPointers.data(), &thread);
  }
}

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

void KernelRunner::fiberMain(void *argument) {
  auto &thread = *static_cast<KernelThread *>(argument);
  KernelRunner &runner = *thread.runner;
  runner.current->kernel->entry(runner.argumentPointers.data(), &thread);
  thread.state = KernelThread::finished;
}

/// Makes all threads ready: warps in some order, their lanes in another.
void KernelRunner::makeReady() {
  uint32_t warps = (threadCount + 31) / 32;
  Permutation warpOrder(warps, random), laneOrder(32, random);
  for (uint32_t i = 0; i < warps; ++i) {
    auto warp = uint32_t(warpOrder.next());
    for (int j = 0; j < 32; ++j) {
      auto id = uint32_t(warp * 32 + laneOrder.next());
      if (id < threadCount)
        ready.push_back(id);
    }
  }
}

void KernelRunner::runFibers() {
  finishedCount = waitingCount = 0;
  std::fill(std::begin(warpArrived), std::end(warpArrived), 0);
  ready.clear();
  for (uint32_t id = 0; id < threadCount; ++id) {
    threads[id].state = KernelThread::running;
    fibers.at(id).start(&fiberMain, &threads[id]);
  }
  makeReady();
  while (true) {
    runReady();
    if (left || finishedCount == threadCount)
      return;
    if (waitingCount < threadCount) {
      reportStuck();
      return;
    }
    checkSites();
    if (left)
      return;
    releaseBarrier();
  }
}

/// Runs until no thread can go on. The last one that became ready is next: a
/// warp runs on while its stacks are in the cache.
void KernelRunner::runReady() {
  while (!ready.empty()) {
    KernelThread &thread = threads[ready.back()];
    ready.pop_back();
    onFiber = &thread;
    fibers.at(thread.id).resume(fibers);
    onFiber = nullptr;
    if (left)
      return;
    settle(thread);
    if (left)
      return;
  }
}

/// Counts a thread that has suspended or ended.
void KernelRunner::settle(KernelThread &thread) {
  switch (thread.state) {
  case KernelThread::finished:
    ++finishedCount;
    break;
  case KernelThread::atBarrier:
    ++waitingCount;
    break;
  case KernelThread::atWarp: {
    uint32_t warp = thread.id / 32, mask = thread.request.mask;
    warpArrived[warp] |= 1u << thread.id % 32;
    if ((warpArrived[warp] & mask) == mask)
      answerWarp(warp, mask);
    break;
  }
  case KernelThread::running:
    break;
  }
}

void KernelRunner::releaseBarrier() {
  epochs.blockBarrier();
  waitingCount = 0;
  for (uint32_t id = 0; id < threadCount; ++id)
    threads[id].state = KernelThread::running;
  makeReady();
}

void KernelRunner::suspend(KernelThread &thread, KernelThread::State state) {
  thread.state = state;
  fibers.at(thread.id).suspend(fibers);
}

void KernelRunner::leave() {
  left = true;
  if (onFiber) {
    fibers.at(onFiber->id).suspend(fibers);
    __builtin_unreachable();
  }
  siglongjmp(escape, 1);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static std::string indexText(uint64_t index, const uint32_t *size) {
  if (size[1] == 1 && size[2] == 1)
    return std::to_string(index);
  return "(" + std::to_string(index % size[0]) + "," +
         std::to_string(index / size[0] % size[1]) + "," +
         std::to_string(index / size[0] / size[1]) + ")";
}

std::string KernelRunner::threadText(uint32_t id) const {
  return indexText(id, current->block);
}

std::string KernelRunner::blockText(uint64_t block) const {
  return indexText(block, current->grid);
}

std::string KernelRunner::who(const KernelThread &thread) const {
  return "'" + current->name + "' thread " + threadText(thread.id) +
         " of block " + blockText(blockOrder.empty() ? 0 : blockOrder.back());
}

void KernelRunner::fail(KernelThread &thread, FaultKind kind,
                        const std::string &text) {
  fault(kind, who(thread) + " " + text);
}

void KernelRunner::signalled(int signal, const void *address) {
  if (!current)
    return;
  const KernelThread &thread = onFiber ? *onFiber : threads.front();
  char where[32];
  std::snprintf(where, sizeof where, "%p", address);
  if (signal == SIGFPE)
    fault(FaultKind::division, who(thread) + " divides an integer by zero");
  else if (fibers.guardContains(address))
    fault(FaultKind::stackOverflow,
          who(thread) + " needs more local memory than the emulator's stacks "
                        "have");
  else
    fault(FaultKind::outOfBounds,
          who(thread) + " touches " + where + ", which it did not announce");
  left = true;
  if (onFiber)
    fibers.jumpsOut();
  siglongjmp(escape, 1);
}

} // namespace autopar::runtime::emulated
