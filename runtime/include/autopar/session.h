//===- session.h - Programs within a process of one's own ---------*- C -*-===//
//
// A session opens an executable that `autopar compile` made, loads it once, and
// takes as many steps of it as wanted, in the caller's process:
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
// Every function that can fail returns 0 if it succeeded; otherwise
// autopar_error() says what went wrong. No exception leaves the library.
// Sessions are independent of each other and may be used from any thread; calls
// of one session wait for each other. A session may not be used in a process
// that was forked after it was opened.
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

/// The version of this interface. It rises when a function or a struct changes
/// its meaning. Fields added at the end of a struct do not count, because
/// structs begin with their size.
#define AUTOPAR_SESSION_ABI 1
/// The version of the library that is loaded.
AUTOPAR_API int32_t autopar_session_abi(void);

typedef struct autopar_session autopar_session;

/// The reason why the last failed call of this thread failed. It is never null,
/// and valid until the thread's next call that fails.
AUTOPAR_API const char *autopar_error(void);

/// Options of autopar_session_open. A field that is zero has its default.
typedef struct autopar_session_options {
  size_t size;            // sizeof(autopar_session_options)
  const char *entry;      // the only entry that is loaded; null: all
  const char *weights;    // a file or a folder, as --weights takes them; null:
                          // those that the program was compiled with
  int64_t threads;        // per rank; 0: the host's cores divided by ranks
  double timeout_seconds; // longest wait for another rank; 0: 60
  int32_t verify_weights; // 1: reads all bytes of the weights and compares
  int64_t ranks; // one of the numbers it was compiled for; 0: the first
} autopar_session_options;

/// Opens a program and loads it. `options` may be null.
AUTOPAR_API int32_t autopar_session_open(const char *path,
                                         const autopar_session_options *options,
                                         autopar_session **session);
/// Closes a session; null is allowed. No other call of the session may be under
/// way. An entry must not be closed: it ends with its session.
AUTOPAR_API void autopar_session_close(autopar_session *session);

/// The number of entries that are loaded (`autopar compile --entry`): the same
/// model with other sizes. Entries that store a weight or a state alike share
/// it.
AUTOPAR_API int64_t autopar_session_entries(const autopar_session *session);
/// An entry of the program, which the functions below take as they take a
/// session: they then tell about the entry's tensors and states, and take its
/// steps. The session itself is its first entry. The result is null if there is
/// no entry of this number.
AUTOPAR_API autopar_session *autopar_session_entry(autopar_session *session,
                                                   int64_t index);
/// The entry's name, as --entry was written; "" if the program has one entry
/// only.
AUTOPAR_API const char *
autopar_session_entry_name(const autopar_session *session);

/// The number of threads that compute, the caller's thread among them.
AUTOPAR_API int64_t autopar_session_threads(const autopar_session *session);

typedef enum autopar_kind {
  AUTOPAR_INPUT = 0,
  AUTOPAR_OUTPUT = 1,
  AUTOPAR_STATE = 2, // what steps keep: caches, trained parameters, moments
  AUTOPAR_FIXED = 3  // inputs with a value since --bind gave it; no step takes
                     // or needs them
} autopar_kind;

/// A tensor of a program; it is dense and row-major. The session owns the
/// strings and the shape.
typedef struct autopar_tensor {
  size_t size;       // set by the caller: sizeof(autopar_tensor)
  const char *name;  // unique, for states together with the role
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
/// Checks that the bytes are the value of the AUTOPAR_FIXED tensor `index`, and
/// fails otherwise.
AUTOPAR_API int32_t autopar_session_check_fixed(const autopar_session *session,
                                                int64_t index,
                                                const void *data);

/// Takes a step. `inputs` and `outputs` have a pointer to the bytes of each
/// whole tensor of that kind. The bytes are read and written in place if the
/// plan allows it. A null output is not wanted. If an input is refused (an
/// index outside of its table) the session goes on; after any other failure
/// each call fails with its message.
AUTOPAR_API int32_t autopar_session_run(autopar_session *session,
                                        const void *const *inputs,
                                        void *const *outputs);

/// Memory for an input or an output that the session's ranks share. A step
/// reads and writes it in place, while other memory is copied once. The session
/// owns it. The result is null if there is no such memory: a program of one
/// rank uses the caller's memory in place, and a program whose steps overlap
/// copies.
AUTOPAR_API void *autopar_session_memory(autopar_session *session,
                                         autopar_kind kind, int64_t index);

/// Begins a step as autopar_session_run does, and returns once the inputs may
/// change; autopar_session_wait returns once the outputs are written; until
/// then the caller must not touch them. A program whose steps overlap (a
/// pipeline that was compiled for throughput) may have autopar_session_slots
/// steps under way, other programs one. A step too many is refused, and the
/// session goes on.
AUTOPAR_API int32_t autopar_session_submit(autopar_session *session,
                                           const void *const *inputs,
                                           void *const *outputs,
                                           int64_t *ticket);
AUTOPAR_API int32_t autopar_session_wait(autopar_session *session,
                                         int64_t ticket);
AUTOPAR_API int64_t autopar_session_slots(const autopar_session *session);

/// Returns a report of the steps of an entry since it was loaded, or since a
/// trace began or ended, as JSON in the form of the executable's --json. It is
/// valid until the next call that returns text, and null if the call failed, as
/// it does before the first step.
AUTOPAR_API const char *autopar_session_report(autopar_session *session);
/// Begins (1) or ends (0) a trace of the entry's steps: the first 65,536 events
/// of each rank. Steps take longer meanwhile.
AUTOPAR_API int32_t autopar_session_trace(autopar_session *session, int32_t on);
/// Returns the trace in the form of the executable's --trace. Ask for it before
/// the trace ends.
AUTOPAR_API const char *autopar_session_trace_text(autopar_session *session);

/// Reads or writes the bytes of a whole state, between steps. A number that a
/// hyperparameter cannot have is refused, and the session goes on.
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
/// checkpoints (docs/Checkpoints.md), which no other run may use from then on.
/// All checkpoints but the newest `keep` are removed; 0 removes none. No step
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
/// folder; `step` gets its number of steps. `notes`, unless it is null, gets a
/// message for a person, or "", which is valid until the session's next call of
/// this function.
AUTOPAR_API int32_t autopar_session_resume(autopar_session *session,
                                           const char *path, int64_t *step,
                                           const char **notes);
/// Resumes although the recipe has changed: states of the given roles (names
/// with commas between) need not be in the checkpoint and stay as they are.
AUTOPAR_API int32_t autopar_session_resume_ignoring(autopar_session *session,
                                                    const char *path,
                                                    const char *roles,
                                                    int64_t *step,
                                                    const char **notes);

#ifdef __cplusplus
}
#endif

#endif // AUTOPAR_SESSION_H
