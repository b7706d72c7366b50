//===- KernelSignals.h - Signals while a kernel runs ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_KERNELSIGNALS_H
#define AUTOPAR_RUNTIME_EMULATED_KERNELSIGNALS_H

#include "KernelRun.h"

namespace autopar::runtime::emulated {

/// While it lives, a bad access or division of the kernel that runs is a fault
/// of the device, and not the end of the process. The handlers stay (a launch
/// costs no system call): outside of kernels they do as those before them, but
/// say so if the host touched device memory.
class KernelSignals {
public:
  explicit KernelSignals(KernelRunner &runner);
  ~KernelSignals();
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_KERNELSIGNALS_H
