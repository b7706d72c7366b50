//===- NcclTransport.h - Ranks that are GPUs --------------------*- C++ -*-===//
//
// Collectives and messages through NCCL, on the stream of the current op. What
// is not contiguous, or not in equal blocks, goes through staging memory that
// is allocated once. A call only puts work on a stream: poll() is what the host
// asks while it waits for that work.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_NCCLTRANSPORT_H
#define AUTOPAR_RUNTIME_CUDA_NCCLTRANSPORT_H

#include "../core/RankRecord.h"
#include "../transport/Transport.h"
#include "CommunicationWatch.h"
#include "DeviceCopy.h"
#include "NcclClique.h"

#include <memory>

namespace autopar::runtime {

/// What the transport is made of. `context` and `record` must outlive it.
struct NcclSetup {
  NcclApi nccl; // empty if the program does not use NCCL
  CudaContext &context;
  int rank;
  RankRecord &record;
  std::shared_ptr<RankFabric> fabric;
  double timeoutSeconds;
};

class NcclTransport : public Transport {
public:
  /// Every rank calls it at the same time. It sets the context's wait poll
  /// and agreement.
  static Status create(NcclSetup setup, std::unique_ptr<Transport> &result);
  ~NcclTransport() override;

  int64_t memberIndex(int comm) const override;
#define APRT_OVERRIDE(name, parameters) Status name parameters override;
  APRT_TRANSPORT_CALLS(APRT_OVERRIDE)
#undef APRT_OVERRIDE
  Status barrier(bool withDeadline) override;
  Status beginStep() override;
  Status useMemory(void *memory, int64_t bytes) override;
  Status close() override;

private:
  explicit NcclTransport(NcclSetup setup);
  Status start();
  /// Waits no longer ask this transport.
  void leaveContext();
  Status allocateStaging();

  /// This rank's group of `comm`, checked.
  Status find(int comm, const NcclGroup *&group) const;
  Status findPair(int channel, int64_t bytes, bool sends,
                  const NcclGroup *&pair) const;
  /// Puts the work of `body` on the current stream, watched.
  template <typename Body>
  Status communicate(const NcclGroup &group, bool message, int64_t bytesSent,
                     const Body &body);
  /// Runs `body` as one group of NCCL's calls.
  template <typename Body>
  Status grouped(const NcclGroup &group, const Body &body);
  Status check(ncclResult_t result, const char *call,
               const NcclGroup &group) const {
    return clique.settle(result, call, group.comm);
  }
  DeviceCopy copies() const {
    return DeviceCopy(context.driver, context.currentStream());
  }

  /// Bytes that this rank gives to member j, or gets from it: `box` copies them
  /// from the tensor to dense staging, or from there to the tensor.
  struct Part {
    const char *tensor = nullptr;
    CopyBox box;
  };
  /// Every member gets sends[j] of member j's view and fills receives[j].
  Status exchange(const NcclGroup &group, std::vector<Part> sends,
                  std::vector<Part> receives);
  /// Outer rows that fit the staging, if one takes so many bytes. 1 also where
  /// not even one fits: a row is contiguous and needs none.
  int64_t rowsPerRound(int64_t outer, int64_t rowBytes) const;

  Status gatherEvenly(const NcclGroup &group, aprt_dtype dtype,
                      const BlockedDim &dim, const char *in, char *out);
  Status gatherParts(const NcclGroup &group, aprt_dtype dtype,
                     const BlockedDim &dim, const char *in, char *out);
  Status scatterEvenly(const NcclGroup &group, aprt_reduce kind,
                       aprt_dtype dtype, const BlockedDim &dim, const char *in,
                       char *out);
  Status scatterParts(const NcclGroup &group, aprt_reduce kind,
                      aprt_dtype dtype, const BlockedDim &dim, const char *in,
                      char *out);
  Status haloRows(const NcclGroup &group, aprt_dtype dtype,
                  const BlockedDim &dim, const HaloWindow &window,
                  const char *in, char *out, int64_t begin, int64_t rows);

  /// See CudaContext::WaitPoll.
  Status poll(double waitedSeconds);
  /// The same, of NCCL's calls themselves.
  Status pollCall(double waitedSeconds);
  Status judge(const RankProgress &progress);
  Status stuck(const CommunicationWatch::Operation &operation, int stream,
               const RankProgress &progress);

  const NcclApi nccl;
  CudaContext &context;
  const Manifest &manifest;
  int rank;
  RankRecord &record;
  std::shared_ptr<RankFabric> fabric;
  double timeoutSeconds;
  NcclClique clique;
  CommunicationWatch watch;
  char *sendStaging = nullptr, *receiveStaging = nullptr;
  int64_t stagingBytes = 0; // of each
  double nextLook = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_NCCLTRANSPORT_H
