//===- CudaEvent.h - Order between streams and the host ---------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAEVENT_H
#define AUTOPAR_RUNTIME_CUDA_CUDAEVENT_H

#include "CudaContext.h"

#include <utility>

namespace autopar::runtime {

/// An event of the driver, made when it is first recorded.
class CudaEvent {
public:
  explicit CudaEvent(CudaContext &context,
                     unsigned flags = CU_EVENT_DISABLE_TIMING)
      : context(&context), flags(flags) {}
  CudaEvent(CudaEvent &&other) noexcept
      : context(other.context), flags(other.flags),
        event(std::exchange(other.event, nullptr)) {}
  ~CudaEvent() {
    if (event)
      (void)context->driver.cuEventDestroy_v2(event);
  }

  Status record(CUstream stream);
  CUevent get() const { return event; }
  /// Later work of `stream` waits for the last record, if there is one.
  Status makeWait(CUstream stream) const;
  /// The host waits for the last record, if there is one.
  Status wait() const;

private:
  CudaContext *context;
  unsigned flags;
  CUevent event = nullptr;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAEVENT_H
