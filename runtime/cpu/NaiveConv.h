//===- NaiveConv.h - Convolution by plain loops -----------------*- C++ -*-===//
//
// For any type and layout: what is left where the library refuses.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CPU_NAIVECONV_H
#define AUTOPAR_RUNTIME_CPU_NAIVECONV_H

#include "ThreadPool.h"
#include "autopar/runtime.h"

namespace autopar::runtime {

/// aprt_conv by definition, in either layout.
void naiveConv(const aprt_conv_desc &desc, const void *x, const void *w,
               const void *bias, const void *addend, void *y, ThreadPool &pool);

/// The same for a `filter_gradient`: `gradient` is of Y, `w` is the result.
void naiveFilterGradient(const aprt_conv_desc &desc, const void *x,
                         const void *gradient, void *w, ThreadPool &pool);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_NAIVECONV_H
