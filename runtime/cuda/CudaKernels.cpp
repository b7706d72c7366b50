//===- CudaKernels.cpp - The program's kernels on a GPU -------------------===//

#include "CudaKernels.h"

namespace autopar::runtime {

CudaKernels::~CudaKernels() {
  if (module && context.isIdle())
    (void)context.driver.cuModuleUnload(module);
}

Status CudaKernels::load(const void *deviceCode) {
  const std::vector<KernelEntry> &entries = context.manifest.kernels;
  if (entries.empty())
    return Status::success();
  if (!deviceCode)
    return Status::error("the program lacks aprt_program_device_code");
  CUresult result = context.driver.cuModuleLoadData(&module, deviceCode);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
      result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ||
      result == CUDA_ERROR_INVALID_PTX)
    return Status::error(
        "the program has no kernels for this " + context.description() + ": " +
        context.driver.check(result, "cuModuleLoadData").message() +
        "; install a newer driver, or compile it for this GPU");
  APRT_TRY(context.driver.check(result, "cuModuleLoadData"));
  for (const KernelEntry &entry : entries) {
    functions.emplace_back();
    APRT_TRY(find(entry, functions.back()));
  }
  return Status::success();
}

Status CudaKernels::find(const KernelEntry &entry, CUfunction &function) const {
  Status found = context.driver.check(
      context.driver.cuModuleGetFunction(&function, module, entry.name.c_str()),
      "cuModuleGetFunction");
  if (found.failed())
    return Status::error("kernel '" + entry.name + "': " + found.message());
  int threads = 0;
  APRT_CUDA(context.driver, cuFuncGetAttribute, &threads,
            CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
  if (entry.threads > threads)
    return Status::error("kernel '" + entry.name + "' wants blocks of " +
                         std::to_string(entry.threads) +
                         " threads, but this GPU can launch " +
                         std::to_string(threads) + " of it at most");
  return Status::success();
}

Status CudaKernels::launch(int kernel, void *const *buffers,
                           const int64_t *scalars, int64_t blocks) {
  if (blocks == 0)
    return Status::success();
  if (blocks > context.maxGridBlocks())
    return Status::error(std::to_string(blocks) +
                         " blocks are more than this GPU's grids can have, " +
                         std::to_string(context.maxGridBlocks()));
  const KernelEntry &entry = context.manifest.kernels[size_t(kernel)];
  arguments.clear();
  // cuLaunchKernel copies what these point to, and writes nothing.
  for (size_t i = 0; i < entry.buffers.size(); ++i)
    arguments.push_back(const_cast<void **>(buffers + i));
  for (int64_t i = 0; i < entry.scalars; ++i)
    arguments.push_back(const_cast<int64_t *>(scalars + i));
  APRT_CUDA(context.driver, cuLaunchKernel, functions[size_t(kernel)],
            unsigned(blocks), 1, 1, unsigned(entry.threads), 1, 1,
            /*sharedBytes=*/0, context.currentStream(), arguments.data(),
            nullptr);
  return Status::success();
}

} // namespace autopar::runtime
