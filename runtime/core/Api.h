//===- Api.h - The table of functions that programs call --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_API_H
#define AUTOPAR_RUNTIME_CORE_API_H

#include "autopar/runtime.h"

namespace autopar::runtime {

/// A loaded program's `aprt_program_runtime` points to this table.
extern const aprt_runtime functionTable;

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_API_H
