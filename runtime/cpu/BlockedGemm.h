//===- BlockedGemm.h - GEMMs of any type ------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_BLOCKEDGEMM_H
#define AUTOPAR_RUNTIME_CPU_BLOCKEDGEMM_H

#include "ThreadPool.h"
#include "Workspace.h"
#include "autopar/runtime.h"

namespace autopar::runtime {

/// Bytes of scratch per thread that blockedGemm needs.
int64_t blockedGemmScratch(const aprt_gemm_desc &desc);

/// aprt_gemm where the library knows no such GEMM: blocks of rows and
/// columns are packed, then multiplied in registers. `workspace` has
/// blockedGemmScratch(desc) bytes per thread.
void blockedGemm(const aprt_gemm_desc &desc, const void *a, const void *b,
                 const void *bias, const void *addend, void *c,
                 ThreadPool &pool, const Workspace &workspace);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_BLOCKEDGEMM_H
