//===- SharedMemoryCollectives.cpp - Collectives through staging ----------===//
//
// Every collective runs in rounds: a member packs what others need into its
// staging buffer, meets the others, and reads theirs. The two buffers
// alternate, so that a round needs one meeting (see SharedGroup).
//
//===----------------------------------------------------------------------===//

#include "BlockedDims.h"
#include "Reduce.h"
#include "SharedMemoryTransport.h"

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// All-reduce
//===----------------------------------------------------------------------===//

/// Two members, or little data: everyone reduces everything.
Status SharedMemoryTransport::reduceDirect(Member &member, aprt_reduce kind,
                                           aprt_dtype dtype, const char *in,
                                           char *out, int64_t bytes) {
  SharedGroup &group = *member.group;
  for (int64_t begin = 0; begin < bytes; begin += group.stagingBytes()) {
    int64_t length = std::min(group.stagingBytes(), bytes - begin);
    uint32_t round = ++member.round;
    copy(group.staging(member.index, round), in + begin, length);
    counters.bytesSent += length * (group.members() - 1);
    APRT_TRY(meet(member));
    for (int m = 0; m < group.members(); ++m)
      member.inputs[m] = m == member.index
                             ? static_cast<const void *>(in + begin)
                             : group.staging(m, round);
    reduce(kind, dtype, length, member.inputs, out + begin);
  }
  return Status::success();
}

/// Each member reduces one slice in place of its own staging, then everyone
/// collects the slices: two meetings a round.
Status SharedMemoryTransport::reduceInSlices(Member &member, aprt_reduce kind,
                                             aprt_dtype dtype, const char *in,
                                             char *out, int64_t bytes) {
  SharedGroup &group = *member.group;
  int members = group.members();
  int64_t me = member.index;
  for (int64_t begin = 0; begin < bytes; begin += group.stagingBytes()) {
    int64_t length = std::min(group.stagingBytes(), bytes - begin);
    int64_t slice = (length + members - 1) / members;
    slice = (slice + 63) / 64 * 64;
    auto sliceBytes = [&](int64_t j) {
      return std::clamp<int64_t>(length - j * slice, 0, slice);
    };
    uint32_t round = ++member.round;
    char *own = group.staging(member.index, round);
    copy(own, in + begin, length);
    APRT_TRY(meet(member));
    for (int m = 0; m < members; ++m)
      member.inputs[m] = group.staging(m, round) + me * slice;
    reduce(kind, dtype, sliceBytes(me), member.inputs, own + me * slice);
    counters.bytesSent +=
        length - sliceBytes(me) + sliceBytes(me) * (members - 1);
    APRT_TRY(meet(member));
    for (int64_t m = 0; m < members; ++m)
      copy(out + begin + m * slice, group.staging(int(m), round) + m * slice,
           sliceBytes(m));
  }
  return Status::success();
}

