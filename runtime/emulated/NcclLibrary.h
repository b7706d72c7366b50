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

/// The communicators and the open group of this process.
struct NcclLibrary {
  // Kept to the end: a stale handle must be found out.
  std::vector<std::unique_ptr<ncclComm>> communicators;
  int groupDepth = 0;
  ncclResult_t groupError = ncclSuccess;
  std::vector<GroupedCall> group;
  std::string text; // of the last failure without a communicator
};

/// The one of this process.
NcclLibrary &ncclLibrary();

/// `code`, with a text for ncclGetLastError; an open group fails with it.
ncclResult_t refused(ncclResult_t code, const std::string &text);

bool isKnown(ncclComm_t comm);
/// Success if the communicator can be used by `call`.
ncclResult_t usable(ncclComm_t comm, const char *call);

/// Fills in the functions that move data, and groups.
void bindCalls(NcclApi &api);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_NCCLLIBRARY_H
