//===- CudaConvPlan.cpp - One convolution on cuDNN ------------------------===//

#include "CudaConvPlan.h"

#include "../core/DataType.h"

#include <algorithm>

namespace autopar::runtime {

namespace {
/// Names of the tensors of a plan's graphs.
enum TensorId : int64_t {
  imageId = 1,
  filterId,
  biasId,
  addendId,
  resultId,
  valueId, // the convolution before the epilogue
  firstVirtualId
};
} // namespace

static cudnnPointwiseMode_t pointwiseMode(int64_t activation) {
  switch (activation) {
  case APRT_ACT_RELU:
    return CUDNN_POINTWISE_RELU_FWD;
  case APRT_ACT_GELU_ERF:
    return CUDNN_POINTWISE_GELU_FWD;
  case APRT_ACT_GELU_TANH:
    return CUDNN_POINTWISE_GELU_APPROX_TANH_FWD;
  case APRT_ACT_TANH:
    return CUDNN_POINTWISE_TANH_FWD;
  case APRT_ACT_SIGMOID:
    return CUDNN_POINTWISE_SIGMOID_FWD;
  default:
    return CUDNN_POINTWISE_SWISH_FWD;
  }
}

CudnnTensor CudaConvPlan::tensor(int64_t id, const CudnnImage &image,
                                 int64_t alignment) const {
  return {id, shape.type, image.sizes, image.strides, alignment, false};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

Status CudaConvPlan::addEpilogueTensors(CudnnGraph &graph) const {
  if (desc.addend)
    APRT_TRY(graph.addTensor(tensor(addendId, shape.y, alignments.addend)));
  if (!desc.bias)
    return Status::success();
  CudnnImage bias;
  bias.sizes.assign(shape.y.sizes.size(), 1);
  bias.sizes[1] = desc.o;
  bias.strides.assign(bias.sizes.size(), desc.channels_last ? desc.o : 1);
  bias.strides[0] = desc.o;
  bias.strides[1] = 1;
  return graph.addTensor(tensor(biasId, bias, alignments.bias));
}

/// result = activation(value + addend + bias); what lies between is in float.
Status CudaConvPlan::addEpilogue(CudnnGraph &graph, int64_t value,
                                 bool fused) const {
  struct Step {
    cudnnPointwiseMode_t mode;
    int64_t other;
  };
  std::vector<Step> steps;
  if (desc.addend)
    steps.push_back({CUDNN_POINTWISE_ADD, addendId});
  if (desc.bias)
    steps.push_back({CUDNN_POINTWISE_ADD, biasId});
  if (desc.activation != APRT_ACT_NONE)
    steps.push_back({pointwiseMode(desc.activation), 0});
  APRT_TRY(addEpilogueTensors(graph));
  APRT_TRY(graph.addTensor(tensor(resultId, shape.y, alignments.y)));
  CudnnTensor between = tensor(valueId, shape.y, 16);
  if (!fused)
    APRT_TRY(graph.addTensor(between));
  between.type = CUDNN_DATA_FLOAT;
  between.isVirtual = true;
  for (size_t i = 0; i < steps.size(); ++i) {
    bool isLast = i + 1 == steps.size();
    between.id = firstVirtualId + int64_t(i);
    if (!isLast)
      APRT_TRY(graph.addTensor(between));
    int64_t to = isLast ? int64_t(resultId) : between.id;
    APRT_TRY(graph.addPointwise(steps[i].mode, value, steps[i].other, to));
    value = to;
  }
  return Status::success();
}

/// The shape after X was copied into a larger image of zeros.
Status CudaConvPlan::padImage(CudnnConvShape &padded) {
  padded = shape;
  for (size_t d = 0; d < shape.window.padLow.size(); ++d)
    padded.x.sizes[d + 2] += shape.window.padLow[d] + shape.window.padHigh[d];
  std::fill(padded.window.padLow.begin(), padded.window.padLow.end(), 0);
  padded.window.padHigh = padded.window.padLow;
  // The strides of the dense image of that size, in X's order of dimensions.
  aprt_conv_desc dense = desc;
  size_t missing = shape.x.sizes.size() - 2 - size_t(desc.spatial_rank);
  for (int64_t d = 0; d < desc.spatial_rank; ++d) {
    dense.in[d] = padded.x.sizes[size_t(d) + 2 + missing];
    dense.pad_low[d] = dense.pad_high[d] = 0;
  }
  CudnnConvShape image;
  APRT_TRY(CudnnConvShape::make(dense, image));
  padded.x.strides = image.x.strides;
  padded.xOffset = 0;
  paddedOffset = 0;
  for (size_t d = 0; d < shape.window.padLow.size(); ++d)
    paddedOffset += shape.window.padLow[d] * padded.x.strides[d + 2];
  paddedBytes = countInputs(dense) * elementBytes(desc.dtype);
  if (*std::min_element(shape.x.sizes.begin(), shape.x.sizes.end()) <= 0)
    return Status::success(); // nothing but padding is read
  padInput.emplace(library);
  return padInput->create(shape.type, shape.x.sizes, shape.x.strides,
                          padded.x.strides);
}

/// Looks for engines of one way to do it.
Status CudaConvPlan::attempt(cudnnHandle_t handle,
                             const CudnnNumerics &numerics, const Attempt &kind,
                             bool &found) {
  padInput.reset();
  paddedBytes = 0;
  CudnnConvShape used = shape;
  if (kind.padded)
    APRT_TRY(padImage(used));
  convolution = std::make_unique<CudnnGraph>(library);
  epilogueGraph.reset();
  bool split = hasEpilogue() && !kind.fused;
  int64_t value = hasEpilogue() ? int64_t(valueId) : int64_t(resultId);
  int64_t imageAlignment = kind.padded ? 16 : alignments.x;
  int64_t filterAlignment = moveFilter ? 16 : alignments.w;
  CudnnTensor direct =
      tensor(value, shape.y, value == resultId ? alignments.y : 16);
  if (hasEpilogue() && kind.fused) {
    direct.type = CUDNN_DATA_FLOAT;
    direct.isVirtual = true;
  }
  APRT_TRY(convolution->addTensor(tensor(imageId, used.x, imageAlignment)));
  APRT_TRY(convolution->addTensor(
      tensor(filterId, shape.wantedFilter, filterAlignment)));
  APRT_TRY(convolution->addTensor(direct));
  APRT_TRY(convolution->addConvolution(imageId, filterId, value, used.window));
  if (hasEpilogue() && kind.fused)
    APRT_TRY(addEpilogue(*convolution, value, /*fused=*/true));
  APRT_TRY(
      convolution->findEngine(handle, numerics, mostWorkspaceBytes, found));
  if (!found || !split)
    return Status::success();
  epilogueGraph = std::make_unique<CudnnGraph>(library);
  APRT_TRY(addEpilogue(*epilogueGraph, valueId, /*fused=*/false));
  return epilogueGraph->findEngine(handle, {}, mostWorkspaceBytes, found);
}

void CudaConvPlan::layOutWorkspace(bool split) {
  auto place = [&](int64_t size) {
    int64_t at = bytes;
    bytes += (size + 255) / 256 * 256;
    return at;
  };
  bytes = 0;
  place(std::max(convolution->workspaceBytes(),
                 epilogueGraph ? epilogueGraph->workspaceBytes() : 0));
  int64_t element = elementBytes(desc.dtype);
  filterAt = place(moveFilter ? countWeights(desc) * element : 0);
  imageAt = place(paddedBytes);
  valueAt = place(split ? countOutputs(desc) * element : 0);
}

Status CudaConvPlan::create(cudnnHandle_t handle, bool tf32, bool packedFilter,
                            const ConvAlignments &given) {
  alignments = given;
  APRT_TRY(CudnnConvShape::make(desc, shape));
  if (shape.movesFilter() && !packedFilter) {
    moveFilter.emplace(library);
    APRT_TRY(moveFilter->create(shape.type, shape.filter.sizes,
                                shape.filter.strides,
                                shape.wantedFilter.strides));
  }
  CudnnNumerics numerics{shape.type != CUDNN_DATA_FLOAT || tf32};
  bool nothing =
      *std::min_element(shape.x.sizes.begin(), shape.x.sizes.end()) <= 0;
  for (bool fused : {true, false})
    for (bool padded : {false, true}) {
      if ((!fused && !hasEpilogue()) || (nothing && !padded) ||
          (padded && shape.padsEvenly() && !nothing))
        continue;
      bool found = false;
      APRT_TRY(attempt(handle, numerics, {fused, padded}, found));
      if (!found)
        continue;
      layOutWorkspace(epilogueGraph != nullptr);
      return Status::success();
    }
  return Status::error("cuDNN has no engine for this convolution of " +
                       std::to_string(desc.c) + " channels to " +
                       std::to_string(desc.o) + " in " + dtypeName(desc.dtype));
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::vector<CudnnGraph::Pointer>
CudaConvPlan::epilogue(const ConvOperands &operands) const {
  std::vector<CudnnGraph::Pointer> pointers = {{resultId, operands.y}};
  if (desc.bias)
    pointers.push_back({biasId, operands.bias});
  if (desc.addend)
    pointers.push_back({addendId, operands.addend});
  return pointers;
}

Status CudaConvPlan::run(cudnnHandle_t handle, const CudaContext &context,
                         const ConvOperands &operands) const {
  char *workspace = static_cast<char *>(context.workspace());
  int64_t element = elementBytes(desc.dtype);
  const void *w = operands.w;
  const void *x =
      static_cast<const char *>(operands.x) + shape.xOffset * element;
  if (moveFilter) {
    APRT_TRY(moveFilter->run(handle, w, workspace + filterAt));
    w = workspace + filterAt;
  }
  if (paddedBytes) {
    APRT_CUDA(context.driver, cuMemsetD8Async,
              deviceAddress(workspace + imageAt), 0, size_t(paddedBytes),
              context.currentStream());
    if (padInput)
      APRT_TRY(padInput->run(handle, x,
                             workspace + imageAt + paddedOffset * element));
    x = workspace + imageAt;
  }
  std::vector<CudnnGraph::Pointer> pointers = {{imageId, x}, {filterId, w}};
  if (!epilogueGraph) {
    for (CudnnGraph::Pointer pointer : epilogue(operands))
      pointers.push_back(pointer);
    return convolution->run(handle, pointers, workspace);
  }
  pointers.push_back({valueId, workspace + valueAt});
  APRT_TRY(convolution->run(handle, pointers, workspace));
  pointers = epilogue(operands);
  pointers.push_back({valueId, workspace + valueAt});
  return epilogueGraph->run(handle, pointers, workspace);
}

} // namespace autopar::runtime
