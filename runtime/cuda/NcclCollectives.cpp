//===- NcclCollectives.cpp - Collectives of ranks that are GPUs -----------===//
//
// Equal blocks use NCCL's own collectives, others messages or reductions of
// exactly the elements that there are. A tensor [outer, size, inner] whose
// blocks are not contiguous goes through staging, some rows of `outer` at a
// time.
//
//===----------------------------------------------------------------------===//

#include "../transport/BlockedDims.h"
#include "NcclTransportCalls.h"

#include <algorithm>

namespace autopar::runtime {

/// The type that moves or reduces elements of `dtype`: its own, or one of the
/// same size where nothing is computed.
static ncclDataType_t movedType(aprt_dtype dtype) {
  switch (dtype) {
  case APRT_I32:
    return ncclInt32;
  case APRT_U32:
    return ncclUint32;
  case APRT_I64:
    return ncclInt64;
  case APRT_U64:
    return ncclUint64;
  case APRT_BF16:
    return ncclBfloat16;
  case APRT_F16:
  case APRT_I16:
  case APRT_U16:
    return ncclFloat16;
  case APRT_F32:
    return ncclFloat32;
  case APRT_F64:
    return ncclFloat64;
  case APRT_I8:
    return ncclInt8;
  case APRT_U8:
  case APRT_BOOL:
    break;
  }
  return ncclUint8;
}

static ncclRedOp_t reductionOf(aprt_reduce kind) {
  switch (kind) {
  case APRT_PROD:
    return ncclProd;
  case APRT_MAX:
    return ncclMax;
  case APRT_MIN:
    return ncclMin;
  case APRT_SUM:
    break;
  }
  return ncclSum;
}

static Status checkReduction(aprt_reduce kind, aprt_dtype dtype) {
  if (dtype == APRT_I16 || dtype == APRT_U16)
    return Status::error("NCCL does not reduce 16-bit integers: cast them to "
                         "32 bits in the model, or shard it otherwise");
  if (dtype == APRT_BOOL && kind == APRT_SUM)
    return Status::error("a sum of booleans over ranks is not defined");
  return Status::success();
}

int64_t NcclTransport::rowsPerRound(int64_t outer, int64_t rowBytes) const {
  return std::clamp<int64_t>(stagingBytes / std::max<int64_t>(rowBytes, 1), 1,
                             std::max<int64_t>(outer, 1));
}

//===----------------------------------------------------------------------===//
// All-reduce
//===----------------------------------------------------------------------===//

Status NcclTransport::allReduce(int comm, aprt_reduce kind, aprt_dtype dtype,
                                int64_t count, const void *in, void *out) {
  const NcclGroup *group = nullptr;
  APRT_TRY(find(comm, group));
  APRT_TRY(checkReduction(kind, dtype));
  int64_t bytes = count * elementBytes(dtype);
  if (group->members() == 1)
    return copies().copy(in, out, {{}, bytes});
  if (bytes == 0)
    return Status::success();
  int64_t members = group->members();
  int64_t sent = 2 * bytes * (members - 1) / members; // of a ring
  return communicate(*group, /*message=*/false, sent, [&] {
    return check(nccl.ncclAllReduce(in, out, size_t(count), movedType(dtype),
                                    reductionOf(kind), group->comm,
                                    context.currentStream()),
                 "ncclAllReduce", *group);
  });
}

//===----------------------------------------------------------------------===//
// Broadcast
//===----------------------------------------------------------------------===//

Status NcclTransport::broadcast(int comm, int root, aprt_dtype dtype,
                                int64_t count, const void *in, void *out) {
  const NcclGroup *group = nullptr;
  APRT_TRY(find(comm, group));
  int64_t members = group->members(), bytes = count * elementBytes(dtype);
  APRT_TRY(checkRoot(root, members));
  if (members == 1)
    return copies().copy(in, out, {{}, bytes});
  if (bytes == 0)
    return Status::success();
  bool isLast = (group->index + 1) % members == root; // of a ring
  return communicate(*group, /*message=*/false, isLast ? 0 : bytes, [&] {
    return check(nccl.ncclBroadcast(in, out, size_t(count), movedType(dtype),
                                    root, group->comm, context.currentStream()),
                 "ncclBroadcast", *group);
  });
}

//===----------------------------------------------------------------------===//
// Exchange of parts
//===----------------------------------------------------------------------===//

/// Parts that are contiguous move from and to the tensors themselves.
Status NcclTransport::exchange(const NcclGroup &group, std::vector<Part> sends,
                               std::vector<Part> receives) {
  struct Message {
    const char *data;
    int64_t bytes;
  };
  // Places in staging, or in the tensor.
  auto place = [&](std::vector<Part> &parts, char *staging,
                   std::vector<Message> &messages) {
    int64_t used = 0;
    for (size_t j = 0; j < parts.size(); ++j) {
      int64_t bytes = int(j) == group.index ? 0 : parts[j].box.bytes();
      CopyBox box = parts[j].box;
      box.simplify();
      bool direct = box.dims.empty();
      messages.push_back({direct ? parts[j].tensor : staging + used, bytes});
      used += direct ? 0 : bytes;
    }
    if (used <= stagingBytes)
      return Status::success();
    return Status::error("the program says that its collectives move less: " +
                         std::to_string(used) + " bytes do not fit");
  };
  std::vector<Message> outgoing, incoming;
  APRT_TRY(place(sends, sendStaging, outgoing));
  APRT_TRY(place(receives, receiveStaging, incoming));
  for (size_t j = 0; j < sends.size(); ++j)
    if (outgoing[j].bytes > 0 && outgoing[j].data != sends[j].tensor)
      APRT_TRY(copies().copy(
          sends[j].tensor, const_cast<char *>(outgoing[j].data), sends[j].box));
  APRT_TRY(grouped(group, [&]() -> Status {
    for (size_t j = 0; j < sends.size(); ++j) {
      if (outgoing[j].bytes > 0)
        APRT_TRY(nccl.check(nccl.ncclSend(outgoing[j].data,
                                          size_t(outgoing[j].bytes), ncclUint8,
                                          int(j), group.comm,
                                          context.currentStream()),
                            "ncclSend", group.comm));
      if (incoming[j].bytes > 0)
        APRT_TRY(nccl.check(nccl.ncclRecv(const_cast<char *>(incoming[j].data),
                                          size_t(incoming[j].bytes), ncclUint8,
                                          int(j), group.comm,
                                          context.currentStream()),
                            "ncclRecv", group.comm));
    }
    return Status::success();
  }));
  for (size_t j = 0; j < receives.size(); ++j)
    if (incoming[j].bytes > 0 && incoming[j].data != receives[j].tensor)
      APRT_TRY(copies().copy(incoming[j].data,
                             const_cast<char *>(receives[j].tensor),
                             receives[j].box));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// All-gather
//===----------------------------------------------------------------------===//

Status NcclTransport::gatherEvenly(const NcclGroup &group, aprt_dtype dtype,
                                   const BlockedDim &dim, const char *in,
                                   char *out) {
  int64_t members = group.members();
  int64_t blockBytes = dim.block * dim.inner * elementBytes(dtype);
  int64_t step = rowsPerRound(dim.outer, members * blockBytes);
  for (int64_t begin = 0; begin < dim.outer; begin += step) {
    int64_t rows = std::min(step, dim.outer - begin);
    char *to = out + begin * members * blockBytes;
    char *gathered = rows == 1 ? to : receiveStaging;
    APRT_TRY(check(nccl.ncclAllGather(in + begin * blockBytes, gathered,
                                      size_t(rows * dim.block * dim.inner),
                                      movedType(dtype), group.comm,
                                      context.currentStream()),
                   "ncclAllGather", group));
    // Members, then rows: in the result it is the other way round.
    for (int64_t j = 0; j < members && rows > 1; ++j)
      APRT_TRY(copies().copy(
          gathered + j * rows * blockBytes, to + j * blockBytes,
          CopyBox::rows(rows, blockBytes, blockBytes, members * blockBytes)));
  }
  return Status::success();
}

Status NcclTransport::gatherParts(const NcclGroup &group, aprt_dtype dtype,
                                  const BlockedDim &dim, const char *in,
                                  char *out) {
  int64_t inner = dim.inner * elementBytes(dtype);
  int64_t blockBytes = dim.block * inner, rowBytes = dim.size * inner;
  int64_t mine = validBlock(dim, group.index) * inner;
  int64_t members = group.members();
  // A rank packs what it gives once for each of the others.
  int64_t step = rowsPerRound(dim.outer, std::max(mine, blockBytes) * members);
  APRT_TRY(copies().copy(in, out + group.index * blockBytes,
                         CopyBox::rows(dim.outer, mine, blockBytes, rowBytes)));
  for (int64_t begin = 0; begin < dim.outer; begin += step) {
    int64_t rows = std::min(step, dim.outer - begin);
    std::vector<Part> sends, receives;
    for (int64_t j = 0; j < members; ++j) {
      int64_t theirs = validBlock(dim, j) * inner;
      sends.push_back({in + begin * blockBytes,
                       CopyBox::rows(rows, mine, blockBytes, mine)});
      receives.push_back({out + begin * rowBytes + j * blockBytes,
                          CopyBox::rows(rows, theirs, theirs, rowBytes)});
    }
    APRT_TRY(exchange(group, std::move(sends), std::move(receives)));
  }
  return Status::success();
}

Status NcclTransport::allGather(int comm, aprt_dtype dtype,
                                const BlockedDim &dim, const void *in,
                                void *out) {
  const NcclGroup *group = nullptr;
  APRT_TRY(find(comm, group));
  auto *from = static_cast<const char *>(in);
  auto *to = static_cast<char *>(out);
  int64_t inner = dim.inner * elementBytes(dtype);
  int64_t members = group->members();
  if (members == 1)
    return copies().copy(in, out,
                         CopyBox::rows(dim.outer, dim.size * inner,
                                       dim.block * inner, dim.size * inner));
  if (dim.outer * dim.size * inner == 0)
    return Status::success();
  int64_t sent = dim.outer * validBlock(dim, group->index) * inner;
  return communicate(*group, /*message=*/false, sent * (members - 1), [&] {
    return members * dim.block == dim.size
               ? gatherEvenly(*group, dtype, dim, from, to)
               : gatherParts(*group, dtype, dim, from, to);
  });
}

//===----------------------------------------------------------------------===//
// Reduce-scatter
//===----------------------------------------------------------------------===//

Status NcclTransport::scatterEvenly(const NcclGroup &group, aprt_reduce kind,
                                    aprt_dtype dtype, const BlockedDim &dim,
                                    const char *in, char *out) {
  int64_t members = group.members();
  int64_t blockBytes = dim.block * dim.inner * elementBytes(dtype);
  int64_t step = rowsPerRound(dim.outer, members * blockBytes);
  for (int64_t begin = 0; begin < dim.outer; begin += step) {
    int64_t rows = std::min(step, dim.outer - begin);
    const char *from = in + begin * members * blockBytes;
    for (int64_t j = 0; j < members && rows > 1; ++j)
      APRT_TRY(copies().copy(
          from + j * blockBytes, sendStaging + j * rows * blockBytes,
          CopyBox::rows(rows, blockBytes, members * blockBytes, blockBytes)));
    APRT_TRY(check(nccl.ncclReduceScatter(
                       rows == 1 ? from : sendStaging, out + begin * blockBytes,
                       size_t(rows * dim.block * dim.inner), movedType(dtype),
                       reductionOf(kind), group.comm, context.currentStream()),
                   "ncclReduceScatter", group));
  }
  return Status::success();
}

/// Each block is reduced to the member that owns it.
Status NcclTransport::scatterParts(const NcclGroup &group, aprt_reduce kind,
                                   aprt_dtype dtype, const BlockedDim &dim,
                                   const char *in, char *out) {
  int64_t element = elementBytes(dtype), inner = dim.inner * element;
  int64_t blockBytes = dim.block * inner, rowBytes = dim.size * inner;
  int64_t mine = validBlock(dim, group.index) * inner;
  int64_t step = rowsPerRound(dim.outer, rowBytes);
  for (int64_t begin = 0; begin < dim.outer; begin += step) {
    int64_t rows = std::min(step, dim.outer - begin);
    const char *from = in + begin * rowBytes;
    for (int64_t j = 0; j < group.members() && rows > 1; ++j) {
      int64_t theirs = validBlock(dim, j) * inner;
      APRT_TRY(copies().copy(from + j * blockBytes,
                             sendStaging + rows * j * blockBytes,
                             CopyBox::rows(rows, theirs, rowBytes, theirs)));
    }
    bool direct = rows == 1 || mine == blockBytes;
    char *to = out + begin * blockBytes;
    char *reduced = direct ? to : receiveStaging;
    APRT_TRY(grouped(group, [&]() -> Status {
      for (int64_t j = 0; j < group.members(); ++j) {
        int64_t count = rows * validBlock(dim, j) * dim.inner;
        const char *part = rows == 1 ? from + j * blockBytes
                                     : sendStaging + rows * j * blockBytes;
        if (count > 0)
          APRT_TRY(nccl.check(
              nccl.ncclReduce(part, reduced, size_t(count), movedType(dtype),
                              reductionOf(kind), int(j), group.comm,
                              context.currentStream()),
              "ncclReduce", group.comm));
      }
      return Status::success();
    }));
    if (!direct)
      APRT_TRY(copies().copy(reduced, to,
                             CopyBox::rows(rows, mine, mine, blockBytes)));
  }
  return copies().fill(dtype, 0, out + mine, (blockBytes - mine) / element,
                       dim.outer, blockBytes);
}

Status NcclTransport::reduceScatter(int comm, aprt_reduce kind,
                                    aprt_dtype dtype, const BlockedDim &dim,
                                    const void *in, void *out) {
  const NcclGroup *group = nullptr;
  APRT_TRY(find(comm, group));
  APRT_TRY(checkReduction(kind, dtype));
  auto *from = static_cast<const char *>(in);
  auto *to = static_cast<char *>(out);
  int64_t inner = dim.inner * elementBytes(dtype);
  int64_t members = group->members();
  if (members == 1)
    return copies().copy(in, out,
                         CopyBox::rows(dim.outer, dim.size * inner,
                                       dim.size * inner, dim.block * inner));
  if (dim.outer * dim.size * inner == 0)
    return Status::success();
  int64_t sent = dim.outer * (dim.size - validBlock(dim, group->index)) * inner;
  return communicate(*group, /*message=*/false, sent, [&] {
    return members * dim.block == dim.size
               ? scatterEvenly(*group, kind, dtype, dim, from, to)
               : scatterParts(*group, kind, dtype, dim, from, to);
  });
}

} // namespace autopar::runtime
