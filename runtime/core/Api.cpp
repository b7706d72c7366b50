//===- Api.cpp - The C ABI that generated programs call -------------------===//

#include "Api.h"

#include "Futex.h"
#include "MemoryGuard.h"
#include "RankContext.h"

using namespace autopar::runtime;

namespace {

/// Runs the body of an op, and measures its time if requested.
template <typename Body>
Status timeOp(aprt_rank *rank, int32_t op, Activity activity,
              const Body &body) {
  if (activity != Activity::Communication && !rank->trace)
    return body();
  double start = monotonicSeconds();
  Status status = body();
  rank->addTime(op, activity, start, monotonicSeconds() - start);
  return status;
}

template <typename Body>
Status beginAndEndOp(aprt_rank *rank, int32_t op, const Body &body) {
  APRT_TRY(rank->device->beginOp(op));
  APRT_TRY(body());
  return rank->device->endOp();
}

/// Runs `body`, records the cost of the op, and turns a failure into a message.
template <typename Body>
aprt_status runOp(aprt_rank *rank, int32_t op, Activity activity,
                  const Body &body) {
  rank->record.currentOp.store(op, std::memory_order_relaxed);
  // Generated code calls this and cannot handle exceptions.
  Status status = guardMemory("running the op", [&]() -> Status {
    APRT_TRY(rank->device->isAsynchronous() ? beginAndEndOp(rank, op, body)
                                            : timeOp(rank, op, activity, body));
    return rank->afterOp ? rank->afterOp(op) : Status::success();
  });
  if (status.ok())
    return 0;
  rank->fail(op, status.message());
  return 1;
}

Status checkDtype(aprt_dtype dtype) {
  if (elementBytes(dtype) > 0)
    return Status::success();
  return Status::error("unknown dtype " + std::to_string(int(dtype)));
}

Status checkReduction(aprt_reduce kind, aprt_dtype dtype) {
  if (kind < APRT_SUM || kind > APRT_MIN)
    return Status::error("unknown reduction " + std::to_string(int(kind)));
  return checkDtype(dtype);
}

Status checkSizes(std::initializer_list<int64_t> sizes) {
  for (int64_t size : sizes)
    if (size < 0)
      return Status::error("a size is negative");
  return Status::success();
}

} // namespace

