//===- CudaKernels.cpp - The program's kernels on a GPU -------------------===//

#include "CudaKernels.h"

namespace autopar::runtime {

CudaKernels::~CudaKernels() {
  if (module && context.isIdle())
    (void)context.driver.cuModuleUnload(module);
}

/// An image of another toolkit or for other GPUs than the driver knows.
static bool isRefusal(CUresult result) {
  return result == CUDA_ERROR_INVALID_IMAGE ||
         result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
         result == CUDA_ERROR_INVALID_PTX ||
         result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

/// Drivers refuse cubins of a newer ptxas, whatever they are for.
Status CudaKernels::loadModule(const DeviceImages &images) {
  const DriverApi &driver = context.driver;
  CUresult result = driver.cuModuleLoadData(&module, images.code);
  Status status = driver.check(result, "cuModuleLoadData");
  if (isRefusal(result) && images.ptx) {
    why = status.message();
    result = driver.cuModuleLoadData(&module, images.ptx);
    status = driver.check(result, "cuModuleLoadData of PTX");
  }
  if (!isRefusal(result))
    return status;
  return Status::error("the program has no kernels for this " +
                       context.description() + ": " +
                       (why.empty() ? "" : why + "; ") + status.message() +
                       "; install a newer driver, or compile it for this GPU");
}

Status CudaKernels::load(const DeviceImages &images) {
  const std::vector<KernelEntry> &entries = context.manifest.kernels;
  if (entries.empty())
    return Status::success();
  if (!images.code)
    return Status::error("the program lacks aprt_program_device_code");
  APRT_TRY(loadModule(images));
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
