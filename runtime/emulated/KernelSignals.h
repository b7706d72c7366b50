//===- KernelSignals.h - Signals while a kernel runs ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_KERNELSIGNALS_H
#define AUTOPAR_RUNTIME_EMULATED_KERNELSIGNALS_H

#include "KernelRun.h"

#include <csignal>

namespace autopar::runtime::emulated {

/// While it lives, a bad access or division of the kernel is a fault of the
/// device and not the end of the process.
class KernelSignals {
public:
  explicit KernelSignals(KernelRunner &runner);
  ~KernelSignals();

private:
  static constexpr int signals[3] = {SIGSEGV, SIGBUS, SIGFPE};
  struct sigaction before[3];
  stack_t stackBefore;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_KERNELSIGNALS_H
