//===- CudaKernels.h - The program's kernels on a GPU -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAKERNELS_H
#define AUTOPAR_RUNTIME_CUDA_CUDAKERNELS_H

#include "CudaContext.h"

#include <vector>

namespace autopar::runtime {

/// The functions of the manifest's "kernels" table.
class CudaKernels {
public:
  explicit CudaKernels(CudaContext &context) : context(context) {}
  ~CudaKernels();

  /// Loads the program's device code (null if it has none) and finds every
  /// kernel of the manifest; one that this GPU cannot launch is a failure.
  Status load(const void *deviceCode);
  /// aprt_launch_grid, on the stream of the current op.
  Status launch(int kernel, void *const *buffers, const int64_t *scalars,
                int64_t blocks);

private:
  Status find(const KernelEntry &entry, CUfunction &function) const;

  CudaContext &context;
  CUmodule module = nullptr;
  std::vector<CUfunction> functions; // by number in the manifest
  std::vector<void *> arguments;     // scratch
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAKERNELS_H
