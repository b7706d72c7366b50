//===- ShallowConv.h - Convolutions that add few terms ----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_SHALLOWCONV_H
#define AUTOPAR_RUNTIME_CPU_SHALLOWCONV_H

#include "../core/ConvShape.h"
#include "ThreadPool.h"
#include "Workspace.h"

namespace autopar::runtime {

/// Whether each output of a convolution of row-major floats adds at most
/// mostShallowTaps terms, as depthwise ones do: those go along the lines of
/// their images, where the library wants channels last.
bool isShallowConv(const aprt_conv_desc &desc);
inline constexpr int64_t mostShallowTaps = 64;

/// Bytes of scratch per thread that shallowConv needs.
int64_t shallowConvScratch(const aprt_conv_desc &desc);

/// aprt_conv for an isShallowConv, with `w` as the caller has it. `workspace`
/// has shallowConvScratch(desc) bytes per thread.
void shallowConv(const aprt_conv_desc &desc, const void *w,
                 const ConvOperands &operands, ThreadPool &pool,
                 const Workspace &workspace);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_SHALLOWCONV_H
