//===- CudaConv.h - Convolutions of one rank on a GPU -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDACONV_H
#define AUTOPAR_RUNTIME_CUDA_CUDACONV_H

#include "../core/Device.h"
#include "../core/WordKey.h"
#include "CudaConvPlan.h"

#include <unordered_map>
#include <vector>

namespace autopar::runtime {

/// Runs aprt_conv on cuDNN, on the stream of the current op. A plan is made at
/// the first call of a description and kept: later calls allocate nothing on
/// the device and may be captured in a graph.
class CudaConv {
public:
  CudaConv(const CudnnApi &library, CudaContext &context, size_t slots)
      : library(library), context(context), packed(slots),
        cache(context.options.planCache, hostText()) {}
  ~CudaConv();

  Status run(const aprt_conv_desc &desc, const ConvOperands &operands);
  /// Keeps W in the images' layout.
  Status pack(const aprt_conv_desc &desc, const void *w);
  Status mergePacked(const Device::MergeBytes &merge);

private:
  struct Key {
    aprt_conv_desc desc;
    ConvAlignments alignments;
  };
  using Plan = std::unique_ptr<CudaConvPlan>;
  struct PackedFilter {
    aprt_conv_desc desc{};
    void *data = nullptr; // null: nothing was packed here
  };

  /// What plans depend on beside their graph.
  std::string hostText() const;
  Status useStream();
  Status runEmptySum(const aprt_conv_desc &desc, ConvOperands operands);

  const CudnnApi &library;
  CudaContext &context;
  LibraryHandle<cudnnHandle_t, cudnnStatus_t> handle; // made when needed
  CUstream stream = nullptr;                          // of the handle
  std::vector<PackedFilter> packed;
  const CudnnPlanCache cache;
  std::unordered_map<Key, Plan, WordKeyHash, WordKeyEqual> plans;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDACONV_H
