//===- NaiveKernels.h - Plain loops for any type and layout -----*- C++ -*-===//
//
// The fallback where the library refuses, and the oracle of the tests.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_NAIVEKERNELS_H
#define AUTOPAR_RUNTIME_CPU_NAIVEKERNELS_H

#include "ThreadPool.h"
#include "autopar/runtime.h"

namespace autopar::runtime {

/// aprt_gemm by definition.
void naiveGemm(const aprt_gemm_desc &desc, const void *a, const void *b,
               const void *bias, const void *addend, void *c, ThreadPool &pool);

/// aprt_conv by definition, in either layout.
void naiveConv(const aprt_conv_desc &desc, const void *x, const void *w,
               const void *bias, const void *addend, void *y, ThreadPool &pool);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_NAIVEKERNELS_H
