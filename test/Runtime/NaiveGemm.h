//===- NaiveGemm.h - A GEMM by plain loops ----------------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_NAIVEGEMM_H
#define AUTOPAR_TEST_RUNTIME_NAIVEGEMM_H

#include "autopar/runtime.h"
#include "cpu/ThreadPool.h"

namespace autopar::runtime {

/// aprt_gemm by definition, for any type and strides.
void naiveGemm(const aprt_gemm_desc &desc, const void *a, const void *b,
               const void *bias, const void *addend, void *c, ThreadPool &pool);

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_NAIVEGEMM_H
