//===- NcclTransportCalls.h - Watched and grouped calls ---------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_NCCLTRANSPORTCALLS_H
#define AUTOPAR_RUNTIME_CUDA_NCCLTRANSPORTCALLS_H

#include "NcclTransport.h"

namespace autopar::runtime {

template <typename Body>
Status NcclTransport::communicate(const NcclGroup &group, bool message,
                                  int64_t bytesSent, const Body &body) {
  counters.bytesSent += bytesSent;
  APRT_TRY(watch.begin({context.currentOp(), group.ranks, message}));
  APRT_TRY(body());
  return watch.end();
}

template <typename Body>
Status NcclTransport::grouped(const NcclGroup &group, const Body &body) {
  APRT_TRY(nccl.check(nccl.ncclGroupStart(), "ncclGroupStart"));
  Status status = body();
  ncclResult_t ended = nccl.ncclGroupEnd();
  APRT_TRY(std::move(status));
  return check(ended, "ncclGroupEnd", group);
}

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_NCCLTRANSPORTCALLS_H
