//===- EmulatedDevice.h - The emulated GPU, for its libraries ---*- C++ -*-===//
//
// The emulated GPU serves the driver's entry points (bindEmulated) on the host.
// What the emulated cuBLASLt, cuDNN and NCCL need of it is here: they put work
// on streams, say which bytes it reads and writes, and record faults.
//
// Work is not run when it is enqueued: the heads of the streams run later, in a
// seeded random order among those that CUDA allows. All calls come from one
// host thread.
//
// Device addresses are not host addresses: nothing but memory() may be
// dereferenced, and only while work runs. A host program that touches a device
// address dies as it would with a real GPU.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_EMULATEDDEVICE_H
#define AUTOPAR_RUNTIME_EMULATED_EMULATEDDEVICE_H

#include "../cuda/DriverApi.h"
#include "Fault.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace autopar::runtime::emulated {

/// Fills the table with the emulated driver's functions.
void bindEmulated(DriverApi &api);

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

struct Options {
  uint64_t seed = 0;                // of every random order
  int64_t devices = 64;             // that cuDeviceGetCount tells of
  int64_t memoryBytes = 80ll << 30; // of a device
  bool reportLeaks = false;         // releasing the context fails on a leak
};

/// AUTOPAR_EMULATED_SEED, _DEVICES, _MEMORY (bytes), _LEAKS (0 or 1).
Options optionsFromEnvironment();
/// Forgets everything, as a new process would begin. Without a call the
/// environment's options hold. For tests.
void restart(const Options &options);
/// One of [0, bound), by the seed; bound > 0.
uint64_t chooseBelow(uint64_t bound);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// True for any address in the device's address range, live or not.
bool isDeviceAddress(CUdeviceptr address);
/// Where the bytes of a device address (or of mapped pinned memory) are; only
/// to be used while work runs that declared the range. Null for other
/// addresses.
char *memory(CUdeviceptr address);
template <typename T> T *memoryAs(CUdeviceptr address) {
  return reinterpret_cast<T *>(memory(address));
}
/// For work that moves bytes without looking at them: which are initialised.
bool isInitialised(CUdeviceptr address, size_t bytes);
/// As a copy of `bytes` bytes does. Ranges may be the same, not overlap.
void copyInitialised(CUdeviceptr to, CUdeviceptr from, size_t bytes);

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

enum Access : int {
  accessRead = 1,  // every byte must be initialised
  accessWrite = 2, // initialised afterwards
  accessReadWrite = 3,
  /// With the others: the work looks after what is initialised by itself.
  accessUnchecked = 4,
  accessMove = accessRead | accessUnchecked
};

/// Bytes that work touches: `batches` times `rows` pieces of `bytes`, `pitch`
/// and `batchPitch` bytes apart.
///   whole tensor: {address, bytes, accessRead, "x"}
///   matrix:       {address, columns * 4, accessRead, "A", rows, ld * 4}
struct Range {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  int access = accessRead;
  const char *name = ""; // the argument, for messages; a literal
  size_t rows = 1, pitch = 0;
  size_t batches = 1, batchPitch = 0;
};

enum class Progress {
  done,
  notYet, // asked again later; other streams go on
  fault   // fault() was called
};

/// One asynchronous operation. It may run more than once (in a graph), but
/// never twice at a time.
struct Work {
  std::string name; // "cublasLtMatmul 128x64x32"
  std::vector<Range> ranges;
  /// Either: runs to its end. A fault() in it ends the device.
  std::function<void()> body;
  /// Or: makes some progress; `first` is true on the first call of each run.
  /// Must not block.
  std::function<Progress(bool first)> poll;
  /// Its ranges of pinned host memory are all read or all written: a host that
  /// touches them before the work has run is found out.
  bool copiesHost = false;
  size_t stagedBytes = 0; // of memory that it holds until it has run
};

/// Checks the ranges (device addresses, inside one live allocation), checks for
/// races with work of other streams, and puts the work on the stream, or into
/// the graph that the stream captures. When the work runs: ranges that are read
/// must be initialised; those that are written are initialised afterwards.
/// A failure has been recorded with its text.
CUresult enqueue(CUstream stream, Work work);

/// False: not a live stream (null, the default stream, is one).
bool isStream(CUstream stream);
bool isCapturing(CUstream stream);
/// Whether a graph, executable or not, was not destroyed.
bool holdsGraphs();

/// The name of the program's op whose calls follow, for messages.
void setLabel(const char *op);
const std::string &label();

/// Makes some progress on all streams: for waits in the host's code. False if
/// nothing could be done.
bool progress();
/// A library's thread: it acts whenever the host waits for work or asks.
void setBackground(void (*act)());

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_EMULATEDDEVICE_H
