// A hand-written program with a state, for EntriesTest, which defines MANIFEST.
//
// Each step adds x to the state n and gives what it is then, times a parameter:
// y = w * (n += x), of 4 numbers each.

#include "calls.h"

#include <stddef.h>

enum { size = 4, opAdd = 0 };
// Arena: x at 0, y at 64. Persistent: 0 is n, 1 is w.

const char aprt_program_manifest[] = MANIFEST;

static void add(void *const *buffers, const int64_t *scalars, int64_t begin,
                int64_t end) {
  const float *x = buffers[0], *w = buffers[2];
  float *n = buffers[1], *y = buffers[3];
  (void)scalars;
  for (int64_t i = begin; i < end; ++i)
    y[i] = w[i] * (n[i] += x[i]);
}

static aprt_status step(aprt_rank *rank, int64_t t) {
  char *arena = aprt_arena(rank);
  void *buffers[] = {arena, aprt_persistent(rank, 0), aprt_persistent(rank, 1),
                     arena + 64};
  (void)t;
  return aprt_launch(rank, opAdd, add, buffers, NULL, size, 1);
}

const aprt_stage_functions aprt_program_stages[] = {{NULL, step}};
