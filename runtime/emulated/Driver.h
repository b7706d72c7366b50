//===- Driver.h - The emulated driver's entry points ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_DRIVER_H
#define AUTOPAR_RUNTIME_EMULATED_DRIVER_H

#include "Gpu.h"

namespace autopar::runtime::emulated {

/// Every function of the driver's table, under its own name.
#define APEMU_DECLARE(name, parameters) CUresult name parameters;
APRT_DRIVER_FUNCTIONS(APEMU_DECLARE)
#undef APEMU_DECLARE

/// Returns from the enclosing entry point unless the driver is ready.
#define APEMU_READY()                                                          \
  do {                                                                         \
    if (CUresult readyCode = ready())                                          \
      return readyCode;                                                        \
  } while (false)

/// The same, if a capture forbids `call`.
#define APEMU_NOT_CAPTURED(call, stream)                                       \
  do {                                                                         \
    if (CUresult captureCode = gpu().graphs.mayCall(call, stream))             \
      return captureCode;                                                      \
  } while (false)

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_DRIVER_H
