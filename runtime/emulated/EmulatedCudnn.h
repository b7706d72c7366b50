//===- EmulatedCudnn.h - cuDNN on the emulated GPU --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_EMULATEDCUDNN_H
#define AUTOPAR_RUNTIME_EMULATED_EMULATEDCUDNN_H

#include "../cuda/CudnnApi.h"

namespace autopar::runtime::emulated {

/// Fills the table with functions that check their arguments as the library
/// does, with its statuses, and compute on the host when their stream's turn
/// comes. cudnnGetLastErrorString gives the text of the last refusal.
///
/// Graphs are a convolution and pointwise operations after it, or those alone.
/// As real ones, the engines do not take everything: in float only bias, addend
/// and ReLU are fused to a convolution, padding is the same on both sides, and
/// images in groups are row-major.
void bindEmulated(CudnnApi &api);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_EMULATEDCUDNN_H
