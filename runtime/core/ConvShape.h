//===- ConvShape.h - Descriptions of convolutions ---------------*- C++ -*-===//
//
// Every device checks and simplifies an aprt_conv_desc with these functions
// before it looks for a library's own form of the convolution.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CORE_CONVSHAPE_H
#define AUTOPAR_RUNTIME_CORE_CONVSHAPE_H

#include "Status.h"
#include "autopar/runtime.h"

#include <cstddef>

namespace autopar::runtime {

/// The operands of one call. W may be null when its slot was packed.
struct ConvOperands {
  const void *x = nullptr;
  const void *w = nullptr;
  const void *bias = nullptr;
  const void *addend = nullptr;
  void *y = nullptr;
};

/// Checks that a description is valid and its slot is below `slots`.
Status checkConv(const aprt_conv_desc &desc, size_t slots);

/// Returns the description with zeros past its spatial dimensions, so that
/// equal convolutions have equal words.
aprt_conv_desc canonicalConv(const aprt_conv_desc &desc);

/// Returns the same convolution without dimensions that have one position and a
/// window of one, and with dimensions of size 1 in front if fewer than two are
/// left. For example, a convolution over a line becomes one over an image of
/// height 1. Nothing moves in memory.
aprt_conv_desc imageConv(const aprt_conv_desc &desc);

/// Return the number of elements of X, W and Y.
int64_t countInputs(const aprt_conv_desc &desc);
int64_t countWeights(const aprt_conv_desc &desc);
int64_t countOutputs(const aprt_conv_desc &desc);

/// Returns the padding after dimension `d` that gives `out` positions. For a
/// local slice it may differ from that of the description, and it may be
/// negative.
int64_t effectivePadHigh(const aprt_conv_desc &desc, int64_t d);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_CONVSHAPE_H
