//===- Device.h - What computes for a rank ----------------------*- C++ -*-===//
//
// One implementation per kind of device: cpu/CpuDevice (host memory, threads,
// oneDNN) and cuda/CudaDevice (device memory, streams, cuBLASLt, cuDNN), which
// the emulated GPU serves too. The calls mean what autopar/runtime.h says; the
// caller adds rank and op to messages.
//
// Work may be asynchronous: it is put on the stream of the current op, and is
// only sure to be done after synchronize().
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CORE_DEVICE_H
#define AUTOPAR_RUNTIME_CORE_DEVICE_H

#include "Memory.h"
#include "Status.h"
#include "autopar/runtime.h"

#include <functional>

namespace autopar::runtime {

class Device {
public:
  virtual ~Device() = default;

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// `bytes` of device memory, aligned to 256 bytes, counted in `counter`.
  /// Unspecified contents. 0 bytes give a valid pointer too.
  virtual Status allocate(int64_t bytes, const char *what,
                          MemoryCounter &counter, void *&memory) = 0;
  /// After all work that may use it is done.
  virtual Status release(void *memory) = 0;

  /// Fills `bytes` of device memory at `to` from pieces of host memory that
  /// `fill(host memory, begin, end)` writes: bytes [begin, end) of the whole,
  /// zeroed before. The pieces may be written by several threads.
  using Fill = std::function<Status(char *, int64_t, int64_t)>;
  virtual Status upload(void *to, int64_t bytes, const Fill &fill) = 0;
  /// Host memory with the contents of device memory, after the work that
  /// writes it is done; valid until the next download.
  virtual Status download(const void *from, int64_t bytes,
                          const void *&host) = 0;

  //===--------------------------------------------------------------------===//
  // Work of the current op
  //===--------------------------------------------------------------------===//

  virtual Status launch(aprt_kernel kernel, void *const *buffers,
                        const int64_t *scalars, int64_t work,
                        int64_t grain) = 0;
  virtual Status launchGrid(int kernel, void *const *buffers,
                            const int64_t *scalars, int64_t blocks) = 0;
  virtual Status gemm(const aprt_gemm_desc &desc, const void *a, const void *b,
                      const void *bias, const void *addend, void *c) = 0;
  virtual Status packGemm(const aprt_gemm_desc &desc, const void *b) = 0;
  virtual Status conv(const aprt_conv_desc &desc, const void *x, const void *w,
                      const void *bias, const void *addend, void *y) = 0;
  virtual Status packConv(const aprt_conv_desc &desc, const void *w) = 0;
  virtual Status recordEvent(int event) = 0;
  virtual Status waitEvent(int event) = 0;

  //===--------------------------------------------------------------------===//
  // Steps
  //===--------------------------------------------------------------------===//

  /// Runs `body`, which puts the work of micro-batch `time` of one step on the
  /// streams: by calling it, or by repeating what it put there before.
  virtual Status runStep(int64_t time, const std::function<Status()> &body) = 0;
  /// Waits for all work; a failure of asynchronous work is reported here, with
  /// the op where that is known.
  virtual Status synchronize() = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_DEVICE_H