extern "C" {

void *aprt_arena(aprt_rank *rank) { return rank->arena; }

void *aprt_persistent(aprt_rank *rank, int32_t index) {
  if (index < 0 || size_t(index) >= rank->persistent.size())
    return nullptr;
  return rank->persistent[index].data;
}

aprt_status aprt_load(aprt_rank *rank, int32_t index) {
  Status status =
      guardMemory("loading weights", [&] { return rank->load(index); });
  if (status.ok())
    return 0;
  rank->fail(-1, status.message());
  return 1;
}

aprt_status aprt_release(aprt_rank *rank, int32_t index) {
  Status status =
      guardMemory("setting up", [&] { return rank->release(index); });
  if (status.ok())
    return 0;
  rank->fail(-1, status.message());
  return 1;
}

int64_t aprt_axis_index(aprt_rank *rank, int32_t comm) {
  return rank->transport->memberIndex(comm);
}

aprt_status aprt_launch(aprt_rank *rank, int32_t op, aprt_kernel kernel,
                        void *const *buffers, const int64_t *scalars,
                        int64_t work, int64_t grain) {
  return runOp(rank, op, Activity::Compute, [&] {
    return rank->device->launch(kernel, buffers, scalars, work, grain);
  });
}

aprt_status aprt_launch_grid(aprt_rank *rank, int32_t op, int32_t kernel,
                             void *const *buffers, const int64_t *scalars,
                             int64_t blocks) {
  return runOp(rank, op, Activity::Compute, [&]() -> Status {
    if (kernel < 0 || size_t(kernel) >= rank->manifest.kernels.size())
      return Status::error("kernel " + std::to_string(kernel) +
                           " is not in the program's table");
    APRT_TRY(checkSizes({blocks}));
    return rank->device->launchGrid(kernel, buffers, scalars, blocks);
  });
}

aprt_status aprt_gemm(aprt_rank *rank, int32_t op, const aprt_gemm_desc *desc,
                      const void *a, const void *b, const void *bias,
                      const void *addend, void *c) {
  return runOp(rank, op, Activity::Compute, [&] {
    return rank->device->gemm(*desc, {a, b, bias, addend, c});
  });
}

aprt_status aprt_gemm_pack(aprt_rank *rank, int32_t op,
                           const aprt_gemm_desc *desc, const void *b) {
  return runOp(rank, op, Activity::Compute,
               [&] { return rank->device->packGemm(*desc, b); });
}

aprt_status aprt_conv(aprt_rank *rank, int32_t op, const aprt_conv_desc *desc,
                      const void *x, const void *w, const void *bias,
                      const void *addend, void *y) {
  return runOp(rank, op, Activity::Compute, [&] {
    return rank->device->conv(*desc, {x, w, bias, addend, y});
  });
}

aprt_status aprt_conv_pack(aprt_rank *rank, int32_t op,
                           const aprt_conv_desc *desc, const void *w) {
  return runOp(rank, op, Activity::Compute,
               [&] { return rank->device->packConv(*desc, w); });
}

aprt_status aprt_all_reduce(aprt_rank *rank, int32_t op, int32_t comm,
                            aprt_reduce kind, aprt_dtype dtype, int64_t count,
                            const void *in, void *out) {
  return runOp(rank, op, Activity::Communication, [&]() -> Status {
    APRT_TRY(checkReduction(kind, dtype));
    APRT_TRY(checkSizes({count}));
    return rank->transport->allReduce(comm, kind, dtype, count, in, out);
  });
}

aprt_status aprt_broadcast(aprt_rank *rank, int32_t op, int32_t comm,
                           int32_t root, aprt_dtype dtype, int64_t count,
                           const void *in, void *out) {
  return runOp(rank, op, Activity::Communication, [&]() -> Status {
    APRT_TRY(checkDtype(dtype));
    APRT_TRY(checkSizes({count}));
    return rank->transport->broadcast(comm, root, dtype, count, in, out);
  });
}

aprt_status aprt_all_gather(aprt_rank *rank, int32_t op, int32_t comm,
                            aprt_dtype dtype, int64_t outer, int64_t size,
                            int64_t block, int64_t inner, const void *in,
                            void *out) {
  return runOp(rank, op, Activity::Communication, [&]() -> Status {
    APRT_TRY(checkDtype(dtype));
    APRT_TRY(checkSizes({outer, size, block, inner}));
    return rank->transport->allGather(comm, dtype, {outer, size, block, inner},
                                      in, out);
  });
}

aprt_status aprt_reduce_scatter(aprt_rank *rank, int32_t op, int32_t comm,
                                aprt_reduce kind, aprt_dtype dtype,
                                int64_t outer, int64_t size, int64_t block,
                                int64_t inner, const void *in, void *out) {
  return runOp(rank, op, Activity::Communication, [&]() -> Status {
    APRT_TRY(checkReduction(kind, dtype));
    APRT_TRY(checkSizes({outer, size, block, inner}));
    return rank->transport->reduceScatter(comm, kind, dtype,
                                          {outer, size, block, inner}, in, out);
  });
}

aprt_status aprt_all_to_all(aprt_rank *rank, int32_t op, int32_t comm,
                            aprt_dtype dtype, int32_t rank_of_tensor,
                            const int64_t *in_shape, const int64_t *out_shape,
                            int32_t split_dim, int32_t concat_dim,
                            const void *in, void *out) {
  return runOp(rank, op, Activity::Communication, [&]() -> Status {
    APRT_TRY(checkDtype(dtype));
    return rank->transport->allToAll(
        comm, dtype,
        {rank_of_tensor, in_shape, out_shape, split_dim, concat_dim}, in, out);
  });
}

aprt_status aprt_halo(aprt_rank *rank, int32_t op, int32_t comm,
                      aprt_dtype dtype, int64_t outer, int64_t size,
                      int64_t block, int64_t inner, int64_t step,
                      int64_t offset, int64_t length, double fill,
                      const void *in, void *out) {
  return runOp(rank, op, Activity::Communication, [&]() -> Status {
    APRT_TRY(checkDtype(dtype));
    APRT_TRY(checkSizes({outer, size, block, inner, length}));
    return rank->transport->halo(comm, dtype, {outer, size, block, inner},
                                 {step, offset, length, fill}, in, out);
  });
}

aprt_status aprt_send(aprt_rank *rank, int32_t op, int32_t channel,
                      const void *data, int64_t bytes) {
  return runOp(rank, op, Activity::Communication,
               [&] { return rank->transport->send(channel, data, bytes); });
}

aprt_status aprt_recv(aprt_rank *rank, int32_t op, int32_t channel, void *data,
                      int64_t bytes) {
  return runOp(rank, op, Activity::Communication,
               [&] { return rank->transport->receive(channel, data, bytes); });
}

aprt_status aprt_event_record(aprt_rank *rank, int32_t op, int32_t event) {
  return runOp(rank, op, Activity::Wait,
               [&] { return rank->device->recordEvent(event); });
}

aprt_status aprt_event_wait(aprt_rank *rank, int32_t op, int32_t event) {
  return runOp(rank, op, Activity::Wait,
               [&] { return rank->device->waitEvent(event); });
}

} // extern "C"

const aprt_runtime autopar::runtime::functionTable = {
#define APRT_FUNCTION(result, name, parameters) name,
#include "autopar/runtime.def"
};
