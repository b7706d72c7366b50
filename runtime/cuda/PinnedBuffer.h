//===- PinnedBuffer.h - Host memory that a GPU copies from ------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_PINNEDBUFFER_H
#define AUTOPAR_RUNTIME_CUDA_PINNEDBUFFER_H

#include "CudaContext.h"

namespace autopar::runtime {

/// Page-locked memory of the host: copies to and from the device run beside the
/// host's work. Released only when no copy uses it.
class PinnedBuffer {
public:
  explicit PinnedBuffer(CudaContext &context) : context(context) {}
  ~PinnedBuffer() {
    if (base && context.isIdle())
      (void)release();
  }
  PinnedBuffer(const PinnedBuffer &) = delete;
  PinnedBuffer &operator=(const PinnedBuffer &) = delete;

  /// Makes it at least so large; contents are lost.
  Status reserve(int64_t wanted, const char *what);
  Status release();

  char *data() const { return base; }
  int64_t size() const { return bytes; }

private:
  CudaContext &context;
  char *base = nullptr;
  int64_t bytes = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_PINNEDBUFFER_H
