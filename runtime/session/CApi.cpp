//===- CApi.cpp - Sessions for C ------------------------------------------===//

#include "autopar/session.h"

#include "../evaluation/MetricSums.h"
#include "../files/Text.h"
#include "CallGuard.h"
#include "FixedInputs.h"
#include "Session.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <sstream>

using namespace autopar::runtime;

struct autopar_session {
  Session *session = nullptr;
  size_t entry = 0;
  autopar_session *opened = nullptr;
  std::string text; // that a call returned
  std::unique_ptr<MetricSums> metrics;
  // The handle that was opened, which is the first entry, owns the session and
  // the handles of the other entries.
  std::unique_ptr<Session> owned;
  std::vector<autopar_session> others;
};

namespace {

/// Kept where memory that ran out cannot take it away.
thread_local char lastError[4096] = "no call has failed";

/// The fields that the caller knows of, of a struct that begins with its size.
template <typename T> Status readStruct(const T *given, T &value) {
  if (!given)
    return Status::success();
  if (given->size < sizeof(size_t) || given->size > sizeof(T) * 16)
    return Status::error("a struct's field 'size' is " +
                         std::to_string(given->size) +
                         ", but must be its sizeof");
  std::memcpy(&value, given, std::min(given->size, sizeof(T)));
  return Status::success();
}

Status readOptions(const autopar_session_options *given,
                   SessionOptions &options) {
  autopar_session_options value{};
  APRT_TRY(readStruct(given, value));
  if (value.threads < 0 || value.timeout_seconds < 0 || value.ranks < 0)
    return Status::error(
        "threads, timeout_seconds and ranks may not be negative");
  options.entry = value.entry ? value.entry : "";
  options.weights = value.weights ? value.weights : "";
  options.ranks = value.ranks;
  options.threads = value.threads;
  options.verifyWeights = value.verify_weights != 0;
  if (value.timeout_seconds > 0)
    options.timeoutSeconds = value.timeout_seconds;
  return Status::success();
}

void describe(const Port &port, const char *role, autopar_tensor &tensor) {
  tensor.name = port.name.c_str();
  tensor.role = role;
  tensor.dtype = dtypeName(port.dtype);
  tensor.rank = int32_t(port.shape.size());
  tensor.shape = port.shape.data();
  tensor.bytes = port.globalBytes;
}

void describe(const PersistentEntry &state, autopar_tensor &tensor) {
  tensor.name = state.name.c_str();
  tensor.role = stateRoleNames[int(state.role)];
  tensor.dtype = dtypeName(state.dtype);
  tensor.rank = int32_t(state.globalShape.size());
  tensor.shape = state.globalShape.data();
  tensor.bytes = state.globalBytes;
}

void describe(const FixedInput &input, autopar_tensor &tensor) {
  tensor.name = input.name.c_str();
  tensor.role = "";
  tensor.dtype = dtypeName(input.dtype);
  tensor.rank = int32_t(input.shape.size());
  tensor.shape = input.shape.data();
  tensor.bytes = input.bytes;
}

} // namespace

int32_t autopar::runtime::tell(const Status &status) {
  if (status.ok())
    return 0;
  std::string text = printable(status.message());
  size_t length = std::min(text.size(), sizeof(lastError) - 1);
  std::memcpy(lastError, text.data(), length);
  lastError[length] = 0;
  return 1;
}

