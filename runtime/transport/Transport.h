//===- Transport.h - How ranks exchange data --------------------*- C++ -*-===//
//
// One implementation per way of connecting ranks. The calls mean what
// autopar/runtime.def says; a failure's message gives the cause and the ranks
// that are missing, the caller adds rank and op.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_TRANSPORT_H
#define AUTOPAR_RUNTIME_TRANSPORT_TRANSPORT_H

#include "../core/DataType.h"
#include "../core/Status.h"

namespace autopar::runtime {

/// What a rank exchanged so far.
struct TransportStatistics {
  int64_t bytesSent = 0;
  double waitSeconds = 0; // waiting for other ranks
};

/// A dimension of `size` elements in blocks of `block`, inside [outer, .,
/// inner].
struct BlockedDim {
  int64_t outer = 1;
  int64_t size = 0;
  int64_t block = 0;
  int64_t inner = 1;
};

/// The interval a member holds after a halo exchange: see aprt_halo.
struct HaloWindow {
  int64_t step = 0;
  int64_t offset = 0;
  int64_t length = 0;
  double fill = 0;
};

/// A tensor that changes which of its dimensions is split: see aprt_all_to_all.
struct SplitChange {
  int32_t rank = 0;
  const int64_t *inShape = nullptr;
  const int64_t *outShape = nullptr;
  int32_t splitDim = 0;
  int32_t concatDim = 0;

  bool valid() const {
    return rank >= 1 && rank <= 8 && splitDim >= 0 && concatDim >= 0 &&
           splitDim < rank && concatDim < rank && splitDim != concatDim;
  }
};

/// X(name, parameters): the collectives and messages that every transport has.
#define APRT_TRANSPORT_CALLS(X)                                                \
  X(allReduce, (int comm, aprt_reduce kind, aprt_dtype dtype, int64_t count,   \
                const void *in, void *out))                                    \
  X(broadcast, (int comm, int root, aprt_dtype dtype, int64_t count,           \
                const void *in, void *out))                                    \
  X(allGather, (int comm, aprt_dtype dtype, const BlockedDim &dim,             \
                const void *in, void *out))                                    \
  X(reduceScatter, (int comm, aprt_reduce kind, aprt_dtype dtype,              \
                    const BlockedDim &dim, const void *in, void *out))         \
  X(allToAll, (int comm, aprt_dtype dtype, const SplitChange &change,          \
               const void *in, void *out))                                     \
  X(halo, (int comm, aprt_dtype dtype, const BlockedDim &dim,                  \
           const HaloWindow &window, const void *in, void *out))               \
  X(send, (int channel, const void *data, int64_t bytes))                      \
  X(receive, (int channel, void *data, int64_t bytes))

/// Fails where `root` is no member of a group of so many.
inline Status checkRoot(int root, int64_t members) {
  if (root >= 0 && root < members)
    return Status::success();
  return Status::error("root " + std::to_string(root) +
                       " is no member of a group of " +
                       std::to_string(members));
}

class Transport {
public:
  virtual ~Transport() = default;

  /// This rank's place in its group of `comm`, or -1 if it is in none.
  virtual int64_t memberIndex(int comm) const = 0;

#define APRT_DECLARE(name, parameters) virtual Status name parameters = 0;
  APRT_TRANSPORT_CALLS(APRT_DECLARE)
#undef APRT_DECLARE

  /// Waits for every rank of the program. Without a deadline only the death of
  /// a rank ends the wait.
  virtual Status barrier(bool withDeadline) = 0;

  /// Before the work of a micro-batch is put on the device's streams, outside
  /// of what is captured.
  virtual Status beginStep() { return Status::success(); }
  /// Device memory that collectives will read and write until the end.
  virtual Status useMemory(void *memory, int64_t bytes) {
    (void)memory, (void)bytes;
    return Status::success();
  }
  /// After the last step, when all ranks have come so far.
  virtual Status close() { return Status::success(); }

  /// Whether waits of collectives and messages end at the deadline: not while
  /// ranks still load, for very different times.
  void setDeadlines(bool wanted) { deadlines = wanted; }

  const TransportStatistics &statistics() const { return counters; }

protected:
  TransportStatistics counters;
  bool deadlines = true;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_TRANSPORT_H
