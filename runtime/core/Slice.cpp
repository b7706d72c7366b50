//===- Slice.cpp - Which part of a global tensor a rank holds -------------===//

#include "Slice.h"

#include <algorithm>
#include <cstring>

namespace autopar::runtime {

int64_t DimSlice::blockIndex(const std::vector<int64_t> &coordinates) const {
  int64_t index = 0;
  for (const SplitDigit &digit : split)
    index = index * digit.modulus +
            (coordinates[digit.axis] / digit.divisor) % digit.modulus;
  return index;
}

std::vector<Interval> intervalsOf(const std::vector<DimSlice> &dims,
                                  const std::vector<int64_t> &coordinates) {
  std::vector<Interval> intervals;
  for (const DimSlice &dim : dims)
    intervals.push_back({dim.size,
                         dim.blockIndex(coordinates) * dim.step + dim.offset,
                         dim.length});
  return intervals;
}

bool isInside(const std::vector<Interval> &intervals) {
  return std::all_of(intervals.begin(), intervals.end(), [](const Interval &i) {
    return i.start >= 0 && i.start + i.length <= i.size;
  });
}

int64_t elementsOf(const std::vector<Interval> &intervals) {
  int64_t count = 1;
  for (const Interval &i : intervals)
    count *= i.length;
  return count;
}

bool forEachRun(const std::vector<Interval> &intervals,
                const std::function<bool(const SliceRun &)> &visit) {
  // Trailing whole dimensions and the last partial one make up a run.
  int64_t inner = 1;
  size_t outerRank = intervals.size();
  while (outerRank > 0) {
    const Interval &i = intervals[outerRank - 1];
    if (i.start != 0 || i.length != i.size)
      break;
    inner *= i.size;
    --outerRank;
  }
  if (inner == 0)
    return true;
  if (outerRank == 0)
    return visit({0, 0, inner});

  const Interval &last = intervals[--outerRank];
  int64_t first = std::clamp<int64_t>(last.start, 0, last.size);
  int64_t end = std::clamp<int64_t>(last.start + last.length, first, last.size);
  if (first == end)
    return true;
  std::vector<int64_t> position(outerRank);
  while (true) {
    int64_t global = 0, local = 0;
    bool inside = true;
    for (size_t d = 0; d < outerRank; ++d) {
      const Interval &i = intervals[d];
      if (i.length == 0)
        return true;
      int64_t at = i.start + position[d];
      inside &= at >= 0 && at < i.size;
      global = global * i.size + at;
      local = local * i.length + position[d];
    }
    if (inside && !visit({(global * last.size + first) * inner,
                          (local * last.length + first - last.start) * inner,
                          (end - first) * inner}))
      return false;
    size_t d = outerRank;
    while (d > 0 && ++position[d - 1] == intervals[d - 1].length)
      position[--d] = 0;
    if (d == 0)
      return true;
  }
}

SlicePieces::SlicePieces(std::vector<Interval> intervals)
    : whole(std::move(intervals)) {
  while (dim < whole.size() && whole[dim].length == 1)
    ++dim;
  if (dim == whole.size())
    return;
  count = whole[dim].length;
  for (size_t d = dim + 1; d < whole.size(); ++d)
    stride *= whole[d].length;
}

std::vector<Interval> SlicePieces::intervals(int64_t begin, int64_t end) const {
  std::vector<Interval> piece = whole;
  if (dim == whole.size())
    return piece;
  piece[dim].start += begin;
  piece[dim].length = end - begin;
  return piece;
}

Status forEachPart(const std::vector<Interval> &intervals, int64_t most,
                   const std::function<Status(const std::vector<Interval> &,
                                              int64_t offset)> &visit) {
  int64_t elements = elementsOf(intervals);
  if (elements == 0)
    return Status::success();
  if (elements <= most)
    return visit(intervals, 0);
  // Depth is at most the number of dimensions: each cut leaves one more of them
  // with a single position.
  SlicePieces pieces(intervals);
  int64_t together = std::max<int64_t>(1, most / pieces.stride);
  for (int64_t begin = 0; begin < pieces.count; begin += together) {
    int64_t end = std::min(begin + together, pieces.count);
    APRT_TRY(
        forEachPart(pieces.intervals(begin, end), most,
                    [&](const std::vector<Interval> &part, int64_t offset) {
                      return visit(part, begin * pieces.stride + offset);
                    }));
  }
  return Status::success();
}

void readSlice(const std::vector<Interval> &intervals, int64_t elementBytes,
               const void *global, void *local) {
  char *to = static_cast<char *>(local);
  const char *from = static_cast<const char *>(global);
  if (!isInside(intervals))
    std::memset(to, 0, size_t(elementsOf(intervals) * elementBytes));
  forEachRun(intervals, [&](const SliceRun &run) {
    std::memcpy(to + run.localOffset * elementBytes,
                from + run.globalOffset * elementBytes,
                size_t(run.count * elementBytes));
    return true;
  });
}

void writeSlice(const std::vector<Interval> &intervals, int64_t elementBytes,
                const void *local, void *global) {
  const char *from = static_cast<const char *>(local);
  char *to = static_cast<char *>(global);
  forEachRun(intervals, [&](const SliceRun &run) {
    std::memcpy(to + run.globalOffset * elementBytes,
                from + run.localOffset * elementBytes,
                size_t(run.count * elementBytes));
    return true;
  });
}

} // namespace autopar::runtime
