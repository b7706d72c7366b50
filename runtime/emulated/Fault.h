//===- Fault.h - What the emulated GPU finds wrong --------------*- C++ -*-===//
//
// A fault is recorded with its kind and a text that names kernel or op and what
// it did. The first one is kept: as with a real GPU every later call fails with
// its code, and cuGetErrorString gives the text.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_FAULT_H
#define AUTOPAR_RUNTIME_EMULATED_FAULT_H

#include "../cuda/DriverApi.h"

#include <string>

namespace autopar::runtime::emulated {

/// X(kind, its words, CUDA's code): every kind of fault.
#define APEMU_FAULTS(X)                                                        \
  X(outOfBounds, "out of bounds", CUDA_ERROR_ILLEGAL_ADDRESS)                  \
  X(useAfterFree, "use after free", CUDA_ERROR_ILLEGAL_ADDRESS)                \
  X(freedInUse, "freed while in use", CUDA_ERROR_ILLEGAL_ADDRESS)              \
  X(doubleFree, "double free", CUDA_ERROR_INVALID_VALUE)                       \
  X(hostPointer, "host pointer for device memory", CUDA_ERROR_ILLEGAL_ADDRESS) \
  X(devicePointer, "device pointer for host memory",                           \
    CUDA_ERROR_ILLEGAL_ADDRESS)                                                \
  X(uninitialisedRead, "uninitialised read", CUDA_ERROR_LAUNCH_FAILED)         \
  X(writeOfReadOnly, "access that the parameter does not allow",               \
    CUDA_ERROR_LAUNCH_FAILED)                                                  \
  X(streamRace, "race between streams", CUDA_ERROR_LAUNCH_FAILED)              \
  X(hostRace, "host memory touched during a copy", CUDA_ERROR_LAUNCH_FAILED)   \
  X(overlap, "overlapping copy", CUDA_ERROR_INVALID_VALUE)                     \
  X(unrecordedEvent, "wait for an event that was never recorded",              \
    CUDA_ERROR_LAUNCH_FAILED)                                                  \
  X(threadRace, "race between threads", CUDA_ERROR_LAUNCH_FAILED)              \
  X(blockRace, "race between blocks", CUDA_ERROR_LAUNCH_FAILED)                \
  X(divergentBarrier, "divergent barrier", CUDA_ERROR_LAUNCH_FAILED)           \
  X(warpMask, "wrong mask of a warp operation", CUDA_ERROR_LAUNCH_FAILED)      \
  X(inactiveLane, "shuffle from an inactive lane", CUDA_ERROR_LAUNCH_FAILED)   \
  X(misaligned, "misaligned address", CUDA_ERROR_MISALIGNED_ADDRESS)           \
  X(stackOverflow, "stack overflow", CUDA_ERROR_LAUNCH_FAILED)                 \
  X(division, "integer division by zero", CUDA_ERROR_LAUNCH_FAILED)            \
  X(launchLimit, "launch out of limits", CUDA_ERROR_INVALID_VALUE)             \
  X(leak, "leak", CUDA_ERROR_UNKNOWN)                                          \
  X(library, "library misuse", CUDA_ERROR_LAUNCH_FAILED)                       \
  X(collective, "collective mismatch", CUDA_ERROR_LAUNCH_FAILED)

enum class FaultKind {
#define APEMU_KIND(kind, words, code) kind,
  APEMU_FAULTS(APEMU_KIND)
#undef APEMU_KIND
      none
};

/// "race between streams", ...
const char *faultWords(FaultKind kind);

/// Records a fault (the first one is kept) and gives the code that every call
/// returns from now on. The text says which op did what: the kind's words are
/// put before it.
CUresult fault(FaultKind kind, const std::string &text);

/// Refuses one call: its code, with a text that cuGetErrorString gives until
/// the next refusal. Nothing else fails because of it.
CUresult refuse(CUresult code, const std::string &text);

/// The kept fault, or none; its text.
FaultKind faultKind();
const std::string &faultText();
/// CUDA_SUCCESS, or the kept fault's code.
CUresult faultCode();

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_FAULT_H
