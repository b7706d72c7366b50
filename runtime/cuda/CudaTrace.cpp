//===- CudaTrace.cpp - Times of ops on a GPU ------------------------------===//

#include "CudaTrace.h"

#include "../core/Futex.h"

namespace autopar::runtime {

/// Set anew in every step: the driver gives times in single precision.
Status CudaTrace::setBase() {
  APRT_TRY(base.record(context.stream(0)));
  baseSeconds = monotonicSeconds();
  return base.wait();
}

Status CudaTrace::start(TraceSink wanted) {
  sink = std::move(wanted);
  return setBase();
}

Status CudaTrace::begin(int op) {
  if (used == intervals.size())
    intervals.emplace_back(context);
  intervals[used].op = op;
  return intervals[used].begin.record(context.currentStream());
}

Status CudaTrace::end() {
  return intervals[used++].end.record(context.currentStream());
}

Status CudaTrace::flush() {
  for (size_t i = 0; i < used; ++i) {
    const Interval &interval = intervals[i];
    float start = 0, length = 0; // milliseconds
    APRT_CUDA(context.driver, cuEventElapsedTime, &start, base.get(),
              interval.begin.get());
    APRT_CUDA(context.driver, cuEventElapsedTime, &length, interval.begin.get(),
              interval.end.get());
    sink({interval.op, baseSeconds + start * 1e-3, length * 1e-3});
  }
  used = 0;
  return setBase();
}

} // namespace autopar::runtime
