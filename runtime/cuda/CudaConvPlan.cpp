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

/// result = activation(value + addend + bias); what is between is in float.
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

//===----------------------------------------------------------------------===//
// Where operands are
//===----------------------------------------------------------------------===//

/// Row-major strides of dimensions of these sizes.
static std::vector<int64_t> rowMajor(const std::vector<int64_t> &sizes) {
  std::vector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * sizes[d];
  return strides;
}

Status CudaConvPlan::placeFilter(const Attempt &kind, CudnnConvShape &used) {
  moveFilter.reset();
  if (kind.rowMajor)
    used.wantedFilter = used.filter;
  const CudnnImage &given = packedFilter ? shape.wantedFilter : shape.filter;
  if (!shape.movesFilter() || given.strides == used.wantedFilter.strides)
    return Status::success();
  moveFilter.emplace(library);
  return moveFilter->create(shape.type, given.sizes, given.strides,
                            used.wantedFilter.strides);
}

/// X is copied into a larger image of zeros, or into another order.
Status CudaConvPlan::placeImage(const Attempt &kind, CudnnConvShape &used) {
  moveImage.reset();
  padsImage = kind.padded;
  copiesImage = kind.padded || kind.rowMajor;
  if (!copiesImage)
    return Status::success();
  std::vector<int64_t> &sizes = used.x.sizes;
  if (kind.padded) {
    for (size_t d = 0; d < used.window.padLow.size(); ++d)
      sizes[d + 2] += used.window.padLow[d] + used.window.padHigh[d];
    used.window.padLow.assign(used.window.padLow.size(), 0);
    used.window.padHigh = used.window.padLow;
  }
  used.x.strides = rowMajor(sizes);
  if (desc.channels_last && !kind.rowMajor) { // [n, spatial..., c]
    std::vector<int64_t> order = sizes;
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    used.x.strides = rowMajor(order);
    std::rotate(used.x.strides.begin() + 1, used.x.strides.end() - 1,
                used.x.strides.end());
  }
  imageElements = sizes[0] * used.x.strides[0];
  imageInside = 0;
  for (size_t d = 0; kind.padded && d < shape.window.padLow.size(); ++d)
    imageInside += shape.window.padLow[d] * used.x.strides[d + 2];
  if (shape.readsNothing())
    return Status::success();
  moveImage.emplace(library);
  return moveImage->create(shape.type, shape.x.sizes, shape.x.strides,
                           used.x.strides);
}

Status CudaConvPlan::placeResult(const Attempt &kind, CudnnConvShape &used) {
  moveResult.reset();
  if (!kind.rowMajor)
    return Status::success();
  used.y.strides = rowMajor(used.y.sizes);
  moveResult.emplace(library);
  return moveResult->create(shape.type, shape.y.sizes, used.y.strides,
                            shape.y.strides);
}

