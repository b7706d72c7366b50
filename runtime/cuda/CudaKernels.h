//===- CudaKernels.h - The program's kernels on a GPU -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAKERNELS_H
#define AUTOPAR_RUNTIME_CUDA_CUDAKERNELS_H

#include "CudaContext.h"

#include <vector>

namespace autopar::runtime {

/// What a program carries for cuModuleLoadData.
struct DeviceImages {
  const void *code = nullptr; // null: there are no kernels
  const void *ptx = nullptr;  // of the oldest architecture, or null
};

/// The functions of the manifest's "kernels" table.
class CudaKernels {
public:
  explicit CudaKernels(CudaContext &context) : context(context) {}
  ~CudaKernels();

  /// Loads the program's kernels and finds every one of the manifest; one that
  /// this GPU cannot launch is a failure. Where the driver refuses the code it
  /// compiles the PTX.
  Status load(const DeviceImages &images);
  /// Why the kernels are compiled from PTX; empty: they are not.
  const std::string &refusal() const { return why; }
  /// aprt_launch_grid, on the stream of the current op.
  Status launch(int kernel, void *const *buffers, const int64_t *scalars,
                int64_t blocks);

private:
  Status loadModule(const DeviceImages &images);
  Status find(const KernelEntry &entry, CUfunction &function) const;

  CudaContext &context;
  CUmodule module = nullptr;
  std::string why;
  std::vector<CUfunction> functions; // by number in the manifest
  std::vector<void *> arguments;     // scratch
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAKERNELS_H
