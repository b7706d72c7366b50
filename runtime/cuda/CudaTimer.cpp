//===- CudaTimer.cpp - Seconds of work on a stream ------------------------===//

#include "CudaTimer.h"

namespace autopar::runtime {

Status CudaTimer::begin(CUstream stream) {
  if (used == intervals.size())
    intervals.emplace_back(context);
  return intervals[used].begin.record(stream);
}

Status CudaTimer::end(CUstream stream) {
  return intervals[used++].end.record(stream);
}

Status CudaTimer::flush() {
  for (size_t i = 0; i < used; ++i) {
    float milliseconds = 0;
    APRT_CUDA(context.driver, cuEventElapsedTime, &milliseconds,
              intervals[i].begin.get(), intervals[i].end.get());
    total += milliseconds * 1e-3;
  }
  used = 0;
  return Status::success();
}

} // namespace autopar::runtime