/// Of operands with all groups, the first one's; the others are beside it.
void CudaConvPlan::takeOneGroup(CudnnConvShape &used) {
  rounds = desc.groups;
  int64_t in = desc.c / rounds, out = desc.o / rounds;
  xRound = in * used.x.strides[1];
  wRound = out * used.wantedFilter.strides[0];
  yRound = out * used.y.strides[1];
  used.x.sizes[1] = in;
  used.wantedFilter.sizes[0] = used.y.sizes[1] = out;
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// Best first: with fewer copies and launches.
std::vector<CudaConvPlan::Attempt> CudaConvPlan::listAttempts() {
  std::vector<Attempt> attempts;
  for (bool padded : {false, true})
    attempts.push_back({/*fused=*/true, padded, false, false});
  for (bool byGroup : {false, true})
    for (bool rowMajor : {false, true})
      for (bool padded : {false, true})
        attempts.push_back({/*fused=*/false, padded, rowMajor, byGroup});
  return attempts;
}

/// What is left out would be another attempt's call.
bool CudaConvPlan::isOpen(const Attempt &kind) const {
  auto pads = [](const std::vector<int64_t> &sides) {
    return std::any_of(sides.begin(), sides.end(),
                       [](int64_t side) { return side > 0; });
  };
  bool mustPad = shape.readsNothing();
  bool mayPad = pads(shape.window.padLow) || pads(shape.window.padHigh);
  return (!kind.fused || hasEpilogue()) &&
         (kind.padded ? mayPad || mustPad : !mustPad) &&
         (!kind.rowMajor || desc.channels_last) &&
         (!kind.byGroup || desc.groups > 1);
}

/// Looks for engines of one way to do it.
Status CudaConvPlan::attempt(cudnnHandle_t handle,
                             const CudnnNumerics &numerics, const Attempt &kind,
                             bool &found) {
  CudnnConvShape used = shape;
  APRT_TRY(placeFilter(kind, used));
  APRT_TRY(placeImage(kind, used));
  APRT_TRY(placeResult(kind, used));
  rounds = 1;
  if (kind.byGroup)
    takeOneGroup(used);
  convolution = std::make_unique<CudnnGraph>(library, &cache);
  epilogueGraph.reset();
  bool direct = !hasEpilogue() && !kind.rowMajor; // straight to the result
  // The groups of an operand are aligned as its elements are.
  int64_t least = kind.byGroup ? elementBytes(desc.dtype) : 16;
  int64_t value = direct ? int64_t(resultId) : int64_t(valueId);
  CudnnTensor result =
      tensor(value, used.y, std::min(least, direct ? alignments.y : 16));
  if (kind.fused) {
    result.type = CUDNN_DATA_FLOAT;
    result.isVirtual = true;
  }
  APRT_TRY(convolution->addTensor(
      tensor(imageId, used.x,
             std::min<int64_t>(least, copiesImage ? 16 : alignments.x))));
  APRT_TRY(convolution->addTensor(
      tensor(filterId, used.wantedFilter,
             std::min<int64_t>(least, moveFilter ? 16 : alignments.w))));
  APRT_TRY(convolution->addTensor(result));
  APRT_TRY(convolution->addConvolution(imageId, filterId, value, used.window));
  if (kind.fused)
    APRT_TRY(addEpilogue(*convolution, value, /*fused=*/true));
  APRT_TRY(
      convolution->findEngine(handle, numerics, mostWorkspaceBytes, found));
  refusals = convolution->refusals();
  if (!found || kind.fused || !hasEpilogue())
    return Status::success();
  epilogueGraph = std::make_unique<CudnnGraph>(library, &cache);
  APRT_TRY(addEpilogue(*epilogueGraph, valueId, /*fused=*/false));
  return epilogueGraph->findEngine(handle, {}, mostWorkspaceBytes, found);
}

void CudaConvPlan::layOutWorkspace() {
  auto place = [&](int64_t elements) {
    int64_t at = bytes;
    bytes += (elements * elementBytes(desc.dtype) + 255) / 256 * 256;
    return at;
  };
  int64_t scratch =
      std::max(convolution->workspaceBytes(),
               epilogueGraph ? epilogueGraph->workspaceBytes() : 0);
  bytes = (scratch + 255) / 256 * 256;
  filterAt = place(moveFilter ? countWeights(desc) : 0);
  imageAt = place(copiesImage ? imageElements : 0);
  resultAt = place(moveResult ? countOutputs(desc) : 0);
  valueAt = place(epilogueGraph ? countOutputs(desc) : 0);
}

Status CudaConvPlan::create(cudnnHandle_t handle, bool tf32, bool isPacked,
                            const ConvAlignments &given) {
  alignments = given;
  packedFilter = isPacked;
  APRT_TRY(CudnnConvShape::make(desc, shape));
  CudnnNumerics numerics{shape.type != CUDNN_DATA_FLOAT || tf32};
  for (const Attempt &kind : listAttempts()) {
    if (!isOpen(kind))
      continue;
    bool found = false;
    APRT_TRY(attempt(handle, numerics, kind, found));
    if (!found)
      continue;
    layOutWorkspace();
    return Status::success();
  }
  return noEngine();
}

/// With what the library said of the last attempt, the simplest one.
Status CudaConvPlan::noEngine() const {
  std::string text = "cuDNN has no engine for this convolution of " +
                     std::to_string(desc.c) + " channels to " +
                     std::to_string(desc.o) + " in " + dtypeName(desc.dtype);
  for (const std::string &refusal : refusals)
    text += (&refusal == &refusals.front() ? ": " : "; ") + refusal;
  return Status::error(
      text + (refusals.empty() ? ": its heuristics return none" : "") +
      "; engines that compile at run time need NVRTC (pip install "
      "nvidia-cuda-nvrtc), and those of other kinds cuDNN's sub-libraries");
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

Status CudaConvPlan::copyImage(cudnnHandle_t handle, const CudaContext &context,
                               const void *x) const {
  char *image = static_cast<char *>(context.workspace()) + imageAt;
  int64_t element = elementBytes(desc.dtype);
  if (padsImage)
    APRT_CUDA(context.driver, cuMemsetD8Async, deviceAddress(image), 0,
              size_t(imageElements * element), context.currentStream());
  return moveImage ? moveImage->run(handle, x, image + imageInside * element)
                   : Status::success();
}

/// The convolution, alone or with its epilogue, in one round or by group.
Status CudaConvPlan::convolve(cudnnHandle_t handle, const void *x,
                              const void *w, char *value,
                              const ConvOperands &operands,
                              void *workspace) const {
  int64_t element = elementBytes(desc.dtype);
  for (int64_t i = 0; i < rounds; ++i) {
    std::vector<CudnnGraph::Pointer> pointers = {
        {imageId, static_cast<const char *>(x) + i * xRound * element},
        {filterId, static_cast<const char *>(w) + i * wRound * element}};
    char *to = value + i * yRound * element;
    if (epilogueGraph || moveResult) {
      pointers.push_back({valueId, to});
    } else {
      ConvOperands own = operands;
      own.y = to;
      for (CudnnGraph::Pointer pointer : epilogue(own))
        pointers.push_back(pointer);
    }
    APRT_TRY(convolution->run(handle, pointers, workspace));
  }
  return Status::success();
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
  if (copiesImage) {
    APRT_TRY(copyImage(handle, context, x));
    x = workspace + imageAt;
  }
  // Where the convolution alone goes, and where its epilogue takes it from.
  char *value =
      epilogueGraph ? workspace + valueAt : static_cast<char *>(operands.y);
  APRT_TRY(convolve(handle, x, w, moveResult ? workspace + resultAt : value,
                    operands, workspace));
  if (moveResult)
    APRT_TRY(moveResult->run(handle, workspace + resultAt, value));
  if (!epilogueGraph)
    return Status::success();
  std::vector<CudnnGraph::Pointer> pointers = epilogue(operands);
  pointers.push_back({valueId, value});
  return epilogueGraph->run(handle, pointers, workspace);
}

} // namespace autopar::runtime
