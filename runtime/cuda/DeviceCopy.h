//===- DeviceCopy.h - Parts of tensors copied on a GPU ----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_DEVICECOPY_H
#define AUTOPAR_RUNTIME_CUDA_DEVICECOPY_H

#include "DriverApi.h"
#include "autopar/runtime.h"

#include <vector>

namespace autopar::runtime {

/// One dimension of a part that two tensors hold; strides in bytes.
struct CopyDim {
  int64_t length = 1;
  int64_t fromStride = 0;
  int64_t toStride = 0;
};

/// A box of elements: runs of `run` contiguous bytes along `dims`, outermost
/// first.
struct CopyBox {
  std::vector<CopyDim> dims;
  int64_t run = 0;

  int64_t bytes() const;
  /// Merges dimensions that are contiguous on both sides; what is left of dims
  /// is nothing if both sides are contiguous.
  void simplify();
  /// `rows` runs of `run` bytes.
  static CopyBox rows(int64_t rows, int64_t run, int64_t fromPitch,
                      int64_t toPitch) {
    return {{{rows, fromPitch, toPitch}}, run};
  }
};

/// Puts copies and fills on one stream.
class DeviceCopy {
public:
  DeviceCopy(const DriverApi &driver, CUstream stream)
      : driver(driver), stream(stream) {}

  Status copy(const void *from, void *to, CopyBox box) const;
  /// Fills `rows` runs of `count` elements, `pitch` bytes apart, with `value`
  /// converted to `dtype`.
  Status fill(aprt_dtype dtype, double value, void *to, int64_t count,
              int64_t rows, int64_t pitch) const;

private:
  Status copyRows(CUdeviceptr from, CUdeviceptr to, const CopyDim &rows,
                  int64_t run) const;
  Status fillRows(uint32_t pattern, int64_t bytes, CUdeviceptr to,
                  int64_t count, int64_t rows, int64_t pitch) const;

  const DriverApi &driver;
  CUstream stream;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_DEVICECOPY_H
