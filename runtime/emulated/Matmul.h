//===- Matmul.h - One GEMM of the emulated cuBLASLt -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_MATMUL_H
#define AUTOPAR_RUNTIME_EMULATED_MATMUL_H

#include "../cuda/CublasLtApi.h"
#include "EmulatedDevice.h"

namespace autopar::runtime::emulated {

/// What a layout descriptor says, with the library's defaults.
struct MatrixLayout {
  cudaDataType type = CUDA_R_32F;
  int32_t order = CUBLASLT_ORDER_COL;
  uint64_t rows = 0, columns = 0;
  int64_t leading = 0;
  int32_t batches = 1;
  int64_t batchStride = 0;
  uint32_t mode = CUBLASLT_BATCH_MODE_STRIDED;

  bool byAddress() const { return mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY; }
  bool byColumn() const { return order == CUBLASLT_ORDER_COL; }
  uint64_t lines() const { return byColumn() ? columns : rows; }
  uint64_t lineLength() const { return byColumn() ? rows : columns; }
  int64_t rowStride() const { return byColumn() ? 1 : leading; }
  int64_t columnStride() const { return byColumn() ? leading : 1; }
};

/// What an operation descriptor says.
struct MatmulOperation {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale = CUDA_R_32F;
  int32_t transposeA = CUBLAS_OP_N, transposeB = CUBLAS_OP_N;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = nullptr;

  bool hasBias() const { return epilogue & CUBLASLT_EPILOGUE_BIAS; }
};

/// D = activation(alpha * op(A) op(B) + beta * C + bias per row).
struct Matmul {
  MatmulOperation operation;
  MatrixLayout a, b, c, d;

  uint64_t depth() const {
    return operation.transposeA == CUBLAS_OP_N ? a.columns : a.rows;
  }
};

/// The operands of a call; of a batch by address the arrays of addresses.
struct MatmulOperands {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void *d = nullptr;
  double alpha = 1, beta = 0;
};

int64_t elementBytes(cudaDataType type);

/// Success, or the library's status for such a GEMM and why in `text`.
cublasStatus_t checkMatmul(const Matmul &matmul, std::string &text);

/// The bytes that a call touches; C only if it is read. Addresses must be in
/// memory already: later than the real library wants them.
struct MatmulRanges {
  std::vector<Range> read, written;
};
MatmulRanges matmulRanges(const Matmul &matmul, const MatmulOperands &operands);
/// Whether the arrays of addresses, if the batch has them, are in memory.
bool addressesAreKnown(const Matmul &matmul, const MatmulOperands &operands);

/// Where matrix `i` of a batch begins; `base` as in the operands.
CUdeviceptr matrixAddress(const MatrixLayout &layout, const void *base,
                          int64_t i);

/// Computes, when the work's turn has come.
void runMatmul(const Matmul &matmul, const MatmulOperands &operands);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_MATMUL_H
