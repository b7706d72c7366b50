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

#include "ConvShape.h"
#include "GemmShape.h"
#include "Memory.h"
#include "RankRecord.h"
#include "Slice.h"
#include "Status.h"
#include "autopar/runtime.h"

#include <functional>

namespace autopar::runtime {

/// A tensor's part on its way between host and device.
struct HostSlice {
  std::vector<Interval> intervals;
  int64_t elementBytes = 1;
  bool parallel = false; // parts may be copied by several threads at once
  /// Returns the bytes of the dense local part.
  int64_t bytes() const { return elementsOf(intervals) * elementBytes; }
  /// Copies the part of these intervals, which is dense at `host`. On the way
  /// to the device every byte is written: zeros outside the global tensor.
  std::function<Status(const std::vector<Interval> &, char *host)> copy;
  /// The place of an output's part in the host's tensor if it is dense there,
  /// or else null.
  char *dense = nullptr;
  /// The memory of that tensor, which stays while there are steps.
  char *tensor = nullptr;
  int64_t tensorBytes = 0;
};

/// A host's tensor and its place in device memory.
struct Transfer {
  void *device = nullptr;
  HostSlice slice;
};

/// The counters of a device since its start.
struct DeviceCounters {
  int64_t outputBytes = 0;    // brought to the host by collect()
  double gpuSeconds = 0;      // of a GPU: of steps, without inputs and outputs
  double transferSeconds = 0; // of a GPU: of inputs and outputs on their way
};

/// Takes an interval of an op's work.
using TraceSink = std::function<void(const TraceEvent &)>;

class Device {
public:
  virtual ~Device() = default;

  /// Returns whether calls only begin work, which is complete after
  /// synchronize(). Then each op's calls, including the transport's, are
  /// between beginOp and endOp.
  virtual bool isAsynchronous() const = 0;
  virtual Status beginOp(int) { return Status::success(); }
  virtual Status endOp() { return Status::success(); }
  /// Returns whether calls are being recorded for later repetition. If a call
  /// fails, the step runs without repetition.
  virtual bool isCapturing() const { return false; }
  /// Explains why steps are not repeated in one call although they could be. It
  /// is empty if they are repeated, or if the device has no such repetition.
  virtual std::string repeatRefusal() const { return {}; }
  /// Makes an asynchronous device pass the times of all further ops to `sink`,
  /// in synchronize().
  virtual Status startTrace(const TraceSink &) { return Status::success(); }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// Allocates `bytes` of device memory, aligned to 256 bytes and counted in
  /// `counter`. Its contents are unspecified. 0 bytes give a valid pointer too.
  virtual Status allocate(int64_t bytes, const char *what,
                          MemoryCounter &counter, void *&memory) = 0;
  /// Frees memory. All work that may use it must be done. Null is allowed.
  virtual Status release(void *memory) = 0;

  /// Fills device memory. `slice` is not used after the call.
  virtual Status upload(void *to, const HostSlice &slice) = 0;

  //===--------------------------------------------------------------------===//
  // Work of the current op
  //===--------------------------------------------------------------------===//

  virtual Status launch(aprt_kernel kernel, void *const *buffers,
                        const int64_t *scalars, int64_t work,
                        int64_t grain) = 0;
  virtual Status launchGrid(int kernel, void *const *buffers,
                            const int64_t *scalars, int64_t blocks) = 0;
  virtual Status gemm(const aprt_gemm_desc &desc,
                      const GemmOperands &operands) = 0;
  virtual Status packGemm(const aprt_gemm_desc &desc, const void *b) = 0;
  virtual Status conv(const aprt_conv_desc &desc,
                      const ConvOperands &operands) = 0;
  virtual Status packConv(const aprt_conv_desc &desc, const void *w) = 0;
  /// Passes each packed weight to `merge` after setup, which may replace it by
  /// an equal one of another device of the rank. A device that already stores
  /// equal packed weights once passes none.
  using MergeBytes = std::function<Status(int64_t bytes, void *&data)>;
  virtual Status mergePacked(const MergeBytes &) { return Status::success(); }
  /// Adopts weights that another entry of the rank has packed if results stay
  /// the same. It is called when all entries have loaded.
  virtual void adoptPacked() {}
  virtual Status recordEvent(int event) = 0;
  virtual Status waitEvent(int event) = 0;

  //===--------------------------------------------------------------------===//
  // Steps: feed, runStep, collect for every micro-batch; then synchronize
  //===--------------------------------------------------------------------===//

  /// Takes the inputs of the next runStep. Memory of the host may be read now
  /// or during runStep; the inputs are in place when the work of its body
  /// begins.
  virtual Status feed(std::vector<Transfer> inputs) = 0;
  /// Enqueues the work of micro-batch `time` of one step on the streams, by
  /// calling `body` or by repeating what `body` enqueued before.
  virtual Status runStep(int64_t time, const std::function<Status()> &body) = 0;
  /// Copies outputs of the last runStep to the host, or, when called within its
  /// body, outputs of the last op. The latter are complete after synchronize().
  virtual Status collect(std::vector<Transfer> outputs) = 0;
  /// Forgets the recorded steps after the last step or a failure, because the
  /// transport's communicators cannot end before. It does not wait for work.
  virtual void endSteps() {}
  /// Waits for all work. Reports a failure of asynchronous work, with the op if
  /// it is known.
  virtual Status synchronize() = 0;
  /// Returns the counters up to the last synchronize().
  virtual DeviceCounters counters() const = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_DEVICE_H
