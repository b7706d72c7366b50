//===- KernelMeetings.cpp - Where threads wait for each other -------------===//

#include "KernelRun.h"

#include "Gpu.h"

#include <cstdio>

namespace autopar::runtime::emulated {

//===----------------------------------------------------------------------===//
// Barriers and shuffles
//===----------------------------------------------------------------------===//

void KernelRunner::blockBarrier(KernelThread &thread, const void *site) {
  if (!onFiber) {
    fail(thread, FaultKind::library,
         "has a barrier, but the kernel is said not to synchronise");
    leave();
  }
  thread.barrierSite = site;
  suspend(thread, KernelThread::atBarrier);
}

static std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

void KernelRunner::meetWarp(KernelThread &thread) {
  if (!onFiber) {
    fail(thread, FaultKind::library,
         "meets its warp, but the kernel is said not to synchronise");
    leave();
  }
  if (!(thread.request.mask >> thread.id % 32 & 1)) {
    fail(thread, FaultKind::warpMask,
         "is not in the mask " + hex(thread.request.mask) + " that it gives");
    leave();
  }
  suspend(thread, KernelThread::atWarp);
}

/// All lanes of the mask have come: checks that they came for the same.
void KernelRunner::answerWarp(uint32_t warp, uint32_t mask) {
  KernelThread *lanes = &threads[warp * 32];
  const KernelThread &first = lanes[__builtin_ctz(mask)];
  uint32_t values[32];
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const KernelThread &lane = lanes[__builtin_ctz(rest)];
    values[lane.id % 32] = lane.request.value;
    if (lane.request.mask == first.request.mask &&
        lane.request.kind == first.request.kind)
      continue;
    fault(FaultKind::warpMask,
          who(lane) +
              (lane.request.kind == first.request.kind
                   ? " gives the mask " + hex(lane.request.mask) +
                         ", but thread " + threadText(first.id) +
                         " of the same warp " + hex(first.request.mask)
                   : std::string(" and thread ") + threadText(first.id) +
                         " of its warp meet in a shuffle and a warp "
                         "barrier"));
    left = true;
    return;
  }
  warpArrived[warp] &= ~mask;
  if (first.request.kind == WarpRequest::barrier)
    epochs.warpBarrier(warp);
  for (uint32_t rest = mask; rest && !left; rest &= rest - 1) {
    KernelThread &lane = lanes[__builtin_ctz(rest)];
    if (lane.request.kind == WarpRequest::shuffle) {
      answerShuffle(lane, mask);
      lane.request.value = values[lane.request.lane];
    }
    lane.state = KernelThread::running;
    ready.push_back(lane.id);
  }
}

/// Sets the lane's source lane, as PTX defines shfl.sync, and whether it was in
/// range.
void KernelRunner::answerShuffle(KernelThread &thread, uint32_t mask) {
  WarpRequest &request = thread.request;
  uint32_t lane = thread.id % 32, offset = request.lane & 31;
  uint32_t clamp = request.clamp & 31, segment = request.clamp >> 8 & 31;
  uint32_t last = (lane & segment) | (clamp & ~segment);
  int64_t source = lane;
  bool inRange = false;
  switch (request.mode) {
  case APEMU_SHUFFLE_UP:
    source = int64_t(lane) - offset;
    inRange = source >= int64_t(last);
    break;
  case APEMU_SHUFFLE_DOWN:
    source = lane + offset;
    inRange = source <= int64_t(last);
    break;
  case APEMU_SHUFFLE_XOR:
    source = lane ^ offset;
    inRange = source <= int64_t(last);
    break;
  default:
    source = (lane & segment) | (offset & ~segment & 31);
    inRange = source <= int64_t(last);
    break;
  }
  request.valid = inRange;
  request.lane = inRange ? uint32_t(source) : lane;
  if (mask >> request.lane & 1)
    return;
  fault(FaultKind::inactiveLane, who(thread) + " reads from lane " +
                                     std::to_string(request.lane) +
                                     ", which is not in the mask " + hex(mask));
  left = true;
}

//===----------------------------------------------------------------------===//
// Divergence
//===----------------------------------------------------------------------===//

/// All threads wait at a barrier: at the same one?
void KernelRunner::checkSites() {
  for (uint32_t id = 1; id < threadCount; ++id) {
    if (threads[id].barrierSite == threads[0].barrierSite)
      continue;
    fault(FaultKind::divergentBarrier,
          who(threads[id]) +
              " waits at another barrier of the kernel than "
              "thread " +
              threadText(0));
    left = true;
    return;
  }
}

/// Some threads wait for others that will not come.
void KernelRunner::reportStuck() {
  left = true;
  auto firstIn = [&](KernelThread::State state) -> const KernelThread * {
    for (uint32_t id = 0; id < threadCount; ++id)
      if (threads[id].state == state)
        return &threads[id];
    return nullptr;
  };
  const KernelThread *inWarp = firstIn(KernelThread::atWarp);
  if (!inWarp) {
    const KernelThread *waiting = firstIn(KernelThread::atBarrier);
    fault(FaultKind::divergentBarrier,
          who(*waiting) + " and " + std::to_string(waitingCount - 1) +
              " more wait at a barrier, but thread " +
              threadText(firstIn(KernelThread::finished)->id) + " and " +
              std::to_string(finishedCount - 1) +
              " more have returned without coming to it");
    return;
  }
  uint32_t warp = inWarp->id / 32;
  uint32_t missing = inWarp->request.mask & ~warpArrived[warp];
  if (missing == 0) { // all have come, but the last one with a larger mask
    fault(FaultKind::warpMask, who(*inWarp) + " gives the mask " +
                                   hex(inWarp->request.mask) +
                                   ", but other lanes of it give other masks");
    return;
  }
  uint32_t absent = warp * 32 + uint32_t(__builtin_ctz(missing));
  std::string why = absent >= threadCount ? "does not exist"
                    : threads[absent].state == KernelThread::finished
                        ? "has returned"
                        : "waits at a barrier of the block";
  fault(FaultKind::warpMask, who(*inWarp) +
                                 " waits for the lanes of the mask " +
                                 hex(inWarp->request.mask) + ", but thread " +
                                 threadText(absent) + " " + why);
}

} // namespace autopar::runtime::emulated
