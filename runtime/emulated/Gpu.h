//===- Gpu.h - The whole state of the emulated GPU --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_GPU_H
#define AUTOPAR_RUNTIME_EMULATED_GPU_H

#include "DeviceMemory.h"
#include "Graph.h"
#include "KernelRun.h"
#include "Module.h"
#include "Queues.h"

#include <thread>

namespace autopar::runtime::emulated {

struct FaultState {
  FaultKind kind = FaultKind::none;
  CUresult code = CUDA_SUCCESS;
  std::string text;
  CUresult refusedCode = CUDA_SUCCESS; // of the last refused call
  std::string refusedText;
  std::string captureText; // what made a capture invalid
};

/// One device: a process has one GPU.
struct Gpu {
  explicit Gpu(const Options &options)
      : options(options), choices(options.seed), queues(options.seed),
        kernels(options.seed) {}

  const Options options;
  Random choices; // of the libraries
  FaultState faults;
  std::string label; // of the calls that follow
  DeviceMemory memory;
  Queues queues;
  Graphs graphs;
  Modules modules;
  KernelRunner kernels;

  bool initialised = false; // cuInit
  CUdevice device = 0;      // whose context is held
  int64_t contextUses = 0;
  std::thread::id contextThread; // where it is current; none: nowhere
};

Gpu &gpu();

/// "name of the current label".
std::string labelled(const std::string &name);

/// See setBackground.
void actInBackground();

/// What the program has not given back, a line each.
std::vector<std::string> leaks();

/// CUDA_SUCCESS if calls of the driver are in order: initialised, a context
/// current, no fault kept.
CUresult ready();

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_GPU_H
