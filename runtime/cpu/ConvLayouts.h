//===- ConvLayouts.h - A convolution's tensors in oneDNN --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_CONVLAYOUTS_H
#define AUTOPAR_RUNTIME_CPU_CONVLAYOUTS_H

#include "OneDnn.h"
#include "autopar/runtime.h"

namespace autopar::runtime {

/// The product of the first `rank` sizes.
int64_t product(const int64_t *sizes, int64_t rank);

struct ConvLayouts {
  dnnl_memory_desc_t x, y, bias;
  dnnl_memory_desc_t weightSource; // row-major
  dnnl_memory_desc_t weights;      // the library is to choose

  /// False if the library has no such type.
  bool init(const OneDnn &library, const aprt_conv_desc &desc);
};

/// What the library asks of a description beside its tensors.
struct ConvSteps {
  dnnl_dims_t dilations, padHigh;
  explicit ConvSteps(const aprt_conv_desc &desc);
};

/// Output channels, or groups, that a layout stores together.
int64_t leadingBlock(const dnnl_memory_desc_t &layout);

/// Whether some output position of a dimension reads padding only: oneDNN 2.6
/// crashes there with channels last.
bool readsOnlyPadding(const aprt_conv_desc &desc);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_CONVLAYOUTS_H
