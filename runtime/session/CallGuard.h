//===- CallGuard.h - Failures that leave the library ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_CALLGUARD_H
#define AUTOPAR_RUNTIME_SESSION_CALLGUARD_H

#include "../core/MemoryGuard.h"

#include <cstdint>

namespace autopar::runtime {

/// Returns what a function of C returns for the status, and keeps a failure's
/// message for autopar_error().
int32_t tell(const Status &status);

/// Runs the body of a function of C, which no exception leaves.
template <typename Body> int32_t guard(const char *doing, const Body &body) {
  return tell(guardMemory(doing, body));
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_CALLGUARD_H
