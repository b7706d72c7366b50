// A hand-written program for a GPU, for GpuExecutableTest, which defines
// MANIFEST and RANKS: program.c's computation, its kernel as a grid.
//
// Setup gathers the parameter w, split by rows; a step computes y = x * w + 1
// and adds over the ranks, on the stream of communication.

#include "autopar/emulated.h"
// Own declaration of what it exports: runtime.h calls it plain bytes.
#define aprt_program_device_code aprt_program_device_bytes
#define aprt_program_device_ptx aprt_program_device_text
#include "autopar/runtime.h"
#undef aprt_program_device_code
#undef aprt_program_device_ptx

#include "calls.h"

#include "extra.h" // may define MISBEHAVE, MISSING_EVENT, MISSING_END or NO_PTX

#include <string.h>

enum { rows = 6, inner = 5, columns = 7, blockThreads = 32 };
enum { opGather, opGemm, opIncrement, opSum, opReady, opWait, opDone, opEnd };
// Arena: x [6,5] at 0, y [6,7] at 256.
enum { resultOffset = 256 };

const char aprt_program_manifest[] = MANIFEST;

static aprt_gemm_desc gemm(void) {
  aprt_gemm_desc desc;
  memset(&desc, 0, sizeof(desc));
  desc.dtype = APRT_F32;
  desc.m = rows;
  desc.n = columns;
  desc.k = inner;
  desc.a_strides[0] = inner;
  desc.a_strides[1] = 1;
  desc.b_strides[0] = columns;
  desc.b_strides[1] = 1;
  desc.c_strides[0] = columns;
  desc.c_strides[1] = 1;
  desc.slot = -1;
  return desc;
}

/// y[i] += addend, a thread per element; MISBEHAVE: of more than there are.
static void increment(void *const *arguments, apemu_thread *thread) {
  float *y = *(float **)arguments[0];
  int64_t addend = *(int64_t *)arguments[1];
  int64_t i =
      (int64_t)thread->block_index[0] * blockThreads + thread->thread_index[0];
#ifndef MISBEHAVE
  if (i >= rows * columns)
    return;
#endif
  apemu_global(thread, y + i, 4, APEMU_READ, 0);
  apemu_global(thread, y + i, 4, APEMU_WRITE, 0);
  y[i] += (float)addend;
}

static const apemu_parameter parameters[] = {
    {rows * columns * 4, APEMU_READ | APEMU_WRITE}};
static const apemu_kernel kernels[] = {
    {"increment", increment, 0, 0, 1, 1, parameters}};
const apemu_module aprt_program_device_code = {APEMU_MAGIC, 1, kernels};
#ifndef NO_PTX
const apemu_module aprt_program_device_ptx = {APEMU_PTX_MAGIC, 1, kernels};
#endif

#define TRY(call)                                                              \
  do {                                                                         \
    aprt_status status = call;                                                 \
    if (status)                                                                \
      return status;                                                           \
  } while (0)

static aprt_status setup(aprt_rank *rank) {
  if (aprt_persistent(rank, 0)) // not before it is loaded
    return 1;
  TRY(aprt_load(rank, 0));
  TRY(aprt_load(rank, 1));
  TRY(aprt_all_gather(rank, opGather, 0, APRT_F32, 1, inner,
                      (inner + RANKS - 1) / RANKS, columns,
                      aprt_persistent(rank, 0), aprt_persistent(rank, 1)));
  TRY(aprt_release(rank, 0));
  return aprt_persistent(rank, 0) ? 1 : 0;
}

static aprt_status step(aprt_rank *rank, int64_t t) {
  char *arena = aprt_arena(rank);
  float *y = (float *)(arena + resultOffset);
  void *buffers[] = {y};
  int64_t addend = 1;
  aprt_gemm_desc desc = gemm();
  (void)t;
  TRY(aprt_gemm(rank, opGemm, &desc, arena, aprt_persistent(rank, 1), NULL,
                NULL, y));
  TRY(aprt_launch_grid(rank, opIncrement, 0, buffers, &addend,
                       (rows * columns + blockThreads - 1) / blockThreads));
#ifndef MISSING_EVENT
  TRY(aprt_event_record(rank, opReady, 0));
  TRY(aprt_event_wait(rank, opWait, 0));
#endif
  TRY(aprt_all_reduce(rank, opSum, 0, APRT_SUM, APRT_F32, rows * columns, y,
                      y));
#ifdef MISSING_END
  return aprt_launch_grid(rank, opIncrement, 0, buffers, &addend, 2);
#endif
  TRY(aprt_event_record(rank, opDone, 1));
  return aprt_event_wait(rank, opEnd, 1);
}

const aprt_stage_functions aprt_program_stages[] = {{setup, step}};
