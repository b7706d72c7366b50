//===- KernelAbi.cpp - What emulated kernels call -------------------------===//

#pragma GCC visibility push(default)
#include "autopar/emulated.h"
#pragma GCC visibility pop

#include "KernelRun.h"

using namespace autopar::runtime::emulated;

static KernelThread &threadOf(apemu_thread *thread) {
  return *static_cast<KernelThread *>(thread);
}

extern "C" {

void apemu_barrier(apemu_thread *thread) {
  KernelThread &self = threadOf(thread);
  self.runner->blockBarrier(self, __builtin_return_address(0));
}

void apemu_warp_barrier(apemu_thread *thread, uint32_t mask) {
  KernelThread &self = threadOf(thread);
  self.request.kind = WarpRequest::barrier;
  self.request.mask = mask;
  self.runner->meetWarp(self);
}

uint32_t apemu_shuffle(apemu_thread *thread, uint32_t mask, uint32_t value,
                       uint32_t lane, uint32_t clamp, int32_t mode,
                       int32_t *valid) {
  KernelThread &self = threadOf(thread);
  WarpRequest &request = self.request;
  request.kind = WarpRequest::shuffle;
  request.mask = mask;
  request.value = value;
  request.lane = lane;
  request.clamp = clamp;
  request.mode = mode;
  self.runner->meetWarp(self);
  if (valid)
    *valid = request.valid;
  return request.value;
}

void apemu_global(apemu_thread *thread, const void *address, int64_t bytes,
                  int32_t access, int32_t parameter) {
  KernelThread &self = threadOf(thread);
  self.runner->global(self, static_cast<const char *>(address), uint64_t(bytes),
                      access, parameter);
}

void apemu_shared(apemu_thread *thread, const void *address, int64_t bytes,
                  int32_t access) {
  KernelThread &self = threadOf(thread);
  self.runner->shared(self, static_cast<const char *>(address), uint64_t(bytes),
                      access);
}

} // extern "C"
