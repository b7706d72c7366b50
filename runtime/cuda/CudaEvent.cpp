//===- CudaEvent.cpp - Order between streams and the host -----------------===//

#include "CudaEvent.h"

namespace autopar::runtime {

Status CudaEvent::record(CUstream stream) {
  const DriverApi &driver = context->driver;
  if (!event)
    APRT_CUDA(driver, cuEventCreate, &event, flags);
  APRT_CUDA(driver, cuEventRecord, event, stream);
  return Status::success();
}

Status CudaEvent::makeWait(CUstream stream) const {
  if (!event)
    return Status::success();
  return context->driver.check(
      context->driver.cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
}

Status CudaEvent::wait() const {
  return event ? context->waitFor(event) : Status::success();
}

} // namespace autopar::runtime
