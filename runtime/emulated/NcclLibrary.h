//===- NcclLibrary.h - What the emulated NCCL knows in a process -*- C++ -*-==//

#ifndef AUTOPAR_RUNTIME_EMULATED_NCCLLIBRARY_H
#define AUTOPAR_RUNTIME_EMULATED_NCCLLIBRARY_H

#include "NcclOperation.h"

namespace autopar::runtime::emulated {

/// A call inside a group.
struct GroupedCall {
  ncclComm *comm;
  CUstream stream;
  Call call;
};

/// Calls on non-blocking communicators, on their way to their streams.
struct PendingLaunch {
  std::vector<GroupedCall> calls;
  std::vector<bool> captured; // whether a call's stream was, when it was made
  int looks = 0;              // until NCCL's thread comes to it
};

/// The communicators and the open group of this process.
struct NcclLibrary {
  // Kept to the end: a stale handle must be found out.
  std::vector<std::unique_ptr<ncclComm>> communicators;
  int groupDepth = 0;
  ncclResult_t groupError = ncclSuccess;
  std::vector<GroupedCall> group;
  std::string text; // of the last failure without a communicator
  std::vector<PendingLaunch> launches;
};

/// The one of this process.
NcclLibrary &ncclLibrary();

/// `code`, with a text for ncclGetLastError; an open group fails with it.
ncclResult_t refused(ncclResult_t code, const std::string &text);

bool isKnown(ncclComm_t comm);
/// Success if the communicator can be used by `call`.
ncclResult_t usable(ncclComm_t comm, const char *call);

/// Lets NCCL's own thread act. It is no thread of the system: it takes turns
/// with the host's, whenever that one asks or waits.
void actAsNcclThread();
/// How many looks of the host's thread something in the background takes.
int looksLater();

/// Fills in the functions that move data, and groups.
void bindCalls(NcclApi &api);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_NCCLLIBRARY_H
