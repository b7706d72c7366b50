//===- LibraryCalls.h - Kernels that a library computes ---------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
#define AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H

#include "autopar/Dialect/Dialect.h"
#include <optional>
#include <vector>

namespace autopar {

/// aprt_gemm or aprt_conv for a whole kernel. Operands are numbers of the
/// kernel's operands; -1: none.
struct LibraryCall {
  bool isGemm = true;
  std::vector<int64_t> descriptor;
  size_t slotWord = 0; // where the packed slot stands
  int a = -1, b = -1, bias = -1, addend = -1, result = -1;
};

/// The call that computes the kernel's body, if it is one einsum or convolution
/// followed by an epilogue that the descriptor can say.
std::optional<LibraryCall> matchLibraryCall(KernelOp kernel);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
