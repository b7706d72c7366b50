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
  const char *entry;      // the only entry that is loaded; null: all
  const char *weights;    // a file or a folder, as --weights takes them; null:
                          // those that the program was compiled with
  int64_t threads;        // per rank; 0: this host's cores shared out
  double timeout_seconds; // of a wait for another rank; 0: 60
  int32_t verify_weights; // 1: reads all bytes of the weights and compares
  int64_t ranks; // one of the numbers it was compiled for; 0: the first
} autopar_session_options;

/// `options` may be null.
AUTOPAR_API int32_t autopar_session_open(const char *path,
                                         const autopar_session_options *options,
                                         autopar_session **session);
/// Null is fine. No other call of the session may be under way. An entry is not
/// closed: it ends with its session.
AUTOPAR_API void autopar_session_close(autopar_session *session);

/// The entries that are loaded (`autopar compile --entry`): the same model with
/// other sizes. Those that store a weight or a state alike have it in common.
AUTOPAR_API int64_t autopar_session_entries(const autopar_session *session);
/// One of the entries, for the functions below: they tell of its tensors and
/// states, and its steps are taken. The session itself is its first entry. Null
/// if there is none of this number.
AUTOPAR_API autopar_session *autopar_session_entry(autopar_session *session,
                                                   int64_t index);
/// The entry's name, as --entry was written; "" where there is one program.
AUTOPAR_API const char *
autopar_session_entry_name(const autopar_session *session);

/// Threads that compute, the caller's among them.
AUTOPAR_API int64_t autopar_session_threads(const autopar_session *session);

typedef enum autopar_kind {
  AUTOPAR_INPUT = 0,
  AUTOPAR_OUTPUT = 1,
  AUTOPAR_STATE = 2, // what steps keep: caches, trained parameters, moments
  AUTOPAR_FIXED = 3  // inputs with a value since --bind gave it; no step takes
                     // or needs them
} autopar_kind;

/// A tensor of a program: dense, row-major. The pointers are the session's.
typedef struct autopar_tensor {
  size_t size;       // set by the caller: sizeof(autopar_tensor)
  const char *name;  // of states not unique: with the role it is
  const char *role;  // of an output "model", "loss", "grad_norm",
                     // "learning_rate", "loss_scale", "skipped" or "no_labels";
                     // of a state "model", "optimizer", "loss_scale", "random",
                     // "extent", "average" or "hyperparameter" (a scalar of
                     // f64); of an output of an evaluation also "metric"; of
                     // an input "", or "counted_rows": a boolean per row of
                     // the batch, which may be left out where all count
  const char *dtype; // "bool", "i8", "u8", ..., "f16", "bf16", "f32", "f64"
  int32_t rank;
  const int64_t *shape;
  int64_t bytes;
  int64_t entry; // number of the entry whose memory it is: of a state that
                 // several have in common the first of them
} autopar_tensor;

AUTOPAR_API int64_t autopar_session_count(const autopar_session *session,
                                          autopar_kind kind);
AUTOPAR_API int32_t autopar_session_tensor(const autopar_session *session,
                                           autopar_kind kind, int64_t index,
                                           autopar_tensor *tensor);
/// Fails unless the bytes are the value of the AUTOPAR_FIXED tensor `index`.
AUTOPAR_API int32_t autopar_session_check_fixed(const autopar_session *session,
                                                int64_t index,
                                                const void *data);

/// One step. `inputs` and `outputs` have a pointer for each tensor of that
/// kind, to its whole bytes, which are read and written in place where the
/// plan allows it. An output that is null is not wanted. If an input is
/// refused (an index outside of its table) the session goes on; after any other
/// failure each call fails with its message.
AUTOPAR_API int32_t autopar_session_run(autopar_session *session,
                                        const void *const *inputs,
                                        void *const *outputs);

/// Memory for an input or an output that the session's ranks share: a step
/// reads and writes it where it is, while other memory is copied once. It is
/// the session's. Null where there is none: a program of one rank uses the
/// caller's memory as it is, and one whose steps overlap copies.
AUTOPAR_API void *autopar_session_memory(autopar_session *session,
                                         autopar_kind kind, int64_t index);

