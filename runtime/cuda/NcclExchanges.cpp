//===- NcclExchanges.cpp - All-to-all and halo of GPUs --------------------===//

#include "../transport/BlockedDims.h"
#include "NcclTransportCalls.h"

#include <algorithm>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// All-to-all
//===----------------------------------------------------------------------===//

namespace {
/// A tensor of which one dimension is cut into blocks, and of which a member
/// sees [0, most) of another one.
struct CutTensor {
  const int64_t *shape;
  int rank;
  int64_t element;

  /// Strides in bytes.
  std::vector<int64_t> strides() const {
    std::vector<int64_t> result(static_cast<size_t>(rank), element);
    for (int d = rank - 1; d > 0; --d)
      result[size_t(d - 1)] = result[size_t(d)] * shape[d];
    return result;
  }
};
} // namespace

/// The box of `lengths` elements, on either side inside a tensor of the given
/// strides.
static CopyBox boxOf(const std::vector<int64_t> &lengths, int64_t element,
                     const std::vector<int64_t> &from,
                     const std::vector<int64_t> &to) {
  CopyBox box;
  box.run = element;
  for (size_t d = 0; d < lengths.size(); ++d)
    box.dims.push_back({lengths[d], from[d], to[d]});
  return box;
}

/// Zeros where this member's block of the split dimension ends early.
static Status clearPadding(const DeviceCopy &copies, aprt_dtype dtype,
                           const SplitChange &change,
                           const std::vector<int64_t> &strides, int64_t me,
                           void *out) {
  auto split = size_t(change.splitDim);
  int64_t block = change.outShape[split];
  int64_t valid = validBlock({1, change.inShape[split], block, 1}, me);
  int64_t outer = 1;
  for (size_t d = 0; d < split; ++d)
    outer *= change.outShape[d];
  return copies.fill(dtype, 0,
                     static_cast<char *>(out) + valid * strides[split],
                     (block - valid) * strides[split] / elementBytes(dtype),
                     outer, block * strides[split]);
}

Status NcclTransport::allToAll(int comm, aprt_dtype dtype,
                               const SplitChange &change, const void *in,
                               void *out) {
  const NcclGroup *group = nullptr;
  APRT_TRY(find(comm, group));
  if (!change.valid())
    return Status::error("bad dimensions of an all-to-all");
  int64_t element = elementBytes(dtype), sent = 0;
  auto split = size_t(change.splitDim), concat = size_t(change.concatDim);
  BlockedDim splitDim{1, change.inShape[split], change.outShape[split], 1};
  BlockedDim concatDim{1, change.outShape[concat], change.inShape[concat], 1};
  auto inside = CutTensor{change.inShape, change.rank, element}.strides();
  auto outside = CutTensor{change.outShape, change.rank, element}.strides();
  // What member `from` gives to member `to`.
  auto lengths = [&](int64_t from, int64_t to) {
    std::vector<int64_t> result(change.inShape, change.inShape + change.rank);
    result[split] = validBlock(splitDim, to);
    result[concat] = validBlock(concatDim, from);
    return result;
  };
  auto dense = [&](const std::vector<int64_t> &shape) {
    return CutTensor{shape.data(), change.rank, element}.strides();
  };
  std::vector<Part> sends, receives;
  int64_t me = group->index;
  for (int64_t j = 0; j < group->members(); ++j) {
    std::vector<int64_t> given = lengths(me, j), taken = lengths(j, me);
    auto *from =
        static_cast<const char *>(in) + j * splitDim.block * inside[split];
    auto *to = static_cast<char *>(out) + j * concatDim.block * outside[concat];
    sends.push_back({from, boxOf(given, element, inside, dense(given))});
    receives.push_back({to, boxOf(taken, element, dense(taken), outside)});
    if (j == me)
      APRT_TRY(copies().copy(from, to, boxOf(given, element, inside, outside)));
    else
      sent += sends.back().box.bytes();
  }
  APRT_TRY(clearPadding(copies(), dtype, change, outside, me, out));
  if (group->members() == 1)
    return Status::success();
  return communicate(*group, /*message=*/false, sent, [&] {
    return exchange(*group, std::move(sends), std::move(receives));
  });
}

