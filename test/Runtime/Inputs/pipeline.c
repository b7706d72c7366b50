// Two stages and three micro-batches: stage 0 doubles its block of x, which is
// a persistent tensor or begins the arena, stage 1 adds one. ExecutableTest
// defines MANIFEST.

#include "calls.h"

enum { block = 4 };

const char aprt_program_manifest[] = MANIFEST;

static aprt_status first(aprt_rank *rank, int64_t t) {
  float *doubled = aprt_arena(rank);
  const float *x = aprt_persistent(rank, 0);
  (void)t;
  for (int i = 0; i < block; ++i)
    doubled[i] = 2 * (x ? x : doubled)[i];
  return aprt_send(rank, 0, 0, doubled, block * sizeof(float));
}

static aprt_status second(aprt_rank *rank, int64_t t) {
  float *y = aprt_arena(rank);
  aprt_status status = aprt_recv(rank, 1, 0, y, block * sizeof(float));
  (void)t;
  if (status)
    return status;
  for (int i = 0; i < block; ++i)
    y[i] += 1;
  return 0;
}

const aprt_stage_functions aprt_program_stages[] = {{0, first}, {0, second}};
