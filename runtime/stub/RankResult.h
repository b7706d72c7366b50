//===- RankResult.h - What a rank brings rank 0 -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_RANKRESULT_H
#define AUTOPAR_RUNTIME_STUB_RANKRESULT_H

#include "Run.h"

namespace autopar::runtime {

/// The rank's record, times, trace and its blocks of outputs, as bytes.
std::string packResult(const Run &run, int rank);

/// The most bytes that packResult makes for a rank, on any host.
uint64_t mostResultBytes(const Run &run, int rank);

/// Puts the bytes of another process's rank into this run.
Status unpackResult(Run &run, int rank, const std::string &bytes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_RANKRESULT_H
