//===- CudaTrace.h - Times of ops on a GPU ----------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDATRACE_H
#define AUTOPAR_RUNTIME_CUDA_CUDATRACE_H

#include "../core/Device.h"
#include "CudaEvent.h"

namespace autopar::runtime {

/// While it is on, an event before and one after the work of every op, on the
/// op's stream.
class CudaTrace {
public:
  explicit CudaTrace(CudaContext &context)
      : context(context), base(context, CU_EVENT_DEFAULT) {}

  bool isOn() const { return sink != nullptr; }
  /// All work must be done. Times go to `wanted` from then on.
  Status start(TraceSink wanted);
  Status begin(int op);
  Status end();
  /// Gives the sink what was noted, when all work is done.
  Status flush();

private:
  struct Interval {
    explicit Interval(CudaContext &context)
        : begin(context, CU_EVENT_DEFAULT), end(context, CU_EVENT_DEFAULT) {}
    int op = -1;
    CudaEvent begin, end;
  };
  Status setBase();

  CudaContext &context;
  TraceSink sink;
  CudaEvent base;         // what times are counted from,
  double baseSeconds = 0; // and when that was, of the monotonic clock
  std::vector<Interval> intervals;
  size_t used = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDATRACE_H
