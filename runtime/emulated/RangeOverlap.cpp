//===- RangeOverlap.cpp - Whether two operands share bytes ----------------===//

#include "RangeOverlap.h"

#include <algorithm>

namespace autopar::runtime::emulated {

namespace {
struct Piece {
  CUdeviceptr begin, end;
};
} // namespace

/// The pieces of a range, in order of their addresses.
static std::vector<Piece> piecesOf(const Range &range) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < range.batches; ++i)
    for (size_t j = 0; j < range.rows; ++j) {
      CUdeviceptr at = range.address + i * range.batchPitch + j * range.pitch;
      pieces.push_back({at, at + range.bytes});
    }
  std::sort(pieces.begin(), pieces.end(),
            [](Piece a, Piece b) { return a.begin < b.begin; });
  return pieces;
}

static CUdeviceptr endOf(const Range &range) {
  return range.address + (range.batches - 1) * range.batchPitch +
         (range.rows - 1) * range.pitch + range.bytes;
}

bool rangesOverlap(const Range &a, const Range &b) {
  if (endOf(a) <= b.address || endOf(b) <= a.address)
    return false;
  std::vector<Piece> left = piecesOf(a), right = piecesOf(b);
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    if (left[i].end <= right[j].begin)
      ++i;
    else if (right[j].end <= left[i].begin)
      ++j;
    else
      return true;
  }
  return false;
}

} // namespace autopar::runtime::emulated
