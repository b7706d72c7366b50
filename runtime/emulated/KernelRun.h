//===- KernelRun.h - Runs the blocks of a kernel ----------------*- C++ -*-===//
//
// Blocks run one after the other, in a seeded order. The threads of a kernel
// that does not synchronise run in a loop, others as fibers. Every announced
// access is checked: bounds, access and alignment, initialised bytes, races
// between threads of a block within a barrier interval and between blocks.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_KERNELRUN_H
#define AUTOPAR_RUNTIME_EMULATED_KERNELRUN_H

#include "Cells.h"
#include "DeviceMemory.h"
#include "Fault.h"
#include "Fiber.h"
#include "Random.h"
#include "autopar/emulated.h"

#include <csetjmp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace autopar::runtime::emulated {

/// What cuLaunchKernel got.
struct Launch {
  const apemu_kernel *kernel = nullptr;
  std::string name; // with the program's op
  uint32_t grid[3] = {}, block[3] = {};
  int64_t sharedBytes = 0;         // static and dynamic
  std::vector<uint64_t> arguments; // device addresses, then scalars
};

class KernelRunner;

/// What a lane brings to its warp.
struct WarpRequest {
  enum Kind { barrier, shuffle } kind = barrier;
  uint32_t mask = 0, value = 0, lane = 0, clamp = 0;
  int32_t mode = 0;
  int32_t valid = 0; // answer, as is `value`
};

struct KernelThread : apemu_thread {
  enum State { running, atBarrier, atWarp, finished };

  KernelRunner *runner = nullptr;
  uint32_t id = 0; // in the block
  State state = running;
  const void *barrierSite = nullptr; // the call it waits in
  WarpRequest request;
};

class KernelRunner {
public:
  explicit KernelRunner(uint64_t seed) : random(seed ^ 0x6b65726e656cull) {}

  /// Runs the whole launch, or up to its first fault.
  void run(const Launch &launch);

  // What kernels call (autopar/emulated.h).
  void blockBarrier(KernelThread &thread, const void *site);
  /// The thread's request says for what; afterwards it holds the answer.
  void meetWarp(KernelThread &thread);
  void global(KernelThread &thread, const char *address, uint64_t bytes,
              int access, int parameter);
  void shared(KernelThread &thread, const char *address, uint64_t bytes,
              int access);

  /// A signal came while a kernel ran. Returns if none did.
  void signalled(int signal, const void *address);

private:
  struct Parameter {
    const char *base = nullptr;
    uint64_t bytes = 0;
    int access = 0;
    bool plain = true; // only bounds are to be checked
    bool checkInitialised = false, markInitialised = false;
    Allocation *allocation = nullptr;
    uint64_t offset = 0; // in the allocation
    Cells *cells = nullptr;
  };

  // KernelRun.cpp: blocks and threads.
  void runBlocks();
  void runLoop();
  void runFibers();
  void makeReady();
  void runReady();
  void prepareThreads();
  void beginBlock(uint64_t block);
  void place(KernelThread &thread, uint32_t id) const;
  static void fiberMain(void *thread);
  void suspend(KernelThread &thread, KernelThread::State state);
  void settle(KernelThread &thread);
  void releaseBarrier();

  // KernelMeetings.cpp: barriers, shuffles and threads that miss them.
  void answerWarp(uint32_t warp, uint32_t mask);
  void answerShuffle(KernelThread &thread, uint32_t mask);
  void reportStuck();
  void checkSites();

  // KernelAccess.cpp: accesses.
  void prepareParameters();
  void shareCells();
  void tracked(const Parameter &parameter, KernelThread &thread,
               const char *address, uint64_t bytes, int access);
  template <bool isShared>
  void trackRead(Cells &cells, KernelThread &thread, const char *address,
                 uint64_t bytes);
  template <bool isShared>
  void trackWrite(Cells &cells, KernelThread &thread, const char *address,
                  uint64_t bytes);
  void reportGlobal(KernelThread &thread, const char *address, uint64_t bytes,
                    int access, int index);
  void reportShared(KernelThread &thread, const char *address, uint64_t bytes,
                    int access);
  int findParameter(const char *address) const;
  std::string placeOf(const char *address) const;

  /// "kernel_3 (thread 5 of block 2)".
  std::string who(const KernelThread &thread) const;
  std::string threadText(uint32_t id) const;
  std::string blockText(uint64_t block) const;
  /// Records a fault; then leave().
  void fail(KernelThread &thread, FaultKind kind, const std::string &text);
  void failRace(KernelThread &thread, Cell other, Order order, bool otherWrites,
                bool writes, const char *address, uint64_t bytes,
                bool isShared);
  /// Ends the launch from inside a kernel: nothing on its stack is destroyed.
  [[noreturn]] void leave();

  Random random;
  Epochs epochs;
  FiberPool fibers;
  std::vector<KernelThread> threads; // of a block; one for a loop
  std::vector<char> sharedMemory;
  Cells sharedCells;
  std::vector<std::unique_ptr<Cells>> globalCells;
  std::map<const apemu_kernel *, unsigned> smallestGranule;

  // The launch that runs.
  const Launch *current = nullptr;
  std::vector<Parameter> parameters;
  std::vector<void *> argumentPointers;
  std::vector<uint64_t> argumentValues;
  std::vector<uint64_t> blockEpochs; // first epoch of each block that has begun
  std::vector<uint64_t> blockOrder;  // and its number
  uint32_t threadCount = 0;
  uint32_t finishedCount = 0, waitingCount = 0;
  uint32_t warpArrived[Epochs::maxWarps] = {};
  std::vector<uint32_t> ready;
  KernelThread *onFiber = nullptr; // the one that runs on its fiber
  bool left = false;               // a fault ended the launch
  sigjmp_buf escape;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_KERNELRUN_H
