//===- RankResult.h - What a rank brings rank 0 -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_RANKRESULT_H
#define AUTOPAR_RUNTIME_STUB_RANKRESULT_H

#include "Run.h"

namespace autopar::runtime {

/// Returns the rank's record, times, trace and blocks of outputs as bytes.
std::string packResult(const Run &run, int rank);

/// Returns the maximum number of bytes that packResult makes for a rank, on any
/// host.
uint64_t mostResultBytes(const Run &run, int rank);

/// Stores the bytes of another process's rank in this run.
Status unpackResult(Run &run, int rank, const std::string &bytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_RANKRESULT_H
