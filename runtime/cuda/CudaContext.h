//===- CudaContext.h - One rank's place on a GPU ----------------*- C++ -*-===//
//
// What all parts of the CUDA device share: driver table, context, streams,
// memory, and waiting. Everything happens in the rank's one host thread.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDACONTEXT_H
#define AUTOPAR_RUNTIME_CUDA_CUDACONTEXT_H

#include "../core/Manifest.h"
#include "../core/Memory.h"
#include "DriverApi.h"

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace autopar::runtime {

inline CUdeviceptr deviceAddress(const void *memory) {
  return CUdeviceptr(reinterpret_cast<uintptr_t>(memory));
}

struct CudaOptions {
  int device = 0;         // of this host, as the driver counts
  bool ownDevice = false; // if only one is to be seen, it is this rank's
  bool spin = true;       // the host has a core for every rank's thread
  bool graphs = true;     // steps are repeated as CUDA graphs
  bool tf32 = false;      // f32 GEMMs may round their operands to tf32
  std::string planCache;  // folder for cuDNN's plans; "": none
};

class CudaContext {
public:
  /// Opens the GPU and makes a stream for each that the manifest's ops name.
  /// All arguments must outlive the context.
  static Status create(const DriverApi &driver, const Manifest &manifest,
                       const CudaOptions &options, RankMemory &memory,
                       std::unique_ptr<CudaContext> &result);
  ~CudaContext();
  CudaContext(const CudaContext &) = delete;
  CudaContext &operator=(const CudaContext &) = delete;

  const DriverApi &driver;
  const Manifest &manifest;
  const CudaOptions options;
  RankMemory &memory;
  const bool tf32;
  MemoryCounter &packedMemory;

  /// "NVIDIA H100 80GB HBM3 (sm_90, driver for CUDA 13.0)".
  const std::string &description() const { return text; }
  int64_t maxGridBlocks() const { return gridBlocks; }

  //===--------------------------------------------------------------------===//
  // Streams
  //===--------------------------------------------------------------------===//

  /// The op whose calls follow; -1: none (stream 0).
  void setOp(int op);
  int currentOp() const { return op; }
  CUstream currentStream() const { return current; }
  CUstream stream(int64_t index) const { return streams[size_t(index)]; }
  int64_t streamCount() const { return int64_t(streams.size()); }
  /// For copies of inputs, beside the streams of ops.
  CUstream copyStream() const { return copies; }

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  Status allocate(int64_t bytes, const char *what, MemoryCounter &counter,
                  void *&result);
  /// Waits for all work first. Null is fine.
  Status release(void *address);
  /// Makes the scratch of library calls on stream 0 at least so large; its
  /// address may change. Not while a step is captured.
  Status reserveWorkspace(int64_t bytes);
  void *workspace() const { return scratch; }
  /// At least `bytes` of zeros, the operands of sums of nothing, which the
  /// libraries do not have. Their address may change when more are asked for;
  /// not while a step is captured.
  Status reserveZeros(int64_t bytes);
  void *zeros() const { return zeroBlock; }
  /// Changes when memory moves that captured steps may name.
  int64_t memoryGeneration() const { return generation; }

  //===--------------------------------------------------------------------===//
  // Waiting: never without looking whether other ranks still live
  //===--------------------------------------------------------------------===//

  /// Called between two looks at the device, with the seconds waited so far (0
  /// in the first call of each wait); a failure ends the wait.
  using WaitPoll = std::function<Status(double waitedSeconds)>;
  void setWaitPoll(WaitPoll wanted) { poll = std::move(wanted); }
  Status waitFor(CUevent event);
  /// All streams, and asynchronous errors.
  Status waitForAll();

  /// Tells on every rank whether `mine` is true on all of them.
  using Agreement = std::function<Status(bool mine, bool &all)>;
  void setAgreement(Agreement wanted) { agreement = std::move(wanted); }
  /// Waits for this rank's work, which others may need to come so far, and for
  /// the other ranks.
  Status agree(bool mine, bool &all);

  /// True if all work is done, and none failed. Does not wait.
  bool isIdle() const;

  bool isCapturing() const { return capturing; }
  void setCapturing(bool is) { capturing = is; }

private:
  CudaContext(const DriverApi &driver, const Manifest &manifest,
              const CudaOptions &options, RankMemory &memory);
  Status openDevice();
  Status describe();
  Status makeStreams();
  Status wait(const char *call, const std::function<CUresult()> &query);
  Status asynchronous(Status status) const;
  Status outOfMemory(int64_t bytes, const char *what) const;

  struct Block {
    int64_t bytes = 0;
    MemoryCounter *counter = nullptr;
  };

  CUdevice device = 0;
  CUcontext context = nullptr;
  int capability = 0;
  int64_t gridBlocks = 0;
  std::string text;
  std::vector<CUstream> streams;
  CUstream copies = nullptr;
  CUstream current = nullptr;
  int op = -1;
  std::unordered_map<void *, Block> blocks; // by address
  void *scratch = nullptr;
  int64_t scratchBytes = 0;
  void *zeroBlock = nullptr;
  int64_t zeroBytes = 0;
  int64_t generation = 0;
  bool capturing = false;
  WaitPoll poll;
  Agreement agreement; // empty: no other ranks
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDACONTEXT_H
