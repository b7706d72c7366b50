//===- session.h - Programs within a process of one's own ---------*- C -*-===//
//
// Opens an executable that `autopar compile` made, loads it once, and takes
// steps of it as often as wanted, in the caller's process:
//
//   autopar_session *session;
//   if (autopar_session_open("./model", NULL, &session))
//     fprintf(stderr, "%s\n", autopar_error());
//   const void *inputs[] = {x};
//   void *outputs[] = {y};
//   if (autopar_session_run(session, inputs, outputs))
//     fprintf(stderr, "%s\n", autopar_error());
//   autopar_session_close(session);
//
// Every function that can fail returns 0 if it did not; else autopar_error()
// says what went wrong. No exception leaves the library. Sessions are
// independent of each other and may be used from any thread; calls of one
// session wait for each other. A session may not be used in a process that was
// forked after it was opened.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_SESSION_H
#define AUTOPAR_SESSION_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AUTOPAR_API __attribute__((visibility("default")))
#else
#define AUTOPAR_API
#endif

/// Rises when a function or a struct changes its meaning; additions at the end
/// of structs, which have their size, do not count.
#define AUTOPAR_SESSION_ABI 1
/// The version of the library that is loaded.
AUTOPAR_API int32_t autopar_session_abi(void);

typedef struct autopar_session autopar_session;

/// Why the last call of this thread that failed did so. Never null; valid until
/// the thread's next call that fails.
AUTOPAR_API const char *autopar_error(void);

/// Zero in a field is its default.
typedef struct autopar_session_options {
  size_t size;            // sizeof(autopar_session_options)
  const char *entry;      // name of the entry; null: the first
  const char *weights;    // a file or a folder, as --weights takes them; null:
                          // those that the program was compiled with
  int64_t threads;        // per rank; 0: this host's cores shared out
  double timeout_seconds; // of a wait for another rank; 0: 60
  int32_t verify_weights; // 1: reads all bytes of the weights and compares
} autopar_session_options;

/// `options` may be null.
AUTOPAR_API int32_t autopar_session_open(const char *path,
                                         const autopar_session_options *options,
                                         autopar_session **session);
/// Null is fine. No other call of the session may be under way.
AUTOPAR_API void autopar_session_close(autopar_session *session);

/// Threads that compute, the caller's among them.
AUTOPAR_API int64_t autopar_session_threads(const autopar_session *session);

typedef enum autopar_kind {
  AUTOPAR_INPUT = 0,
  AUTOPAR_OUTPUT = 1,
  AUTOPAR_STATE = 2 // what steps keep: caches, trained parameters, moments
} autopar_kind;

/// A tensor of a program: dense, row-major. The pointers are the session's.
typedef struct autopar_tensor {
  size_t size;       // set by the caller: sizeof(autopar_tensor)
  const char *name;  // of states not unique: with the role it is
  const char *role;  // of an output "model", "loss", "grad_norm",
                     // "learning_rate", "loss_scale", "skipped" or "no_labels";
                     // of a state "model", "optimizer", "loss_scale", "random",
                     // "extent" or "average"; of an input ""
  const char *dtype; // "bool", "i8", "u8", ..., "f16", "bf16", "f32", "f64"
  int32_t rank;
  const int64_t *shape;
  int64_t bytes;
} autopar_tensor;

AUTOPAR_API int64_t autopar_session_count(const autopar_session *session,
                                          autopar_kind kind);
AUTOPAR_API int32_t autopar_session_tensor(const autopar_session *session,
                                           autopar_kind kind, int64_t index,
                                           autopar_tensor *tensor);

/// One step. `inputs` and `outputs` have a pointer for each tensor of that
/// kind, to its whole bytes, which are read and written in place where the
/// plan allows it. An output that is null is not wanted. If an input is
/// refused (an index outside of its table) the session goes on; after any other
/// failure each call fails with its message.
AUTOPAR_API int32_t autopar_session_run(autopar_session *session,
                                        const void *const *inputs,
                                        void *const *outputs);

/// The bytes of a whole state, between steps.
AUTOPAR_API int32_t autopar_session_read_state(autopar_session *session,
                                               int64_t index, void *to);
AUTOPAR_API int32_t autopar_session_write_state(autopar_session *session,
                                                int64_t index,
                                                const void *from);

#ifdef __cplusplus
}
#endif

#endif // AUTOPAR_SESSION_H
