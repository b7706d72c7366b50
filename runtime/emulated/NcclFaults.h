//===- NcclFaults.h - Faults that a test asks for ---------------*- C++ -*-===//
//
// AUTOPAR_EMULATED_NCCL_FAULT=RANK:N:KIND makes the N-th operation (from 1)
// that rank RANK runs go wrong:
//   error  NCCL reports a system error and the operation never ends
//   death  the process is killed inside it
//   hang   it never ends, and nothing is reported
//   skip   the rank leaves it out
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_NCCLFAULTS_H
#define AUTOPAR_RUNTIME_EMULATED_NCCLFAULTS_H

#include "NcclCommunicator.h"

namespace autopar::runtime::emulated {

enum class PlannedFault { none, error, death, hang, skip };

/// Counts an operation of this process, on `comm`, and does what was asked for.
PlannedFault planFault(ncclComm &comm);

/// Asks for a fault as the environment variable does; "" for none.
Status setPlannedFault(const std::string &text);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_NCCLFAULTS_H
