//===- CudaGraphs.h - Steps that are repeated on a GPU ----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAGRAPHS_H
#define AUTOPAR_RUNTIME_CUDA_CUDAGRAPHS_H

#include "CudaContext.h"

#include <map>

namespace autopar::runtime {

/// A graph for each micro-batch of a step. Its first run is as the program says
/// it, which lets libraries make their plans; the second is captured; later
/// ones repeat that with one call. If a step cannot be captured all run as they
/// are, and reason() says why.
class CudaGraphs {
public:
  explicit CudaGraphs(CudaContext &context)
      : context(context), enabled(context.options.graphs),
        why(enabled ? "" : "--graphs off") {}
  ~CudaGraphs();

  /// Puts the work of micro-batch `time` on the streams, beginning and ending
  /// on stream 0.
  Status run(int64_t time, const std::function<Status()> &body);

  /// Forgets all graphs, when none of them runs. NCCL's communicators cannot
  /// end before.
  void clear();
  /// From now on every step runs as the program says it.
  void disable(std::string why);
  /// Empty while nothing stands against graphs.
  const std::string &reason() const { return why; }

private:
  /// Of the whole program: NCCL connects ranks in the first ones.
  static constexpr int64_t firstRuns = 2;

  Status capture(const std::function<Status()> &body, CUgraphExec &executable);

  CudaContext &context;
  bool enabled;
  std::string why;
  int64_t runs = 0;
  int64_t generation = 0;
  std::map<int64_t, CUgraphExec> graphs; // by time; null: ran once
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAGRAPHS_H
