//===- RaceDetector.h - Races between streams -------------------*- C++ -*-===//
//
// Keeps, for every byte of device and pinned memory, who wrote it last and who
// has read it since. Fed in the order of the host's calls, which is one legal
// order: so what it finds depends on no seed.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_RACEDETECTOR_H
#define AUTOPAR_RUNTIME_EMULATED_RACEDETECTOR_H

#include "../cuda/DriverApi.h"
#include "VectorClock.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace autopar::runtime::emulated {

/// What messages say of an operation.
struct OpName {
  std::string op;     // "kernel_3_softmax of /layer0/Softmax"
  std::string stream; // "stream 1"
};

/// Command number `sequence` of an actor.
struct OpRef {
  uint32_t actor = 0;
  uint64_t sequence = 0;
  std::shared_ptr<const OpName> name;

  bool happensBefore(const VectorClock &clock) const {
    return clock.of(actor) >= sequence;
  }
};

struct Conflict {
  OpRef other;
  bool otherWrites = false;
  CUdeviceptr begin = 0, end = 0; // the bytes that both touch
};

class RaceDetector {
public:
  /// Op `op`, which happens after all that `clock` covers, touches
  /// [begin, end). The first conflict with an op that is not ordered before.
  std::optional<Conflict> access(CUdeviceptr begin, CUdeviceptr end,
                                 bool writes, const OpRef &op,
                                 const VectorClock &clock);
  /// An op on [begin, end) that `clock` does not cover and that an access of
  /// that kind would conflict with, if there is one.
  std::optional<Conflict> pending(CUdeviceptr begin, CUdeviceptr end,
                                  bool writes, const VectorClock &clock) const;
  /// Forgets what happened to [begin, end).
  void forget(CUdeviceptr begin, CUdeviceptr end);

private:
  struct Cell {
    CUdeviceptr end = 0;
    OpRef writer; // sequence 0: none
    std::vector<OpRef> readers;
  };
  using Cells = std::map<CUdeviceptr, Cell>;

  /// The first cell at or after `position`; a cell across it is cut in two.
  Cells::iterator cutAt(CUdeviceptr position);
  static std::optional<Conflict> conflictWith(const Cells::value_type &cell,
                                              bool writes,
                                              const VectorClock &clock);
  void addReader(CUdeviceptr begin, CUdeviceptr end, const OpRef &op,
                 const VectorClock &clock);

  Cells cells;
};

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_RACEDETECTOR_H
