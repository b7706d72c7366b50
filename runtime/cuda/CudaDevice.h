//===- CudaDevice.h - A GPU, or the emulated one ----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDADEVICE_H
#define AUTOPAR_RUNTIME_CUDA_CUDADEVICE_H

#include "../core/Device.h"
#include "CudaContext.h"
#include "CudaConv.h"
#include "CudaGemm.h"
#include "CudaGraphs.h"
#include "CudaKernels.h"
#include "CudaPorts.h"
#include "CudaTimer.h"
#include "CudaTrace.h"
#include "CudaUpload.h"
#include "CudnnApi.h"

#include <memory>

namespace autopar::runtime {

/// The functions of the libraries, of the real ones or of the emulated ones.
/// Those that the program does not use may be empty.
struct CudaTables {
  DriverApi driver;
  CublasLtApi cublasLt;
  CudnnApi cudnn;
};

/// Puts all work on the streams of one GPU.
class CudaDevice : public Device {
public:
  /// `images` are the program's kernels. All references must outlive the
  /// device.
  static Status create(CudaTables tables, const Manifest &manifest, int stage,
                       const DeviceImages &images, const CudaOptions &options,
                       RankMemory &memory, std::unique_ptr<CudaDevice> &result);

  CudaContext &place() { return *context; }
  /// Why the driver compiles the kernels from PTX; empty: it does not.
  const std::string &imageRefusal() const { return kernels->refusal(); }

  bool isAsynchronous() const override { return true; }
  bool isCapturing() const override { return context->isCapturing(); }
  std::string repeatRefusal() const override { return graphs->reason(); }
  Status beginOp(int op) override;
  Status endOp() override;
  Status startTrace(const TraceSink &sink) override;

  Status allocate(int64_t bytes, const char *what, MemoryCounter &counter,
                  void *&result) override;
  Status release(void *address) override;
  Status upload(void *to, const HostSlice &slice) override;

  Status launch(aprt_kernel kernel, void *const *buffers,
                const int64_t *scalars, int64_t work, int64_t grain) override;
  Status launchGrid(int kernel, void *const *buffers, const int64_t *scalars,
                    int64_t blocks) override;
  Status gemm(const aprt_gemm_desc &desc,
              const GemmOperands &operands) override;
  Status packGemm(const aprt_gemm_desc &desc, const void *b) override;
  Status conv(const aprt_conv_desc &desc,
              const ConvOperands &operands) override;
  Status packConv(const aprt_conv_desc &desc, const void *w) override;
  Status mergePacked(const MergeBytes &merge) override;
  Status recordEvent(int event) override;
  Status waitEvent(int event) override;

  Status feed(std::vector<Transfer> inputs) override;
  Status runStep(int64_t time, const std::function<Status()> &body) override;
  Status collect(std::vector<Transfer> outputs) override;
  void endSteps() override;
  Status synchronize() override;
  DeviceCounters counters() const override;

private:
  explicit CudaDevice(CudaTables tables) : tables(std::move(tables)) {}
  Status makeParts(size_t packedSlots, const DeviceImages &images);

  const CudaTables tables;
  std::unique_ptr<CudaContext> context; // outlives the others
  std::unique_ptr<CudaKernels> kernels;
  std::unique_ptr<CudaGemm> gemms;
  std::unique_ptr<CudaConv> convolutions;
  std::unique_ptr<CudaUpload> uploads;
  std::unique_ptr<CudaInputs> inputs;
  std::unique_ptr<CudaOutputs> outputs;
  std::unique_ptr<CudaGraphs> graphs;
  std::unique_ptr<CudaTrace> trace;
  std::unique_ptr<CudaTimer> steps; // of the work between inputs and outputs
  /// An event of the program, and the run of its last record.
  struct ProgramEvent {
    CudaEvent event;
    int64_t run = -1;
  };
  std::vector<ProgramEvent> events; // by number
  int64_t run = 0;                  // of the step's body; 0: setup
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDADEVICE_H
