//===- RowOrder.h - In which order an epoch has its rows --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_DATA_ROWORDER_H
#define AUTOPAR_RUNTIME_DATA_ROWORDER_H

#include <cstdint>
#include <optional>

namespace autopar::runtime {

/// A permutation of [0, rows), determined by a seed and the number of the
/// epoch. Without a seed the rows keep their order. Each element is computed
/// and none is stored: a Feistel network permutes the next power of four, and a
/// number beyond the rows is permuted again until it is one of them (Black and
/// Rogaway, "Ciphers with Arbitrary Finite Domains", CT-RSA 2002, section 4).
class RowOrder {
public:
  RowOrder(int64_t rows, std::optional<uint64_t> seed, int64_t epoch);

  /// Returns the row at a place of the order.
  int64_t at(int64_t place) const;

private:
  static constexpr int rounds = 6;
  uint64_t permute(uint64_t value) const;

  int64_t rows;
  bool isShuffled;
  int halfBits;
  uint64_t keys[rounds];
};

/// The rows of a step: a number of places of an epoch's order, beginning at a
/// first one.
struct StepRows {
  int64_t epoch = 0;
  int64_t first = 0;
  int64_t count = 0;
};

/// The schedule of the rows that each step of a run takes.
struct StepSchedule {
  int64_t rows = 0;  // of an epoch, of which there is a step
  int64_t batch = 1; // rows of a step
  /// Is true if the last rows of an epoch that do not fill a step form a
  /// smaller step. Otherwise they are left out.
  bool keepsLast = false;
  /// The epoch and the row at which the first step begins.
  int64_t epoch = 0, first = 0;

  StepRows at(int64_t step) const;
  /// Returns the number of steps for that many rows.
  int64_t stepsOf(int64_t count) const {
    return (keepsLast ? count + batch - 1 : count) / batch;
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_DATA_ROWORDER_H
