//===- LibraryCalls.h - Kernels that a library computes ---------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
#define AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H

#include "autopar/Dialect/Dialect.h"
#include <vector>

namespace autopar {

/// The descriptor of aprt_gemm or aprt_conv as words.
struct LibraryCall {
  std::vector<int64_t> descriptor;
  size_t slotWord = 0; // where the packed slot stands
};

/// Of a kernel with `library`. An error if its buffers have layouts that the
/// call cannot say.
mlir::FailureOr<LibraryCall> describeLibraryCall(KernelOp kernel);

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_COMMON_LIBRARYCALLS_H
