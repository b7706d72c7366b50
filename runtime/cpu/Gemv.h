//===- Gemv.h - A matrix times a vector -------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_GEMV_H
#define AUTOPAR_RUNTIME_CPU_GEMV_H

#include "../core/GemmShape.h"
#include "GemmPlan.h"
#include "ThreadPool.h"
#include "Workspace.h"

namespace autopar::runtime {

/// Whether a normalized GEMM is a GEMV: one row or one column, and a matrix
/// with a dense dimension. It reads its matrix once and computes little: loops
/// of our own take it from memory as fast as it comes, where the library would
/// block it.
bool isGemv(const aprt_gemm_desc &desc);

/// Bytes of scratch per thread that gemv needs.
int64_t gemvScratch(const aprt_gemm_desc &desc);

/// aprt_gemm for a normalized GEMM that isGemv. `workspace` has
/// gemvScratch(desc) bytes per thread. The bits of a result depend
/// neither on the other results nor on the threads.
/// `packed` (null: B is as described, dense) has B's matrices, of which columns
/// can be read: the results are those of a plain B.
void gemv(const aprt_gemm_desc &desc, const GemmOperands &operands,
          ThreadPool &pool, const Workspace &workspace,
          const PackedMatrix *packed = nullptr);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_GEMV_H