Status SharedMemoryTransport::allReduce(int comm, aprt_reduce kind,
                                        aprt_dtype dtype, int64_t count,
                                        const void *in, void *out) {
  constexpr int64_t directBytes = 16 << 10;
  Member *member;
  APRT_TRY(find(comm, member));
  int64_t bytes = count * elementBytes(dtype);
  const char *from = static_cast<const char *>(in);
  char *to = static_cast<char *>(out);
  int members = member->group->members();
  if (members == 1) {
    copy(out, in, bytes);
    return Status::success();
  }
  if (members == 2 || bytes <= directBytes)
    return reduceDirect(*member, kind, dtype, from, to, bytes);
  return reduceInSlices(*member, kind, dtype, from, to, bytes);
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

Status SharedMemoryTransport::broadcast(int comm, int root, aprt_dtype dtype,
                                        int64_t count, const void *in,
                                        void *out) {
  Member *member;
  APRT_TRY(find(comm, member));
  SharedGroup &group = *member->group;
  APRT_TRY(checkRoot(root, group.members()));
  bool gives = member->index == root;
  int64_t bytes = count * elementBytes(dtype);
  if (gives)
    copy(out, in, bytes);
  int64_t shared = group.members() == 1 ? 0 : bytes;
  for (int64_t begin = 0; begin < shared; begin += group.stagingBytes()) {
    int64_t length = std::min(group.stagingBytes(), bytes - begin);
    char *staging = group.staging(root, ++member->round);
    if (gives) {
      copy(staging, static_cast<const char *>(in) + begin, length);
      counters.bytesSent += length * (group.members() - 1);
    }
    APRT_TRY(meet(*member));
    if (!gives)
      copy(static_cast<char *>(out) + begin, staging, length);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// All-gather and reduce-scatter
//===----------------------------------------------------------------------===//

Status SharedMemoryTransport::allGather(int comm, aprt_dtype dtype,
                                        const BlockedDim &dim, const void *in,
                                        void *out) {
  Member *member;
  APRT_TRY(find(comm, member));
  SharedGroup &group = *member->group;
  int64_t inner = dim.inner * elementBytes(dtype);
  auto boxOf = [&](int64_t j) { // of member j's block inside the result
    return Box::rows(dim.outer, dim.size, j * dim.block, validBlock(dim, j),
                     inner);
  };
  Box own =
      Box::rows(dim.outer, dim.block, 0, validBlock(dim, member->index), inner);
  member->sends[member->index] = own;
  member->receives[member->index] = boxOf(member->index);
  int64_t mostBytes = boxOf(0).bytes();
  if (group.members() == 1)
    mostBytes = 0;
  for (int64_t begin = 0; begin < mostBytes; begin += group.stagingBytes()) {
    auto end = [&](const Box &box) {
      return std::min(begin + group.stagingBytes(), box.bytes());
    };
    uint32_t round = ++member->round;
    own.pack(in, begin, end(own), group.staging(member->index, round));
    counters.bytesSent +=
        std::max<int64_t>(0, end(own) - begin) * (group.members() - 1);
    APRT_TRY(meet(*member));
    for (int m = 0; m < group.members(); ++m) {
      if (m == member->index)
        continue;
      Box box = boxOf(m);
      box.unpack(out, begin, end(box), group.staging(m, round));
    }
  }
  copyOwn(*member, in, out);
  return Status::success();
}

Status SharedMemoryTransport::reduceScatter(int comm, aprt_reduce kind,
                                            aprt_dtype dtype,
                                            const BlockedDim &dim,
                                            const void *in, void *out) {
  Member *member;
  APRT_TRY(find(comm, member));
  SharedGroup &group = *member->group;
  int members = group.members();
  int64_t inner = dim.inner * elementBytes(dtype);
  for (int64_t j = 0; j < members; ++j)
    member->sends[j] = Box::rows(dim.outer, dim.size, j * dim.block,
                                 validBlock(dim, j), inner);
  Box result =
      Box::rows(dim.outer, dim.block, 0, validBlock(dim, member->index), inner);
  if (members == 1) {
    member->receives[0] = result;
    copyOwn(*member, in, out);
    return Status::success();
  }
  int64_t slot = group.stagingBytes() / members / 64 * 64;
  for (int64_t begin = 0; begin < member->sends[0].bytes(); begin += slot) {
    uint32_t round = ++member->round;
    char *own = group.staging(member->index, round);
    for (int j = 0; j < members; ++j) {
      int64_t end = std::min(begin + slot, member->sends[j].bytes());
      member->sends[j].pack(in, begin, end, own + j * slot);
      if (j != member->index)
        counters.bytesSent += std::max<int64_t>(0, end - begin);
    }
    APRT_TRY(meet(*member));
    int64_t end = std::min(begin + slot, result.bytes());
    if (begin >= end)
      continue;
    for (int m = 0; m < members; ++m)
      member->inputs[m] = group.staging(m, round) + member->index * slot;
    // Nobody else reads this member's slot for itself.
    char *reduced = own + member->index * slot;
    if (result.contiguous())
      reduced = static_cast<char *>(out) + begin;
    reduce(kind, dtype, end - begin, member->inputs, reduced);
    if (!result.contiguous())
      result.unpack(out, begin, end, reduced);
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// All-to-all and halo
//===----------------------------------------------------------------------===//

void SharedMemoryTransport::copyOwn(Member &member, const void *in, void *out) {
  const Box &from = member.sends[member.index];
  const Box &to = member.receives[member.index];
  // Through a small buffer: the two boxes have different shapes in memory.
  char buffer[16384];
  int64_t total = from.bytes();
  if (from.contiguous() && total > 0) {
    to.unpack(out, 0, total, static_cast<const char *>(in) + from.offset());
    return;
  }
  for (int64_t begin = 0; begin < total; begin += int64_t(sizeof(buffer))) {
    int64_t end = std::min<int64_t>(begin + int64_t(sizeof(buffer)), total);
    from.pack(in, begin, end, buffer);
    to.unpack(out, begin, end, buffer);
  }
}

Status SharedMemoryTransport::exchange(Member &member, int64_t mostBytes,
                                       const void *in, void *out) {
  SharedGroup &group = *member.group;
  int members = group.members();
  int64_t slot = group.stagingBytes() / members / 64 * 64;
  if (members == 1)
    mostBytes = 0;
  for (int64_t begin = 0; begin < mostBytes; begin += slot) {
    uint32_t round = ++member.round;
    char *own = group.staging(member.index, round);
    for (int j = 0; j < members; ++j) {
      if (j == member.index)
        continue;
      int64_t end = std::min(begin + slot, member.sends[j].bytes());
      member.sends[j].pack(in, begin, end, own + j * slot);
      counters.bytesSent += std::max<int64_t>(0, end - begin);
    }
    APRT_TRY(meet(member));
    for (int m = 0; m < members; ++m) {
      if (m == member.index)
        continue;
      int64_t end = std::min(begin + slot, member.receives[m].bytes());
      member.receives[m].unpack(out, begin, end,
                                group.staging(m, round) + member.index * slot);
    }
  }
  copyOwn(member, in, out);
  return Status::success();
}

Status SharedMemoryTransport::allToAll(int comm, aprt_dtype dtype,
                                       const SplitChange &change,
                                       const void *in, void *out) {
  Member *member;
  APRT_TRY(find(comm, member));
  if (!change.valid())
    return Status::error("bad dimensions of an all-to-all");
  int split = change.splitDim, concat = change.concatDim;
  BlockedDim splitDim{1, change.inShape[split], change.outShape[split], 1};
  BlockedDim concatDim{1, change.outShape[concat], change.inShape[concat], 1};
  int64_t element = elementBytes(dtype);
  for (int64_t j = 0; j < member->group->members(); ++j) {
    member->sends[j] = Box::inTensor(
        change.rank, change.inShape, element, split, j * splitDim.block,
        validBlock(splitDim, j), concat, validBlock(concatDim, member->index));
    member->receives[j] = Box::inTensor(
        change.rank, change.outShape, element, concat, j * concatDim.block,
        validBlock(concatDim, j), split, validBlock(splitDim, member->index));
  }
  Box largest =
      Box::inTensor(change.rank, change.inShape, element, split, 0,
                    validBlock(splitDim, 0), concat, validBlock(concatDim, 0));
  return exchange(*member, largest.bytes(), in, out);
}

/// Fills the positions of `out` that are outside the dimension.
static void fillOutside(aprt_dtype dtype, const BlockedDim &dim,
                        const HaloWindow &window, int64_t me, char *out) {
  int64_t start = me * window.step + window.offset;
  int64_t low = std::clamp<int64_t>(-start, 0, window.length);
  int64_t high = std::clamp<int64_t>(dim.size - start, low, window.length);
  int64_t element = elementBytes(dtype);
  for (int64_t o = 0; o < dim.outer; ++o) {
    char *row = out + o * window.length * dim.inner * element;
    fillElements(dtype, low * dim.inner, window.fill, row);
    fillElements(dtype, (window.length - high) * dim.inner, window.fill,
                 row + high * dim.inner * element);
  }
}

Status SharedMemoryTransport::halo(int comm, aprt_dtype dtype,
                                   const BlockedDim &dim,
                                   const HaloWindow &window, const void *in,
                                   void *out) {
  Member *member;
  APRT_TRY(find(comm, member));
  int64_t me = member->index;
  int64_t inner = dim.inner * elementBytes(dtype);
  int64_t mostBytes = 0;
  for (int64_t j = 0; j < member->group->members(); ++j) {
    HaloOverlap given(dim, window, me, j);
    member->sends[j] =
        Box::rows(dim.outer, dim.block, given.begin - me * dim.block,
                  given.length, inner);
    HaloOverlap taken(dim, window, j, me);
    member->receives[j] = Box::rows(
        dim.outer, window.length,
        taken.begin - me * window.step - window.offset, taken.length, inner);
    for (int64_t i = 0; i < member->group->members(); ++i)
      if (i != j)
        mostBytes = std::max(mostBytes, HaloOverlap(dim, window, i, j).length *
                                            dim.outer * inner);
  }
  fillOutside(dtype, dim, window, me, static_cast<char *>(out));
  return exchange(*member, mostBytes, in, out);
}

} // namespace autopar::runtime
