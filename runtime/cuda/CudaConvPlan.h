//===- CudaConvPlan.h - One convolution on cuDNN ----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDACONVPLAN_H
#define AUTOPAR_RUNTIME_CUDA_CUDACONVPLAN_H

#include "../core/ConvShape.h"
#include "CudaContext.h"
#include "CudnnGraph.h"

#include <memory>
#include <optional>

namespace autopar::runtime {

/// A copy of a tensor into another layout.
class CudnnTransform {
public:
  explicit CudnnTransform(const CudnnApi &library) : library(library) {}

  Status create(cudnnDataType_t type, const std::vector<int64_t> &sizes,
                const std::vector<int64_t> &from,
                const std::vector<int64_t> &to);
  Status run(cudnnHandle_t handle, const void *from, void *to) const;

private:
  using Tensor = LibraryHandle<cudnnTensorDescriptor_t, cudnnStatus_t>;
  Status createTensor(cudnnDataType_t type, const std::vector<int64_t> &sizes,
                      const std::vector<int64_t> &strides,
                      Tensor &tensor) const;

  const CudnnApi &library;
  Tensor source, result;
};

/// An image or filter as the library sees it: [n, c, spatial...], at least two
/// spatial dimensions, strides in elements.
struct CudnnImage {
  std::vector<int64_t> sizes, strides;
};

/// Of each pointer: a power of two that divides it.
struct ConvAlignments {
  int64_t x, w, bias, addend, y;
};

/// The convolution with the geometry that the library takes: no negative
/// padding, two spatial dimensions or more.
struct CudnnConvShape {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  CudnnImage x, y;
  CudnnImage filter;       // as it is given: row-major
  CudnnImage wantedFilter; // in the images' layout
  CudnnWindow window;
  int64_t xOffset = 0; // elements before the part of X that is not cropped

  /// Fails for types that the library does not have.
  static Status make(const aprt_conv_desc &desc, CudnnConvShape &shape);
  bool movesFilter() const;
  /// X has no pixels left, or had none: only padding is read.
  bool readsNothing() const;
};

/// One convolution with its epilogue: a graph that does all, where the library
/// has an engine for it; else the convolution and then a graph of the epilogue.
/// Copies before it bring the filter to the layout of the image, and
/// pads the image where no engine has such a padding. For images with channels
/// last it may convolve row-major copies, and the last resort is to convolve
/// one group of channels after the other: images without padding and groups are
/// what every engine takes.
class CudaConvPlan {
public:
  static constexpr int64_t mostWorkspaceBytes = 256 << 20;

  CudaConvPlan(const CudnnApi &library, const CudnnPlanCache &cache,
               const aprt_conv_desc &desc)
      : library(library), cache(cache), desc(desc) {}

  /// `packedFilter`: W comes as CudnnConvShape::wantedFilter.
  Status create(cudnnHandle_t handle, bool tf32, bool packedFilter,
                const ConvAlignments &alignments);
  int64_t workspaceBytes() const { return bytes; }

  /// Puts the work on the handle's stream, which is `stream`.
  Status run(cudnnHandle_t handle, const CudaContext &context,
             const ConvOperands &operands) const;

private:
  struct Attempt {
    bool fused, padded, rowMajor, byGroup;
  };
  static std::vector<Attempt> listAttempts();
  bool isOpen(const Attempt &kind) const;
  Status attempt(cudnnHandle_t handle, const CudnnNumerics &numerics,
                 const Attempt &kind, bool &found);
  Status addEpilogue(CudnnGraph &graph, int64_t value, bool fused) const;
  Status addEpilogueTensors(CudnnGraph &graph) const;
  Status placeFilter(const Attempt &kind, CudnnConvShape &used);
  Status placeImage(const Attempt &kind, CudnnConvShape &used);
  Status placeResult(const Attempt &kind, CudnnConvShape &used);
  void takeOneGroup(CudnnConvShape &used);
  Status noEngine() const;
  void layOutWorkspace();
  CudnnTensor tensor(int64_t id, const CudnnImage &image,
                     int64_t alignment) const;
  bool hasEpilogue() const {
    return desc.bias || desc.addend || desc.activation != APRT_ACT_NONE;
  }
  std::vector<CudnnGraph::Pointer> epilogue(const ConvOperands &operands) const;
  Status convolve(cudnnHandle_t handle, const void *x, const void *w,
                  char *value, const ConvOperands &operands,
                  void *workspace) const;
  Status copyImage(cudnnHandle_t handle, const CudaContext &context,
                   const void *x) const;

  const CudnnApi &library;
  const CudnnPlanCache &cache;
  const aprt_conv_desc desc;
  CudnnConvShape shape;
  ConvAlignments alignments{};
  bool packedFilter = false;
  std::optional<CudnnTransform> moveFilter, moveImage, moveResult;
  bool copiesImage = false;  // X runs from a copy
  bool padsImage = false;    // zeros surround the copy
  int64_t imageElements = 0; // of the copy
  int64_t imageInside = 0;   // elements before the part that is not padding
  std::unique_ptr<CudnnGraph> convolution, epilogueGraph;
  /// Convolutions, one after the other, and elements from one's operands to the
  /// next one's.
  int64_t rounds = 1, xRound = 0, wRound = 0, yRound = 0;
  std::vector<std::string> refusals;
  int64_t bytes = 0; // of the workspace: scratch, then these parts
  int64_t filterAt = 0, imageAt = 0, resultAt = 0, valueAt = 0;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDACONVPLAN_H
