//===- RowOrder.h - In which order an epoch has its rows --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_DATA_ROWORDER_H
#define AUTOPAR_RUNTIME_DATA_ROWORDER_H

#include <cstdint>
#include <optional>

namespace autopar::runtime {

/// A permutation of [0, rows) by a seed and the number of the epoch; without a
/// seed the rows are as they stand. Each element is computed, none is stored: a
/// Feistel network permutes the next power of four, and a number beyond the
/// rows is permuted again until it is one of them (Black and Rogaway, "Ciphers
/// with Arbitrary Finite Domains", CT-RSA 2002, section 4).
class RowOrder {
public:
  RowOrder(int64_t rows, std::optional<uint64_t> seed, int64_t epoch);

  /// The row at a place of the order.
  int64_t at(int64_t place) const;

private:
  static constexpr int rounds = 6;
  uint64_t permute(uint64_t value) const;

  int64_t rows;
  bool isShuffled;
  int halfBits;
  uint64_t keys[rounds];
};

/// A step's rows: so many places of an epoch's order from the first one on.
struct StepRows {
  int64_t epoch = 0;
  int64_t first = 0;
  int64_t count = 0;
};

/// The schedule says which rows each step of a run takes.
struct StepSchedule {
  int64_t rows = 0;  // of an epoch, of which there is a step
  int64_t batch = 1; // rows of a step
  /// An epoch's last rows that fill no step are a step of fewer rows; else they
  /// are left out.
  bool keepsLast = false;
  /// The first step begins here.
  int64_t epoch = 0, first = 0;

  StepRows at(int64_t step) const;
  /// Steps of so many rows.
  int64_t stepsOf(int64_t count) const {
    return (keepsLast ? count + batch - 1 : count) / batch;
  }
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_DATA_ROWORDER_H
