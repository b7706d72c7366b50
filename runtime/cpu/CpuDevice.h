//===- CpuDevice.h - Host memory, threads and oneDNN ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_CPUDEVICE_H
#define AUTOPAR_RUNTIME_CPU_CPUDEVICE_H

#include "../core/Device.h"
#include "Conv.h"
#include "CpuParts.h"
#include "Gemm.h"

#include <memory>
#include <unordered_map>

namespace autopar::runtime {

struct CpuOptions {
  int threads = 1;
  bool spin = true;    // the host has a core for every thread of every rank
  bool alone = true;   // no other rank shares the cores
  bool oneDnn = false; // the program calls the library
  int64_t packedSlots = 0;
  /// The program has several entries, whose devices keep equal packed weights
  /// once. `parts` (null: this makes them) are those of an earlier one.
  bool sharesWeights = false;
  std::shared_ptr<CpuParts> parts;
};

/// Does all work at once, in the calls that ask for it: one stream, and events
/// that are always done.
class CpuDevice : public Device {
public:
  /// `memory` must outlive the device.
  static Status create(const CpuOptions &options, RankMemory &memory,
                       std::unique_ptr<CpuDevice> &result);

  ThreadPool &threads() { return parts->pool; }
  const std::shared_ptr<CpuParts> &commonParts() const { return parts; }

  bool isAsynchronous() const override { return false; }
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
  void adoptPacked() override { gemms.adoptPacked(); }
  Status recordEvent(int) override { return Status::success(); }
  Status waitEvent(int) override { return Status::success(); }

  Status feed(std::vector<Transfer> inputs) override;
  Status runStep(int64_t time, const std::function<Status()> &body) override;
  Status collect(std::vector<Transfer> outputs) override;
  Status synchronize() override { return Status::success(); }
  DeviceCounters counters() const override { return counted; }

private:
  CpuDevice(const CpuOptions &options, RankMemory &memory);
  Status copyParts(const HostSlice &slice, char *at);

  DeviceCounters counted;
  const std::shared_ptr<CpuParts> parts;
  const OneDnn none;        // of a program that does not call the library
  PackedStore *const store; // null: packed weights are this device's alone
  MemoryCounter &packedMemory;
  Gemm gemms;
  Conv convolutions;
  std::unordered_map<void *, Buffer> buffers; // by address
  std::vector<Transfer> inputs;               // of the next step
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_CPUDEVICE_H
