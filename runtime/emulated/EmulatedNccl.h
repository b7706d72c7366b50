//===- EmulatedNccl.h - NCCL's entry points without a GPU -------*- C++ -*-===//
//
// The processes of a host find each other by the unique id and exchange data
// through memory that they share. Every call is checked as NCCL does, and
// against what the other ranks call: NCCL would hang, or mix up data.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_EMULATEDNCCL_H
#define AUTOPAR_RUNTIME_EMULATED_EMULATEDNCCL_H

#include "../cuda/NcclApi.h"

namespace autopar::runtime::emulated {

/// Fills the table with the emulated functions. Fails as NcclApi::load does for
/// a driver (0: any) that the planted NCCL is not made for.
Status bindEmulated(NcclApi &api, int driverVersion);
void bindEmulated(NcclApi &api);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_EMULATEDNCCL_H
