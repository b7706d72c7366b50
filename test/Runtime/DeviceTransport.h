//===- DeviceTransport.h - Collectives of devices, on host arrays -*- C++ -*-=//

#ifndef AUTOPAR_TEST_RUNTIME_DEVICETRANSPORT_H
#define AUTOPAR_TEST_RUNTIME_DEVICETRANSPORT_H

#include "Forked.h"
#include "cuda/NcclTransport.h"
#include "emulated/EmulatedDevice.h"
#include "emulated/EmulatedNccl.h"
#include "transport/SharedRankFabric.h"

#include <numeric>

namespace autopar::runtime {

/// Takes the calls of a transport of host memory: copies operands to the
/// emulated GPU, uses NcclTransport there, waits, and copies results back.
class DeviceTransport : public Transport {
public:
  static Status create(SharedFabric &fabric, const Manifest &manifest, int rank,
                       double timeoutSeconds,
                       std::unique_ptr<DeviceTransport> &result) {
    result.reset(new DeviceTransport);
    DeviceTransport &made = *result;
    made.manifest = manifest;
    made.manifest.libraries = {"nccl"};
    emulated::bindEmulated(made.driver);
    APRT_TRY(CudaContext::create(made.driver, made.manifest, {}, made.memory,
                                 made.context));
    NcclSetup setup{{},
                    *made.context,
                    rank,
                    made.record,
                    std::make_unique<SharedRankFabric>(
                        fabric, rank, timeoutSeconds, Patience::sharedCore()),
                    timeoutSeconds};
    emulated::bindEmulated(setup.nccl);
    return NcclTransport::create(std::move(setup), made.inner);
  }

  CudaContext &place() { return *context; }
  Transport &device() { return *inner; }
  int64_t memberIndex(int comm) const override {
    return inner->memberIndex(comm);
  }

  Status allReduce(int comm, aprt_reduce kind, aprt_dtype dtype, int64_t count,
                   const void *in, void *out) override {
    int64_t bytes = count * elementBytes(dtype);
    return onDevice(in, bytes, out, bytes, [&](void *from, void *to) {
      return inner->allReduce(comm, kind, dtype, count, from,
                              in == out ? from : to);
    });
  }
  Status broadcast(int comm, int root, aprt_dtype dtype, int64_t count,
                   const void *in, void *out) override {
    int64_t bytes = count * elementBytes(dtype);
    return onDevice(in, bytes, out, bytes, [&](void *from, void *to) {
      return inner->broadcast(comm, root, dtype, count, from, to);
    });
  }
  Status allGather(int comm, aprt_dtype dtype, const BlockedDim &dim,
                   const void *in, void *out) override {
    int64_t row = dim.outer * dim.inner * elementBytes(dtype);
    return onDevice(in, row * dim.block, out, row * dim.size,
                    [&](void *from, void *to) {
                      return inner->allGather(comm, dtype, dim, from, to);
                    });
  }
  Status reduceScatter(int comm, aprt_reduce kind, aprt_dtype dtype,
                       const BlockedDim &dim, const void *in,
                       void *out) override {
    int64_t row = dim.outer * dim.inner * elementBytes(dtype);
    return onDevice(
        in, row * dim.size, out, row * dim.block, [&](void *from, void *to) {
          return inner->reduceScatter(comm, kind, dtype, dim, from, to);
        });
  }
  Status allToAll(int comm, aprt_dtype dtype, const SplitChange &change,
                  const void *in, void *out) override {
    auto bytes = [&](const int64_t *shape) {
      return std::accumulate(shape, shape + change.rank, elementBytes(dtype),
                             std::multiplies<int64_t>());
    };
    return onDevice(in, bytes(change.inShape), out, bytes(change.outShape),
                    [&](void *from, void *to) {
                      return inner->allToAll(comm, dtype, change, from, to);
                    });
  }
  Status halo(int comm, aprt_dtype dtype, const BlockedDim &dim,
              const HaloWindow &window, const void *in, void *out) override {
    int64_t row = dim.outer * dim.inner * elementBytes(dtype);
    return onDevice(in, row * dim.block, out, row * window.length,
                    [&](void *from, void *to) {
                      return inner->halo(comm, dtype, dim, window, from, to);
                    });
  }
  Status send(int channel, const void *data, int64_t bytes) override {
    return onDevice(data, bytes, nullptr, 0, [&](void *from, void *) {
      return inner->send(channel, from, bytes);
    });
  }
  Status receive(int channel, void *data, int64_t bytes) override {
    return onDevice(nullptr, 0, data, bytes, [&](void *, void *to) {
      return inner->receive(channel, to, bytes);
    });
  }
  Status barrier(bool withDeadline) override {
    return inner->barrier(withDeadline);
  }

private:
  DeviceTransport() = default;

  template <typename Body>
  Status onDevice(const void *in, int64_t inBytes, void *out, int64_t outBytes,
                  const Body &body) {
    void *from = nullptr, *to = nullptr;
    APRT_TRY(context->allocate(inBytes, "operand", memory.workspace, from));
    APRT_TRY(context->allocate(outBytes, "result", memory.workspace, to));
    if (inBytes > 0)
      APRT_CUDA(driver, cuMemcpyHtoDAsync_v2, deviceAddress(from), in,
                size_t(inBytes), context->stream(0));
    APRT_TRY(context->waitForAll());
    APRT_TRY(body(from, to));
    // A copy to memory that is not pinned would wait without looking around.
    APRT_TRY(context->waitForAll());
    const void *result = in == out ? from : to;
    if (outBytes > 0)
      APRT_CUDA(driver, cuMemcpyDtoHAsync_v2, out, deviceAddress(result),
                size_t(outBytes), context->stream(0));
    APRT_TRY(context->waitForAll());
    APRT_TRY(context->release(from));
    return context->release(to);
  }

  DriverApi driver;
  Manifest manifest;
  RankMemory memory;
  RankRecord record;
  std::unique_ptr<CudaContext> context;
  std::unique_ptr<Transport> inner;
};

inline std::string startOnDevice(SharedFabric &fabric, const Manifest &manifest,
                                 int rank, double timeoutSeconds,
                                 const RankBody &body) {
  std::unique_ptr<DeviceTransport> transport;
  Status status = DeviceTransport::create(fabric, manifest, rank,
                                          timeoutSeconds, transport);
  if (status.failed())
    return status.message();
  std::string result = body(rank, *transport);
  // Nobody leaves while others still communicate; after a failure nobody comes.
  Transport &device = transport->device();
  if (result.empty() && device.barrier(/*withDeadline=*/true).ok())
    return device.close().message();
  return result;
}

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_DEVICETRANSPORT_H
