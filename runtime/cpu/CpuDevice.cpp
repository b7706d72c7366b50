//===- CpuDevice.cpp - Host memory, threads and oneDNN --------------------===//

#include "CpuDevice.h"

#include <mutex>

namespace autopar::runtime {

CpuDevice::CpuDevice(const CpuOptions &options, RankMemory &memory)
    : parts(options.parts
                ? options.parts
                : std::make_shared<CpuParts>(options.threads, options.spin,
                                             options.alone, memory)),
      store(options.sharesWeights ? &parts->packed : nullptr),
      packedMemory(store ? parts->packedMemory : memory.packed),
      gemms(options.oneDnn ? parts->library : none, parts->pool,
            parts->workspace, packedMemory, size_t(options.packedSlots), store,
            store ? &parts->matrices : nullptr),
      convolutions(options.oneDnn ? parts->library : none, parts->pool,
                   parts->workspace, packedMemory, size_t(options.packedSlots),
                   gemms, store) {}

Status CpuDevice::create(const CpuOptions &options, RankMemory &memory,
                         std::unique_ptr<CpuDevice> &result) {
  result.reset(new CpuDevice(options, memory));
  CpuParts &parts = *result->parts;
  if (options.oneDnn && !parts.library.available())
    APRT_TRY(parts.library.load());
  parts.library.useCallingThreads(parts.pool);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CpuDevice::allocate(int64_t bytes, const char *what,
                           MemoryCounter &counter, void *&result) {
  Buffer buffer;
  APRT_TRY(buffer.allocate(bytes, what, &counter));
  result = buffer.data();
  buffers[result] = std::move(buffer);
  return Status::success();
}

Status CpuDevice::release(void *address) {
  buffers.erase(address);
  return Status::success();
}

/// Between the slice's host memory and device memory at `at`.
Status CpuDevice::copyParts(const HostSlice &slice, char *at) {
  if (!slice.parallel)
    return slice.copy(slice.intervals, at);
  constexpr int64_t worthAThread = 64 << 10; // bytes
  SlicePieces pieces(slice.intervals);
  int64_t bytes = std::max<int64_t>(1, pieces.stride * slice.elementBytes);
  Status status;
  std::mutex mutex;
  parts->pool.split(
      pieces.count, worthAThread / bytes, [&](int64_t begin, int64_t end) {
        Status part =
            slice.copy(pieces.intervals(begin, end), at + begin * bytes);
        std::lock_guard<std::mutex> lock(mutex);
        if (part.failed())
          status = std::move(part);
      });
  return status;
}

Status CpuDevice::upload(void *to, const HostSlice &slice) {
  return copyParts(slice, static_cast<char *>(to));
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Status CpuDevice::launch(aprt_kernel kernel, void *const *buffers,
                         const int64_t *scalars, int64_t work, int64_t grain) {
  parts->pool.split(work, grain, [&](int64_t begin, int64_t end) {
    kernel(buffers, scalars, begin, end);
  });
  return Status::success();
}

Status CpuDevice::launchGrid(int, void *const *, const int64_t *, int64_t) {
  return Status::error("kernels in grids need a GPU; this program is for CPUs");
}

Status CpuDevice::gemm(const aprt_gemm_desc &desc,
                       const GemmOperands &operands) {
  return gemms.run(desc, operands);
}

Status CpuDevice::packGemm(const aprt_gemm_desc &desc, const void *b) {
  return gemms.pack(desc, b);
}

Status CpuDevice::conv(const aprt_conv_desc &desc,
                       const ConvOperands &operands) {
  return convolutions.run(desc, operands);
}

Status CpuDevice::packConv(const aprt_conv_desc &desc, const void *w) {
  return convolutions.pack(desc, w);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The arena may still hold outputs of the step before: copied by runStep.
Status CpuDevice::feed(std::vector<Transfer> transfers) {
  inputs = std::move(transfers);
  return Status::success();
}

Status CpuDevice::runStep(int64_t, const std::function<Status()> &body) {
  OnCallingThread alone(parts->library);
  for (const Transfer &input : inputs)
    APRT_TRY(copyParts(input.slice, static_cast<char *>(input.device)));
  return body();
}

Status CpuDevice::collect(std::vector<Transfer> outputs) {
  for (const Transfer &output : outputs) {
    APRT_TRY(copyParts(output.slice, static_cast<char *>(output.device)));
    counted.outputBytes += output.slice.bytes();
  }
  return Status::success();
}

} // namespace autopar::runtime
