/* Loads an executable that `autopar compile` made, and takes steps of
 * it with numbers of its own choosing:
 *
 *     cc session.c -lautopar -o session && ./session ./model 100
 *
 * Inputs are zeros. Of each output the first number is printed, if it is f32. */

#include <autopar/session.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what) {
  fprintf(stderr, "%s: %s\n", what, autopar_error());
  exit(1);
}

/* Memory for each tensor of a kind. */
static void **make_tensors(autopar_session *session, autopar_kind kind) {
  int64_t count = autopar_session_count(session, kind);
  void **tensors = calloc((size_t)count + 1, sizeof(void *));
  for (int64_t i = 0; i < count; ++i) {
    autopar_tensor tensor = {.size = sizeof(tensor)};
    if (autopar_session_tensor(session, kind, i, &tensor))
      die("describing a tensor");
    tensors[i] = calloc(1, (size_t)tensor.bytes + 1);
    printf("%s %s, %lld bytes\n", kind == AUTOPAR_INPUT ? "input" : "output",
           tensor.name, (long long)tensor.bytes);
  }
  return tensors;
}

int main(int count, char **arguments) {
  if (count != 3) {
    fprintf(stderr, "usage: %s PROGRAM STEPS\n", arguments[0]);
    return 2;
  }
  if (autopar_session_abi() != AUTOPAR_SESSION_ABI) {
    fprintf(stderr, "the library has version %d, not %d\n",
            (int)autopar_session_abi(), AUTOPAR_SESSION_ABI);
    return 1;
  }
  autopar_session *session;
  if (autopar_session_open(arguments[1], NULL, &session))
    die(arguments[1]);
  void **inputs = make_tensors(session, AUTOPAR_INPUT);
  void **outputs = make_tensors(session, AUTOPAR_OUTPUT);
  for (long step = 0; step < atol(arguments[2]); ++step)
    if (autopar_session_run(session, (const void *const *)inputs, outputs))
      die("running a step");
  for (int64_t i = 0; i < autopar_session_count(session, AUTOPAR_OUTPUT); ++i) {
    autopar_tensor tensor = {.size = sizeof(tensor)};
    if (autopar_session_tensor(session, AUTOPAR_OUTPUT, i, &tensor))
      die("describing an output");
    if (strcmp(tensor.dtype, "f32") == 0 && tensor.bytes > 0)
      printf("%s begins with %g\n", tensor.name, *(float *)outputs[i]);
  }
  autopar_session_close(session);
  return 0;
}
