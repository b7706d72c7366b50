// A hand-written program for ExecutableTest, which defines MANIFEST and RANKS.
//
// Stage 0 computes h = x * w (w is a parameter, its rows split over the ranks,
// gathered by setup), adds over the ranks, and hands the result to the output.
// What `mode` (input) says makes a rank fail in different ways.

#include "calls.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { rows = 6, inner = 5, columns = 7 };
enum { opGather, opScale, opGemm, opSum };
// Arena: x [6,5] at 0, mode [1] (i32) at 128, y [6,7] at 192.
enum { modeOffset = 128, resultOffset = 192 };
// Persistent: 0 is this rank's rows of w, 1 all of w.

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
  return desc;
}

static aprt_status setup(aprt_rank *rank) {
  aprt_gemm_desc desc = gemm();
  aprt_status status = aprt_load(rank, 0);
  if (!status)
    status = aprt_load(rank, 1);
  if (!status)
    status = aprt_all_gather(
        rank, opGather, 0, APRT_F32, 1, inner, (inner + RANKS - 1) / RANKS,
        columns, aprt_persistent(rank, 0), aprt_persistent(rank, 1));
  if (!status)
    status = aprt_release(rank, 0);
  if (!status)
    status = aprt_gemm_pack(rank, opGemm, &desc, aprt_persistent(rank, 1));
  return status ? status : aprt_release(rank, 1);
}

/// y += 1, in parallel.
static void increment(void *const *buffers, const int64_t *scalars,
                      int64_t begin, int64_t end) {
  float *y = buffers[0];
  (void)scalars;
  for (int64_t i = begin; i < end; ++i)
    y[i] += 1;
}

static void misbehave(int mode, int64_t index) {
  if (mode == 1 && index == RANKS - 1)
    raise(SIGKILL);
  if (mode == 2 && index == RANKS - 1)
    _exit(7);
  if (mode == 3 && index == RANKS - 1)
    sleep(60);
  if (mode == 4 && index == RANKS - 1)
    raise(SIGSEGV);
}

static aprt_status step(aprt_rank *rank, int64_t t) {
  char *arena = aprt_arena(rank);
  float *y = (float *)(arena + resultOffset);
  void *buffers[] = {y};
  aprt_gemm_desc desc = gemm();
  int mode = *(int *)(arena + modeOffset);
  (void)t;
  aprt_status status =
      aprt_gemm(rank, opGemm, &desc, arena, NULL, NULL, NULL, y);
  if (status)
    return status;
  status =
      aprt_launch(rank, opScale, increment, buffers, NULL, rows * columns, 1);
  if (status)
    return status;
  misbehave(mode, aprt_axis_index(rank, 0));
  if (mode == 5) // an op of the program fails
    return aprt_send(rank, opSum, 3, y, 4);
  return aprt_all_reduce(rank, opSum, 0, APRT_SUM, APRT_F32, rows * columns, y,
                         y);
}

const aprt_stage_functions aprt_program_stages[] = {{setup, step}};
