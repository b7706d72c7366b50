//===- Slice.h - Which part of a global tensor a rank holds -----*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SLICE_H
#define AUTOPAR_RUNTIME_CORE_SLICE_H

#include "Status.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace autopar::runtime {

/// One digit of a block index: (coordinate along axis / divisor) % modulus.
struct SplitDigit {
  int64_t axis = 0;
  int64_t divisor = 1;
  int64_t modulus = 1;
};

/// One dimension of a sliced tensor, the DIM of docs/RuntimeABI.md:
/// size 7, step 4, length 4 over an axis of 2 -> [0, 4) and [4, 8).
struct DimSlice {
  int64_t size = 0;
  int64_t step = 0;
  int64_t offset = 0;
  int64_t length = 0;
  std::vector<SplitDigit> split;

  /// Returns the block index of the rank with these mesh coordinates.
  int64_t blockIndex(const std::vector<int64_t> &coordinates) const;
};

/// The interval [start, start + length) of a dimension of `size` elements. It
/// may reach outside.
struct Interval {
  int64_t size = 0;
  int64_t start = 0;
  int64_t length = 0;
};

/// Returns the intervals of `dims` that the rank with these coordinates holds.
std::vector<Interval> intervalsOf(const std::vector<DimSlice> &dims,
                                  const std::vector<int64_t> &coordinates);

/// Returns whether every position of the intervals is inside its dimension.
bool isInside(const std::vector<Interval> &intervals);

/// Returns the number of positions in the intervals, whether they are inside
/// the tensor or not.
int64_t elementsOf(const std::vector<Interval> &intervals);

/// A run that is contiguous in the global and in the local tensor, in elements.
struct SliceRun {
  int64_t globalOffset = 0;
  int64_t localOffset = 0;
  int64_t count = 0;
};

/// Calls `visit` for every maximal run of the part inside the global tensor, in
/// ascending order of both offsets, until it returns false.
/// Returns false if a visit did.
bool forEachRun(const std::vector<Interval> &intervals,
                const std::function<bool(const SliceRun &)> &visit);

/// A tensor part that is cut along its outermost dimension with more than one
/// position, so that several threads can copy.
struct SlicePieces {
  explicit SlicePieces(std::vector<Interval> whole);
  /// Returns the intervals of positions [begin, end) of that dimension.
  std::vector<Interval> intervals(int64_t begin, int64_t end) const;

  std::vector<Interval> whole;
  size_t dim = 0;
  int64_t count = 1;  // positions of that dimension
  int64_t stride = 1; // elements of one position in the local tensor
};

/// Calls `visit` with consecutive pieces of at most `most` elements that form
/// the tensor part, and with the offset of each in elements. Empty pieces are
/// omitted. The first failure ends the calls.
Status forEachPart(const std::vector<Interval> &intervals, int64_t most,
                   const std::function<Status(const std::vector<Interval> &,
                                              int64_t offset)> &visit);

/// Copies the slice of a dense global tensor into a dense local one; positions
/// outside the global tensor become zero.
void readSlice(const std::vector<Interval> &intervals, int64_t elementBytes,
               const void *global, void *local);

/// Copies a dense local tensor into its place of a global one; positions
/// outside are skipped.
void writeSlice(const std::vector<Interval> &intervals, int64_t elementBytes,
                const void *local, void *global);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SLICE_H
