//===- DeviceCopy.cpp - Parts of tensors copied on a GPU ------------------===//

#include "DeviceCopy.h"

#include "../transport/Reduce.h"

#include <algorithm>
#include <cstring>

namespace autopar::runtime {

/// What every GPU takes as a pitch.
static constexpr int64_t kMaxPitch = INT32_MAX;

int64_t CopyBox::bytes() const {
  int64_t total = run;
  for (const CopyDim &dim : dims)
    total *= dim.length;
  return total;
}

void CopyBox::simplify() {
  dims.erase(std::remove_if(dims.begin(), dims.end(),
                            [](const CopyDim &dim) { return dim.length == 1; }),
             dims.end());
  while (!dims.empty() && dims.back().fromStride == run &&
         dims.back().toStride == run) {
    run *= dims.back().length;
    dims.pop_back();
  }
  for (size_t d = dims.size(); d-- > 1;) {
    CopyDim &outer = dims[d - 1];
    const CopyDim &inner = dims[d];
    if (outer.fromStride != inner.fromStride * inner.length ||
        outer.toStride != inner.toStride * inner.length)
      continue;
    outer = {outer.length * inner.length, inner.fromStride, inner.toStride};
    dims.erase(dims.begin() + int64_t(d));
  }
}

Status DeviceCopy::copyRows(CUdeviceptr from, CUdeviceptr to,
                            const CopyDim &rows, int64_t run) const {
  if (rows.fromStride > kMaxPitch || rows.toStride > kMaxPitch) {
    for (int64_t r = 0; r < rows.length; ++r)
      APRT_CUDA(driver, cuMemcpyDtoDAsync_v2,
                to + CUdeviceptr(r * rows.toStride),
                from + CUdeviceptr(r * rows.fromStride), size_t(run), stream);
    return Status::success();
  }
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcPitch = size_t(rows.fromStride);
  copy.dstPitch = size_t(rows.toStride);
  copy.WidthInBytes = size_t(run);
  copy.Height = size_t(rows.length);
  APRT_CUDA(driver, cuMemcpy2DAsync_v2, &copy, stream);
  return Status::success();
}

Status DeviceCopy::copy(const void *fromMemory, void *toMemory,
                        CopyBox box) const {
  auto from = CUdeviceptr(reinterpret_cast<uintptr_t>(fromMemory));
  auto to = CUdeviceptr(reinterpret_cast<uintptr_t>(toMemory));
  if (box.bytes() == 0)
    return Status::success();
  box.simplify();
  if (box.dims.empty()) {
    if (from != to)
      APRT_CUDA(driver, cuMemcpyDtoDAsync_v2, to, from, size_t(box.run),
                stream);
    return Status::success();
  }
  CopyDim rows = box.dims.back();
  box.dims.pop_back();
  std::vector<int64_t> at(box.dims.size());
  for (;;) {
    APRT_TRY(copyRows(from, to, rows, box.run));
    size_t d = box.dims.size();
    for (; d > 0; --d) {
      const CopyDim &dim = box.dims[d - 1];
      from += CUdeviceptr(dim.fromStride), to += CUdeviceptr(dim.toStride);
      if (++at[d - 1] < dim.length)
        break;
      from -= CUdeviceptr(dim.length * dim.fromStride);
      to -= CUdeviceptr(dim.length * dim.toStride);
      at[d - 1] = 0;
    }
    if (d == 0)
      return Status::success();
  }
}

/// `pattern` repeated in runs of `count` elements of `bytes` (1, 2 or 4).
Status DeviceCopy::fillRows(uint32_t pattern, int64_t bytes, CUdeviceptr to,
                            int64_t count, int64_t rows, int64_t pitch) const {
  auto width = size_t(count), height = size_t(rows);
  if (rows > 1 && pitch > kMaxPitch) {
    for (int64_t r = 0; r < rows; ++r)
      APRT_TRY(fillRows(pattern, bytes, to + CUdeviceptr(r * pitch), count, 1,
                        pitch));
    return Status::success();
  }
  if (pitch == count * bytes)
    width *= height, height = 1;
  bool flat = height == 1;
  auto byte = static_cast<unsigned char>(pattern);
  auto half = static_cast<unsigned short>(pattern);
  auto step = size_t(pitch);
  if (flat && bytes == 1)
    APRT_CUDA(driver, cuMemsetD8Async, to, byte, width, stream);
  else if (flat && bytes == 2)
    APRT_CUDA(driver, cuMemsetD16Async, to, half, width, stream);
  else if (flat)
    APRT_CUDA(driver, cuMemsetD32Async, to, pattern, width, stream);
  else if (bytes == 1)
    APRT_CUDA(driver, cuMemsetD2D8Async, to, step, byte, width, height, stream);
  else if (bytes == 2)
    APRT_CUDA(driver, cuMemsetD2D16Async, to, step, half, width, height,
              stream);
  else
    APRT_CUDA(driver, cuMemsetD2D32Async, to, step, pattern, width, height,
              stream);
  return Status::success();
}

Status DeviceCopy::fill(aprt_dtype dtype, double value, void *memory,
                        int64_t count, int64_t rows, int64_t pitch) const {
  auto to = CUdeviceptr(reinterpret_cast<uintptr_t>(memory));
  if (count == 0 || rows == 0)
    return Status::success();
  int64_t bytes = elementBytes(dtype);
  uint32_t words[2] = {};
  fillElements(dtype, 1, value, words);
  if (bytes < 8)
    return fillRows(words[0], bytes, to, count, rows, pitch);
  if (words[0] == words[1])
    return fillRows(words[0], 4, to, 2 * count, rows, pitch);
  // Both halves of each element, as columns of a matrix with a pitch of 8.
  for (int64_t r = 0; r < rows; ++r)
    for (int half = 0; half < 2; ++half)
      APRT_TRY(fillRows(words[half], 4, to + CUdeviceptr(r * pitch + half * 4),
                        1, count, 8));
  return Status::success();
}

} // namespace autopar::runtime
