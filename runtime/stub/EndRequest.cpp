//===- EndRequest.cpp - A training that is asked to end -------------------===//

#include "EndRequest.h"

#include <new>

namespace autopar::runtime {

Status EndRequest::create(SharedMemory &shared) {
  APRT_TRY(shared.take(sizeof(State), "the request to end", memory));
  if (shared.isNew())
    new (memory.data()) State();
  return Status::success();
}

void EndRequest::note(int signal) {
  int32_t none = 0;
  state().signal.compare_exchange_strong(none, signal);
}

} // namespace autopar::runtime
