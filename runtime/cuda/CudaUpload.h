//===- CudaUpload.h - Weights on their way to a GPU -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAUPLOAD_H
#define AUTOPAR_RUNTIME_CUDA_CUDAUPLOAD_H

#include "../core/Device.h"
#include "CudaEvent.h"
#include "PinnedBuffer.h"

namespace autopar::runtime {

/// Fills device memory through two pinned buffers: while the device copies from
/// one, the host reads files into the other. Small tensors share a buffer.
class CudaUpload {
public:
  explicit CudaUpload(CudaContext &context);

  /// On stream 0, in order with its other work.
  Status upload(CUdeviceptr to, const HostSlice &slice);
  /// Gives the pinned buffers back, after the copies from them.
  Status release();

private:
  static constexpr int64_t stageBytes = 8 << 20;

  struct Stage {
    explicit Stage(CudaContext &context) : memory(context), copied(context) {}
    PinnedBuffer memory;
    CudaEvent copied;
    int64_t used = 0;
  };

  /// Room for `bytes` (at most stageBytes) in the current stage, or the next.
  Status takeRoom(int64_t bytes, char *&room);

  CudaContext &context;
  Stage stages[2];
  int now = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAUPLOAD_H
