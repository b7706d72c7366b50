//===- CommunicationWatch.h - How far communication is ----------*- C++ -*-===//
//
// Communication on a GPU ends when it ends: the host must not wait for ever if
// another rank never comes. Before and after each operation its number is
// written, on its stream, to a word that the host reads while it waits. A
// captured step repeats the writes: numbers count from 1 within a micro-batch,
// and micro-batches are counted by a word of their own.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_COMMUNICATIONWATCH_H
#define AUTOPAR_RUNTIME_CUDA_COMMUNICATIONWATCH_H

#include "../transport/RankFabric.h"
#include "CudaEvent.h"
#include "PinnedBuffer.h"

namespace autopar::runtime {

class CommunicationWatch {
public:
  explicit CommunicationWatch(CudaContext &context)
      : context(context), words(context), begun(context) {}
  Status create();

  /// What an operation is: the program's op, and the ranks that take part.
  struct Operation {
    int op = -1;
    std::vector<int> ranks;
    bool message = false; // numbers of the two ranks are not the same
  };

  /// Counts a micro-batch whose work follows on stream 0.
  Status beginStep();
  /// Around the work of an operation on the current stream.
  Status begin(Operation operation);
  Status end();

  /// What the words say now.
  RankProgress progress() const;
  /// The operation that runs or waits, or null; `stream` is its place.
  const Operation *current(const RankProgress &progress, int &stream) const;
  /// The operation that the host began last, or null, and its stream and
  /// number, as if the stream had come so far.
  const Operation *newest(RankProgress &progress, int &stream) const;

  /// True if the current operation has been the same for `seconds`, looked at
  /// from the begin of a wait on.
  void restart() { since = -1; }
  bool isStuck(const RankProgress &progress, double seconds);

private:
  CUdeviceptr word(int index) const {
    return base + CUdeviceptr(index) * sizeof(uint32_t);
  }
  Status write(int index, uint32_t value, CUstream stream, int words = 1);
  Status currentSlot(int &slot) const;

  CudaContext &context;
  PinnedBuffer words; // step, then begun and done of each stream
  CUdeviceptr base = 0;
  CudaEvent begun; // a micro-batch, on stream 0
  uint32_t steps = 0;
  uint32_t count = 0;
  int newestSlot = 0;
  std::vector<Operation> operations; // by number - 1, of the last body
  double since = -1;
  RankProgress seen;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_COMMUNICATIONWATCH_H
