//===- CudaGraphs.h - Steps that are repeated on a GPU ----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAGRAPHS_H
#define AUTOPAR_RUNTIME_CUDA_CUDAGRAPHS_H

#include "CudaContext.h"

#include <map>

namespace autopar::runtime {

/// A graph for each micro-batch of a step. Its first run, and the program's
/// first two, are as the program says it, which lets libraries make their plans
/// and NCCL connect ranks. The next is captured if all ranks can, and later
/// ones repeat that with one call; no memory that a graph may name is released
/// from then on. If a step cannot be captured on any rank, all steps of all
/// ranks run as they are, and reason() says why.
class CudaGraphs {
public:
  explicit CudaGraphs(CudaContext &context)
      : context(context), enabled(context.options.graphs),
        why(enabled ? "" : "--graphs off") {}
  ~CudaGraphs() { clear(); }

  /// Puts the work of micro-batch `time` on the streams, beginning and ending
  /// on stream 0.
  Status run(int64_t time, const std::function<Status()> &body);

  /// Forgets all graphs; what runs goes on. NCCL's communicators cannot end
  /// before.
  void clear();
  /// From now on every step runs as the program says it. Between a capture and
  /// the end all ranks must do so in the same run.
  void disable(std::string why);
  /// Empty while nothing stands against graphs.
  const std::string &reason() const { return why; }

private:
  /// Of the whole program: NCCL connects ranks in the first ones.
  static constexpr int64_t firstRuns = 2;

  Status agree();
  Status captureTogether(const std::function<Status()> &body,
                         CUgraphExec &executable);
  Status capture(const std::function<Status()> &body, CUgraphExec &executable);

  CudaContext &context;
  bool enabled;       // nothing on this rank stands against graphs
  bool eager = false; // all ranks know that there will be none
  std::string why;
  int64_t runs = 0;
  int64_t generation = -1;               // of memory, at the first capture
  std::map<int64_t, CUgraphExec> graphs; // by time; null: ran once
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAGRAPHS_H
