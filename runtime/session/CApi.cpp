//===- CApi.cpp - Sessions for C ------------------------------------------===//

#include "autopar/session.h"

#include "../core/MemoryGuard.h"
#include "../files/Text.h"
#include "Session.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace autopar::runtime;

struct autopar_session {
  std::unique_ptr<Session> session;
};

namespace {

/// Kept where memory that ran out cannot take it away.
thread_local char lastError[4096] = "no call has failed";

int32_t tell(const Status &status) {
  if (status.ok())
    return 0;
  std::string text = printable(status.message());
  size_t length = std::min(text.size(), sizeof(lastError) - 1);
  std::memcpy(lastError, text.data(), length);
  lastError[length] = 0;
  return 1;
}

/// Runs what may fail; no exception leaves it.
template <typename Body> int32_t guard(const char *doing, const Body &body) {
  return tell(guardMemory(doing, body));
}

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
  if (value.threads < 0 || value.timeout_seconds < 0)
    return Status::error("threads and timeout_seconds may not be negative");
  options.entry = value.entry ? value.entry : "";
  options.weights = value.weights ? value.weights : "";
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

} // namespace

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
    APRT_TRY(Session::open(path, chosen, made->session));
    *session = made.release();
    return Status::success();
  });
}

void autopar_session_close(autopar_session *session) { delete session; }

int64_t autopar_session_threads(const autopar_session *session) {
  return session->session->threads();
}

int64_t autopar_session_count(const autopar_session *session,
                              autopar_kind kind) {
  const Session &of = *session->session;
  switch (kind) {
  case AUTOPAR_INPUT:
    return int64_t(of.manifest().inputs.size());
  case AUTOPAR_OUTPUT:
    return int64_t(of.manifest().outputs.size());
  case AUTOPAR_STATE:
    return int64_t(of.states().size());
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
    const Manifest &manifest = of.manifest();
    if (kind == AUTOPAR_INPUT)
      describe(manifest.inputs[size_t(index)], "", value);
    else if (kind == AUTOPAR_OUTPUT)
      describe(manifest.outputs[size_t(index)],
               outputRoleNames[int(manifest.outputs[size_t(index)].role)],
               value);
    else
      describe(*of.states()[size_t(index)].entry, value);
    std::memcpy(tensor, &value, std::min(value.size, sizeof(value)));
    return Status::success();
  });
}

int32_t autopar_session_run(autopar_session *session, const void *const *inputs,
                            void *const *outputs) {
  return guard("running a step",
               [&] { return session->session->run(inputs, outputs); });
}

int32_t autopar_session_read_state(autopar_session *session, int64_t index,
                                   void *to) {
  return guard("reading a state",
               [&] { return session->session->readState(size_t(index), to); });
}

int32_t autopar_session_write_state(autopar_session *session, int64_t index,
                                    const void *from) {
  return guard("writing a state", [&] {
    return session->session->writeState(size_t(index), from);
  });
}

} // extern "C"