extern "C" {

int32_t autopar_session_abi(void) { return AUTOPAR_SESSION_ABI; }

const char *autopar_error(void) { return lastError; }

int32_t autopar_session_open(const char *path,
                             const autopar_session_options *options,
                             autopar_session **session) {
  return guard("opening a session", [&]() -> Status {
    if (!path || !session)
      return Status::error("autopar_session_open needs a path and a place for "
                           "the session");
    *session = nullptr;
    SessionOptions chosen;
    APRT_TRY(readOptions(options, chosen));
    auto made = std::make_unique<autopar_session>();
    APRT_TRY(Session::open(path, chosen, made->owned));
    made->session = made->owned.get();
    made->opened = made.get();
    made->others.resize(made->session->entries() - 1);
    for (size_t i = 0; i < made->others.size(); ++i) {
      made->others[i].session = made->session;
      made->others[i].entry = i + 1;
      made->others[i].opened = made.get();
    }
    *session = made.release();
    return Status::success();
  });
}

void autopar_session_close(autopar_session *session) {
  if (session && session->owned)
    delete session;
}

int64_t autopar_session_entries(const autopar_session *session) {
  return int64_t(session->session->entries());
}

autopar_session *autopar_session_entry(autopar_session *session,
                                       int64_t index) {
  autopar_session *opened = session->opened;
  if (index == 0)
    return opened;
  bool isThere = index > 0 && size_t(index) <= opened->others.size();
  return isThere ? &opened->others[size_t(index) - 1] : nullptr;
}

const char *autopar_session_entry_name(const autopar_session *session) {
  return session->session->manifest(session->entry).entry.c_str();
}

int64_t autopar_session_threads(const autopar_session *session) {
  return session->session->threads();
}

int64_t autopar_session_count(const autopar_session *session,
                              autopar_kind kind) {
  const Session &of = *session->session;
  switch (kind) {
  case AUTOPAR_INPUT:
    return int64_t(of.manifest(session->entry).inputs.size());
  case AUTOPAR_OUTPUT:
    return int64_t(of.manifest(session->entry).outputs.size());
  case AUTOPAR_STATE:
    return int64_t(of.states(session->entry).size());
  case AUTOPAR_FIXED:
    return int64_t(of.manifest(session->entry).fixedInputs.size());
  }
  return 0;
}

int32_t autopar_session_tensor(const autopar_session *session,
                               autopar_kind kind, int64_t index,
                               autopar_tensor *tensor) {
  return guard("describing a tensor", [&]() -> Status {
    autopar_tensor value{};
    APRT_TRY(readStruct(tensor, value));
    if (index < 0 || index >= autopar_session_count(session, kind))
      return Status::error("there is no tensor number " +
                           std::to_string(index) + " of kind " +
                           std::to_string(int(kind)));
    const Session &of = *session->session;
    const Manifest &manifest = of.manifest(session->entry);
    if (kind == AUTOPAR_INPUT)
      describe(manifest.inputs[size_t(index)],
               manifest.inputs[size_t(index)].countsRows ? "counted_rows" : "",
               value);
    else if (kind == AUTOPAR_OUTPUT)
      describe(manifest.outputs[size_t(index)],
               outputRoleNames[int(manifest.outputs[size_t(index)].role)],
               value);
    else if (kind == AUTOPAR_STATE)
      describe(*of.states(session->entry)[size_t(index)].entry, value);
    else
      describe(manifest.fixedInputs[size_t(index)], value);
    value.entry = int64_t(kind == AUTOPAR_STATE
                              ? of.ownerOf(session->entry, size_t(index))
                              : session->entry);
    std::memcpy(tensor, &value, std::min(value.size, sizeof(value)));
    return Status::success();
  });
}

int32_t autopar_session_check_fixed(const autopar_session *session,
                                    int64_t index, const void *data) {
  return guard("comparing an input", [&]() -> Status {
    const auto &fixed = session->session->manifest(session->entry).fixedInputs;
    if (index < 0 || index >= int64_t(fixed.size()))
      return Status::error("there is no fixed input number " +
                           std::to_string(index));
    const FixedInput &input = fixed[size_t(index)];
    return checkFixed(input, input.dtype, input.shape, data);
  });
}

int32_t autopar_session_run(autopar_session *session, const void *const *inputs,
                            void *const *outputs) {
  return guard("running a step", [&] {
    return session->session->run(session->entry, inputs, outputs);
  });
}

void *autopar_session_memory(autopar_session *session, autopar_kind kind,
                             int64_t index) {
  bool isTensor = kind == AUTOPAR_INPUT || kind == AUTOPAR_OUTPUT;
  if (!isTensor || index < 0 || index >= autopar_session_count(session, kind))
    return nullptr;
  Session &of = *session->session;
  return kind == AUTOPAR_INPUT ? of.sharedInput(session->entry, size_t(index))
                               : of.sharedOutput(session->entry, size_t(index));
}

int32_t autopar_session_submit(autopar_session *session,
                               const void *const *inputs, void *const *outputs,
                               int64_t *ticket) {
  return guard("beginning a step", [&] {
    return session->session->submit(session->entry, inputs, outputs, *ticket);
  });
}

int32_t autopar_session_wait(autopar_session *session, int64_t ticket) {
  return guard("waiting for a step",
               [&] { return session->session->wait(ticket); });
}

int64_t autopar_session_slots(const autopar_session *session) {
  return int64_t(session->session->slots());
}

const char *autopar_session_report(autopar_session *session) {
  int32_t failed = guard("reporting", [&] {
    return session->session->report(session->entry, session->text);
  });
  return failed ? nullptr : session->text.c_str();
}

int32_t autopar_session_trace(autopar_session *session, int32_t on) {
  return guard("tracing", [&] {
    return session->session->trace(session->entry, on != 0);
  });
}

const char *autopar_session_trace_text(autopar_session *session) {
  int32_t failed = guard("writing the trace", [&] {
    return session->session->traceText(session->entry, session->text);
  });
  return failed ? nullptr : session->text.c_str();
}

int32_t autopar_session_read_state(autopar_session *session, int64_t index,
                                   void *to) {
  return guard("reading a state", [&] {
    return session->session->readState(session->entry, size_t(index), to);
  });
}

int32_t autopar_session_write_state(autopar_session *session, int64_t index,
                                    const void *from) {
  return guard("writing a state", [&] {
    return session->session->writeState(session->entry, size_t(index), from);
  });
}

int32_t autopar_session_save(autopar_session *session, const char *folder,
                             int64_t step, int64_t keep) {
  return autopar_session_save_with_iterable(session, folder, step, keep, "");
}

int32_t autopar_session_save_with_iterable(autopar_session *session,
                                           const char *folder, int64_t step,
                                           int64_t keep, const char *iterable) {
  return guard("saving a checkpoint", [&] {
    if (step < 0 || keep < 0)
      return Status::error("step and keep may not be negative");
    return session->session->save(session->entry, folder, step, keep, iterable);
  });
}

const char *autopar_session_resumed_iterable(const autopar_session *session) {
  return session->session->resumedIterable().c_str();
}

int32_t autopar_session_resume(autopar_session *session, const char *path,
                               int64_t *step, const char **notes) {
  return autopar_session_resume_ignoring(session, path, "", step, notes);
}

int32_t autopar_session_resume_ignoring(autopar_session *session,
                                        const char *path, const char *roles,
                                        int64_t *step, const char **notes) {
  return guard("reading a checkpoint", [&] {
    std::vector<std::string> told, ignoring;
    std::istringstream words(roles);
    for (std::string role; std::getline(words, role, ',');)
      ignoring.push_back(role);
    APRT_TRY(
        session->session->resume(session->entry, path, ignoring, *step, told));
    session->text.clear();
    for (const std::string &note : told)
      session->text += (session->text.empty() ? "" : "\n") + printable(note);
    if (notes)
      *notes = session->text.c_str();
    return Status::success();
  });
}

const char *autopar_session_metric(const autopar_session *session,
                                   int64_t index) {
  const auto &about = session->session->manifest(session->entry).evaluation;
  bool isThere = about && index >= 0 && index < int64_t(about->metrics.size());
  return isThere ? about->metrics[size_t(index)].name.c_str() : nullptr;
}

int32_t autopar_session_add_metrics(autopar_session *session,
                                    const void *const *outputs, int64_t rows) {
  return guard("adding to metrics", [&] {
    const Manifest &manifest = session->session->manifest(session->entry);
    if (!manifest.evaluation)
      return Status::error("the entry has no metrics: its recipe has no "
                           "'evaluation'");
    if (!outputs) {
      session->metrics = nullptr;
      return Status::success();
    }
    if (!session->metrics)
      session->metrics = std::make_unique<MetricSums>(manifest);
    std::vector<const char *> tensors(manifest.outputs.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Port &port = manifest.outputs[i];
      tensors[i] = static_cast<const char *>(outputs[i]);
      bool isMetric = port.role == OutputRole::Metric;
      if (isMetric && !tensors[i])
        return Status::error("output '" + port.name + "' is missing");
      if (isMetric && rows < 0)
        return Status::error("the number of rows may not be negative");
    }
    session->metrics->add(tensors, rows);
    return Status::success();
  });
}

int32_t autopar_session_metric_value(const autopar_session *session,
                                     int64_t index, double *value) {
  return guard("computing a metric", [&] {
    std::vector<double> values =
        session->metrics ? session->metrics->values() : std::vector<double>();
    if (index < 0 || index >= int64_t(values.size()))
      return Status::error("there is no metric number " +
                           std::to_string(index) + " of steps that were added");
    *value = values[size_t(index)];
    return Status::success();
  });
}

} // extern "C"
