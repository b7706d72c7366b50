//===- CudaPorts.h - Inputs and outputs of steps on a GPU -------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAPORTS_H
#define AUTOPAR_RUNTIME_CUDA_CUDAPORTS_H

#include "../core/Device.h"
#include "CudaTimer.h"
#include "PinnedBuffer.h"

#include <map>

namespace autopar::runtime {

/// The inputs of a micro-batch go up while the one before computes:
///   host tensor -> pinned -> (copy stream) device staging -> (stream 0) arena
/// with two of everything. Nothing is copied but what changes hands.
class CudaInputs {
public:
  explicit CudaInputs(CudaContext &context);
  ~CudaInputs();

  /// Begins to bring the inputs of the next micro-batch.
  Status feed(const std::vector<Transfer> &inputs);
  /// Puts what was fed last into the arena, in order with stream 0.
  Status arrive();
  /// Of the way to the device.
  CudaTimer timer;

private:
  /// A place in device memory and where its bytes are in the staging.
  struct Piece {
    void *to = nullptr;
    int64_t offset = 0;
    int64_t bytes = 0;
  };
  struct Slot {
    explicit Slot(CudaContext &context)
        : pinned(context), uploaded(context), taken(context) {}
    PinnedBuffer pinned;
    void *staging = nullptr;
    int64_t bytes = 0;  // of staging
    CudaEvent uploaded; // on the copy stream
    CudaEvent taken;    // on stream 0
    std::vector<Piece> pieces;
  };
  Status reserve(Slot &slot, int64_t bytes);

  CudaContext &context;
  Slot slots[2];
  int now = 0;
};

/// The outputs of a micro-batch go down in order with stream 0, or what an op
/// has just made with the op's stream. What is dense
/// in the host's tensor goes straight there, if the driver takes that memory as
/// pinned; of the rest the host takes its parts from pinned memory while later
/// micro-batches compute.
class CudaOutputs {
public:
  explicit CudaOutputs(CudaContext &context);
  ~CudaOutputs();

  /// Begins to bring outputs of the last micro-batch.
  Status collect(std::vector<Transfer> outputs);
  /// Gives the host what is still on its way.
  Status drain();
  int64_t bytesBrought() const { return brought; }
  /// Of the way to the host.
  CudaTimer timer;

private:
  struct Slot {
    explicit Slot(CudaContext &context) : pinned(context), arrived(context) {}
    PinnedBuffer pinned;
    CudaEvent arrived;
    std::vector<Transfer> outputs; // not yet given to the host
  };
  Status drain(Slot &slot);
  bool goesStraight(const HostSlice &slice);
  Status copy(const Transfer &output, char *to);

  CudaContext &context;
  Slot slots[2];
  int now = 0;
  int64_t brought = 0;
  std::map<char *, bool> tensors; // of the host: whether they are registered
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAPORTS_H
