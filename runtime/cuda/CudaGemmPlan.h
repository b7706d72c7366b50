//===- CudaGemmPlan.h - One GEMM on cuBLASLt --------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAGEMMPLAN_H
#define AUTOPAR_RUNTIME_CUDA_CUDAGEMMPLAN_H

#include "../core/GemmShape.h"
#include "../core/WordKey.h"
#include "CublasLtApi.h"
#include "CudaContext.h"
#include "LibraryHandle.h"

#include <unordered_map>

namespace autopar::runtime {

/// Of each pointer of a GEMM: a power of two that divides it.
struct GemmAlignments {
  int64_t a, b, bias, addend, c;
};

/// The descriptors and the algorithm of one GEMM. cuBLASLt is column-major:
/// it computes C^T = B^T A^T, in which the columns of our C are rows, and a
/// bias of ours is one value per row, as its epilogues have it.
class CudaGemmPlan {
public:
  /// What the GEMM's algorithm may use of the workspace.
  static constexpr uint64_t mostWorkspaceBytes = 32 << 20;

  CudaGemmPlan(const CublasLtApi &library, const aprt_gemm_desc &normalized,
               AddendMode addendMode)
      : library(library), desc(normalized), addendMode(addendMode) {}

  /// Makes the descriptors and asks the library for its best algorithm. Fails
  /// for a GEMM that the library does not have.
  Status create(cublasLtHandle_t handle, bool tf32,
                const GemmAlignments &alignments);
  size_t workspaceBytes() const { return bytes; }

  /// Puts the GEMM on the context's current stream. New operands may need
  /// memory, which cannot be had while a step is captured.
  Status run(cublasLtHandle_t handle, const GemmOperands &operands,
             CudaContext &context);
  /// Gives back what run() has needed.
  void release(CudaContext &context);

private:
  template <typename T> using Owned = LibraryHandle<T, cublasStatus_t>;

  Status createOperation(bool tf32);
  Status createLayouts(bool &areKnown);
  Status createLayout(int64_t rows, int64_t columns, int64_t rowStride,
                      int64_t columnStride, int64_t batchStride,
                      cublasOperation_t &operation,
                      Owned<cublasLtMatrixLayout_t> &layout, bool &isKnown);
  Status chooseAlgorithm(cublasLtHandle_t handle,
                         const GemmAlignments &alignments, bool &isFound);
  Status tryBatch(cublasLtHandle_t handle, const GemmAlignments &alignments,
                  bool &isFound);
  void takeStridedBatch();
  void takeBatchByAddress();
  Status findAddresses(const GemmOperands &operands, CudaContext &context,
                       void *&found);
  Status call(cublasLtHandle_t handle, const GemmOperands &operands,
              CudaContext &context) const;

  const CublasLtApi &library;
  aprt_gemm_desc desc;
  const AddendMode addendMode;
  aprt_gemm_desc outer{}; // batch dimensions that the library has no stride of
  int64_t matrices = 1;   // of one call: [matrices] with these strides, or
  int64_t aStep = 0, bStep = 0, cStep = 0;
  bool byAddress = false; // each of `outer` given by its address
  /// For the operands of a call, in the GPU's memory: the addresses of B's
  /// matrices, A's, the addend's and C's, `matrices` each.
  std::unordered_map<GemmOperands, void *, WordKeyHash, WordKeyEqual> addresses;
  Owned<cublasLtMatmulDesc_t> operation;
  Owned<cublasLtMatrixLayout_t> aLayout, bLayout, cLayout;
  cublasLtMatmulAlgo_t algorithm{};
  size_t bytes = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAGEMMPLAN_H
