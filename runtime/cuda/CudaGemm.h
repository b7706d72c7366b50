//===- CudaGemm.h - The GEMMs of one rank on a GPU --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDAGEMM_H
#define AUTOPAR_RUNTIME_CUDA_CUDAGEMM_H

#include "../core/Device.h"
#include "../core/WordKey.h"
#include "CudaContext.h"
#include "CudaGemmPlan.h"

#include <unordered_map>
#include <vector>

namespace autopar::runtime {

/// Runs aprt_gemm on cuBLASLt, on the stream of the current op. A plan is made
/// at the first call of a description and kept, and so are the addresses of a
/// batch's matrices at the first call of these operands: later calls allocate
/// nothing and may be captured in a graph.
class CudaGemm {
public:
  CudaGemm(const CublasLtApi &library, CudaContext &context, size_t slots)
      : library(library), context(context), packed(slots) {}
  ~CudaGemm();

  Status run(const aprt_gemm_desc &desc, const GemmOperands &operands);
  /// Keeps B's distinct matrices, dense: the library needs no other layout.
  Status pack(const aprt_gemm_desc &desc, const void *b);
  Status mergePacked(const Device::MergeBytes &merge);

private:
  struct Key {
    aprt_gemm_desc desc;
    int64_t addendMode;
    GemmAlignments alignments;
  };
  using Plan = std::unique_ptr<CudaGemmPlan>;
  struct PackedMatrix {
    aprt_gemm_desc desc{};   // normalized
    int64_t matrices = 0;    // 0: nothing was packed here
    bool transposed = false; // [matrices, n, k]
    void *data = nullptr;
  };

  Status checkPacked(const aprt_gemm_desc &normalized) const;
  Status makeHandle();
  Status makePlan(const aprt_gemm_desc &desc, const Key &key, Plan &plan);
  Status runEmptySum(aprt_gemm_desc desc, GemmOperands operands);

  const CublasLtApi &library;
  CudaContext &context;
  LibraryHandle<cublasLtHandle_t, cublasStatus_t> handle; // made when needed
  std::vector<PackedMatrix> packed;
  std::unordered_map<Key, Plan, WordKeyHash, WordKeyEqual> plans;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDAGEMM_H