//===----------------------------------------------------------------------===//
// Halo
//===----------------------------------------------------------------------===//

/// Fills the positions of `out` that are outside the dimension.
static Status fillOutside(const DeviceCopy &copies, aprt_dtype dtype,
                          const BlockedDim &dim, const HaloWindow &window,
                          int64_t me, char *out) {
  int64_t start = me * window.step + window.offset;
  int64_t low = std::clamp<int64_t>(-start, 0, window.length);
  int64_t high = std::clamp<int64_t>(dim.size - start, low, window.length);
  int64_t inner = dim.inner * elementBytes(dtype);
  int64_t pitch = window.length * inner;
  APRT_TRY(
      copies.fill(dtype, window.fill, out, low * dim.inner, dim.outer, pitch));
  return copies.fill(dtype, window.fill, out + high * inner,
                     (window.length - high) * dim.inner, dim.outer, pitch);
}

/// The most elements of `inner` that a member gives to or takes from others in
/// a row: the same on every member.
static int64_t mostInRow(const BlockedDim &dim, const HaloWindow &window,
                         int64_t members) {
  int64_t step = std::abs(window.step);
  int64_t windows =
      step == 0 ? members : (window.length + dim.block) / step + 1;
  return std::max(window.length, std::min(windows, members) * dim.block);
}

Status NcclTransport::haloRows(const NcclGroup &group, aprt_dtype dtype,
                               const BlockedDim &dim, const HaloWindow &window,
                               const char *in, char *out, int64_t begin,
                               int64_t rows) {
  int64_t inner = dim.inner * elementBytes(dtype), me = group.index;
  int64_t blockBytes = dim.block * inner, rowBytes = window.length * inner;
  std::vector<Part> sends, receives;
  for (int64_t j = 0; j < group.members(); ++j) {
    HaloOverlap given(dim, window, me, j), taken(dim, window, j, me);
    int64_t sent = given.length * inner, got = taken.length * inner;
    const char *from =
        in + begin * blockBytes + (given.begin - me * dim.block) * inner;
    char *to = out + begin * rowBytes +
               (taken.begin - me * window.step - window.offset) * inner;
    sends.push_back({from, CopyBox::rows(rows, sent, blockBytes, sent)});
    receives.push_back({to, CopyBox::rows(rows, got, got, rowBytes)});
    if (j == me)
      APRT_TRY(copies().copy(from, to,
                             CopyBox::rows(rows, sent, blockBytes, rowBytes)));
  }
  if (group.members() == 1)
    return Status::success();
  return exchange(group, std::move(sends), std::move(receives));
}

Status NcclTransport::halo(int comm, aprt_dtype dtype, const BlockedDim &dim,
                           const HaloWindow &window, const void *in,
                           void *out) {
  const NcclGroup *group = nullptr;
  APRT_TRY(find(comm, group));
  auto *from = static_cast<const char *>(in);
  auto *to = static_cast<char *>(out);
  int64_t me = group->index, members = group->members(), sent = 0;
  int64_t inner = dim.inner * elementBytes(dtype);
  for (int64_t j = 0; j < members; ++j)
    if (j != me)
      sent += HaloOverlap(dim, window, me, j).length * dim.outer * inner;
  APRT_TRY(fillOutside(copies(), dtype, dim, window, me, to));
  int64_t step =
      members == 1
          ? std::max<int64_t>(dim.outer, 1)
          : rowsPerRound(dim.outer, mostInRow(dim, window, members) * inner);
  return communicate(*group, /*message=*/false, sent, [&]() -> Status {
    for (int64_t begin = 0; begin < dim.outer; begin += step)
      APRT_TRY(haloRows(*group, dtype, dim, window, from, to, begin,
                        std::min(step, dim.outer - begin)));
    return Status::success();
  });
}

} // namespace autopar::runtime
