//===- EmulatedCublasLt.h - cuBLASLt on the emulated GPU --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_EMULATEDCUBLASLT_H
#define AUTOPAR_RUNTIME_EMULATED_EMULATEDCUBLASLT_H

#include "../cuda/CublasLtApi.h"

namespace autopar::runtime::emulated {

/// Fills the table with functions that check their arguments as the library
/// does, with its statuses, and compute on the host when their stream's turn
/// comes. cublasLtGetStatusString gives the text of the last refusal.
void bindEmulated(CublasLtApi &api);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_EMULATEDCUBLASLT_H