/// Begins a step as autopar_session_run does, and returns once the inputs may
/// change; autopar_session_wait returns once the outputs are written, which are
/// the step's until then. A program whose steps overlap (a pipeline that was
/// compiled for throughput) has several under way: at most
/// autopar_session_slots, of other programs one. A step too many is refused,
/// and the session goes on.
AUTOPAR_API int32_t autopar_session_submit(autopar_session *session,
                                           const void *const *inputs,
                                           void *const *outputs,
                                           int64_t *ticket);
AUTOPAR_API int32_t autopar_session_wait(autopar_session *session,
                                         int64_t ticket);
AUTOPAR_API int64_t autopar_session_slots(const autopar_session *session);

/// Returns what the steps of an entry took since it was loaded, or since a
/// trace began or ended: JSON, as the executable's --json writes it. Valid
/// until the next call that returns text; null if it failed, as it does before
/// the first step.
AUTOPAR_API const char *autopar_session_report(autopar_session *session);
/// Begins (1) or ends (0) a trace of the entry's steps: the first 65,536 events
/// of each rank. Steps take longer meanwhile.
AUTOPAR_API int32_t autopar_session_trace(autopar_session *session, int32_t on);
/// The trace, as the executable's --trace writes it; to be asked for before it
/// ends.
AUTOPAR_API const char *autopar_session_trace_text(autopar_session *session);

/// The bytes of a whole state, between steps. A number that a hyperparameter
/// cannot be is refused, and the session goes on.
AUTOPAR_API int32_t autopar_session_read_state(autopar_session *session,
                                               int64_t index, void *to);
AUTOPAR_API int32_t autopar_session_write_state(autopar_session *session,
                                                int64_t index,
                                                const void *from);

/// The name of a metric of an entry that evaluates (a recipe's 'evaluation');
/// null if there is none of this number.
AUTOPAR_API const char *autopar_session_metric(const autopar_session *session,
                                               int64_t index);
/// Adds a step of the entry to its metrics: `outputs` as autopar_session_run
/// wrote them, those of the role "metric" among them, and how many rows of the
/// batch counted, its first ones. Null: metrics begin anew.
AUTOPAR_API int32_t autopar_session_add_metrics(autopar_session *session,
                                                const void *const *outputs,
                                                int64_t rows);
/// A metric over all rows of the steps that were added; NaN if none counted.
AUTOPAR_API int32_t autopar_session_metric_value(const autopar_session *session,
                                                 int64_t index, double *value);

/// Saves all states of the entry as a checkpoint of `step` into a folder of
/// checkpoints (docs/Checkpoints.md), which is this session's alone from then
/// on; of older ones all but the newest `keep` are removed, 0: none. No step
/// may be under way.
AUTOPAR_API int32_t autopar_session_save(autopar_session *session,
                                         const char *folder, int64_t step,
                                         int64_t keep);
/// The same with the place of the caller's data as a text (UTF-8), which
/// autopar_session_resumed_iterable gives back after a resume; "": none.
AUTOPAR_API int32_t autopar_session_save_with_iterable(autopar_session *session,
                                                       const char *folder,
                                                       int64_t step,
                                                       int64_t keep,
                                                       const char *iterable);
/// The text that the checkpoint has which the session last went on from; "" if
/// it has none. It lasts until the next resume.
AUTOPAR_API const char *
autopar_session_resumed_iterable(const autopar_session *session);
/// Gives the entry the states of a checkpoint, or of the newest one of a
/// folder; `step` gets its number of steps. `notes`, unless it is null, gets
/// what a person should be told, "" if nothing, until the session's next call
/// of this.
AUTOPAR_API int32_t autopar_session_resume(autopar_session *session,
                                           const char *path, int64_t *step,
                                           const char **notes);
/// The same for a recipe that has changed: states of these roles, by names with
/// commas between, need not be in the checkpoint and stay as they are.
AUTOPAR_API int32_t autopar_session_resume_ignoring(autopar_session *session,
                                                    const char *path,
                                                    const char *roles,
                                                    int64_t *step,
                                                    const char **notes);

#ifdef __cplusplus
}
#endif

#endif // AUTOPAR_SESSION_H
