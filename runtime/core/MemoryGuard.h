//===- MemoryGuard.h - Memory that runs out ---------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_MEMORYGUARD_H
#define AUTOPAR_RUNTIME_CORE_MEMORYGUARD_H

#include "Status.h"

#include <new>
#include <stdexcept>
#include <system_error>

namespace autopar::runtime {

/// Returns a failure such as "memory ran out while loading the weights; ...".
inline Status memoryRanOut(const char *doing) {
  return Status::error(std::string("memory ran out while ") + doing +
                       "; free some on this host, or raise the process's limit "
                       "(ulimit -v, the job's memory)");
}

/// Runs `body` and converts exceptions of the C++ library about missing memory
/// or threads to failures. `doing` is read only then.
template <typename Body>
Status guardMemory(const char *const &doing, const Body &body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return memoryRanOut(doing);
  } catch (const std::length_error &) { // more than any memory has
    return memoryRanOut(doing);
  } catch (const std::system_error &error) {
    return Status::error(std::string("the system refused while ") + doing +
                         ": " + error.what());
  }
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_MEMORYGUARD_H
