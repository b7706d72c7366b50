//===- CudaTimer.h - Seconds of work on a stream ----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDATIMER_H
#define AUTOPAR_RUNTIME_CUDA_CUDATIMER_H

#include "CudaEvent.h"

#include <vector>

namespace autopar::runtime {

/// Adds up how long the work between begin() and end() took, by events on the
/// stream that it is on.
class CudaTimer {
public:
  explicit CudaTimer(CudaContext &context) : context(context) {}

  Status begin(CUstream stream);
  Status end(CUstream stream);
  /// When all work is done: counts what was timed since the last call.
  Status flush();
  /// What flush() has counted.
  double seconds() const { return total; }

private:
  struct Interval {
    explicit Interval(CudaContext &context)
        : begin(context, CU_EVENT_DEFAULT), end(context, CU_EVENT_DEFAULT) {}
    CudaEvent begin, end;
  };

  CudaContext &context;
  std::vector<Interval> intervals; // used again after a flush
  size_t used = 0;
  double total = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDATIMER_H
