//===- CudnnFinalize.cpp - What descriptors of the emulated cuDNN mean ----===//

#include "CudnnObjects.h"

#include <algorithm>

namespace autopar::runtime::emulated {

static cudnnStatus_t bad(const std::string &text) {
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM, text);
}

/// A final descriptor of the type that an attribute names.
static CudnnObject *otherObject(const CudnnObject &object,
                                cudnnBackendAttributeName_t name,
                                cudnnBackendDescriptorType_t type) {
  CudnnObject *other =
      cudnnState().objects.find(object.value<cudnnBackendDescriptor_t>(name));
  return other && other->isFinal && other->type == type ? other : nullptr;
}

static cudnnStatus_t notFinal(const char *what) {
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                     std::string(what) +
                         " is not alive, not final or of another type");
}

static cudnnStatus_t finalizeTensor(CudnnObject &object) {
  GraphTensor &tensor = object.tensor;
  tensor.id = object.value<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID);
  tensor.type = object.value<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  tensor.alignment = object.value<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  tensor.sizes = object.values<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  tensor.strides = object.values<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  tensor.isVirtual = object.value<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0;
  if (tensor.type != CUDNN_DATA_FLOAT && tensor.type != CUDNN_DATA_HALF &&
      tensor.type != CUDNN_DATA_BFLOAT16)
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE,
                       "a tensor has a type that is not emulated");
  if (tensor.sizes.size() != tensor.strides.size())
    return bad("a tensor has " + std::to_string(tensor.sizes.size()) +
               " sizes and " + std::to_string(tensor.strides.size()) +
               " strides");
  for (const auto *values : {&tensor.sizes, &tensor.strides})
    for (int64_t value : *values)
      if (value < 1)
        return bad("a tensor has a size or stride of " + std::to_string(value));
  if (tensor.alignment < 1 || tensor.alignment % tensor.elementBytes())
    return bad("a tensor's alignment of " + std::to_string(tensor.alignment) +
               " does not fit its type");
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalizeWindow(CudnnObject &object) {
  GraphOperation &window = object.operation;
  size_t rank =
      size_t(object.value<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  window.strides =
      object.values<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  window.dilations = object.values<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  window.padLow = object.values<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  window.padHigh = object.values<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  for (const auto *values :
       {&window.strides, &window.dilations, &window.padLow, &window.padHigh})
    if (values->size() != rank)
      return bad("a convolution's parameters are not of its rank");
  for (size_t d = 0; d < rank; ++d)
    if (window.strides[d] < 1 || window.dilations[d] < 1 ||
        window.padLow[d] < 0 || window.padHigh[d] < 0)
      return bad("a convolution has a negative padding, or a stride or "
                 "dilation below 1");
  if (object.value<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) !=
          CUDNN_DATA_FLOAT ||
      object.value<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) !=
          CUDNN_CROSS_CORRELATION)
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "a convolution's mode or type is not emulated");
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t checkConvolution(const GraphOperation &window,
                                      const GraphTensor &x,
                                      const GraphTensor &w,
                                      const GraphTensor &y) {
  size_t rank = window.strides.size();
  if (x.sizes.size() != rank + 2 || w.sizes.size() != rank + 2 ||
      y.sizes.size() != rank + 2 || rank < 2)
    return bad("a convolution's tensors are not of its rank");
  if (x.sizes[0] != y.sizes[0] || w.sizes[0] != y.sizes[1] ||
      x.sizes[1] % w.sizes[1] || y.sizes[1] % (x.sizes[1] / w.sizes[1]))
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                       "a convolution's batch, channels or groups disagree");
  for (size_t d = 0; d < rank; ++d) {
    int64_t padded = x.sizes[d + 2] + window.padLow[d] + window.padHigh[d];
    int64_t reach = (w.sizes[d + 2] - 1) * window.dilations[d] + 1;
    if (padded < reach ||
        (padded - reach) / window.strides[d] + 1 != y.sizes[d + 2])
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                         "a convolution's result has a wrong size");
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalizeConvolution(CudnnObject &object) {
  CudnnObject *window =
      otherObject(object, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                  CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  if (!window)
    return notFinal("a convolution's window");
  CudnnObject *tensors[3];
  cudnnBackendAttributeName_t names[] = {
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
      CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y};
  for (int i = 0; i < 3; ++i) {
    tensors[i] = otherObject(object, names[i], CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    if (!tensors[i])
      return notFinal("a convolution's tensor");
    object.tensors.push_back(tensors[i]->tensor);
  }
  if (object.value<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA) !=
          1 ||
      object.value<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA) != 0)
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "a convolution's alpha or beta is not emulated");
  object.operation = window->operation;
  object.operation.isConvolution = true;
  object.operation.x = tensors[0]->tensor.id;
  object.operation.w = tensors[1]->tensor.id;
  object.operation.y = tensors[2]->tensor.id;
  return checkConvolution(object.operation, tensors[0]->tensor,
                          tensors[1]->tensor, tensors[2]->tensor);
}

static cudnnStatus_t finalizePointwise(CudnnObject &object) {
  CudnnObject *mode =
      otherObject(object, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
                  CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  CudnnObject *x = otherObject(object, CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                               CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  CudnnObject *y = otherObject(object, CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
                               CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  CudnnObject *b = otherObject(object, CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                               CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  if (!mode || !x || !y)
    return notFinal("a pointwise operation's tensor or mode");
  object.operation.mode = mode->operation.mode;
  bool binary = object.operation.mode == CUDNN_POINTWISE_ADD;
  if (binary != (b != nullptr))
    return bad("a pointwise operation has too many or too few tensors");
  object.operation.x = x->tensor.id;
  object.operation.b = b ? b->tensor.id : 0;
  object.operation.y = y->tensor.id;
  object.tensors = {x->tensor, y->tensor};
  if (b)
    object.tensors.push_back(b->tensor);
  for (const GraphTensor &tensor : object.tensors) {
    bool fits = tensor.sizes.size() == y->tensor.sizes.size();
    for (size_t d = 0; fits && d < tensor.sizes.size(); ++d)
      fits = tensor.sizes[d] == y->tensor.sizes[d] || tensor.sizes[d] == 1;
    if (!fits)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH,
                         "a pointwise operation's tensors do not fit");
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalizeGraph(CudnnObject &object) {
  object.handle = object.value<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  if (!cudnnState().handles.find(object.handle))
    return refuseCudnn(CUDNN_STATUS_NOT_INITIALIZED,
                       "the handle of a graph is not alive");
  object.graph = std::make_shared<OperationGraph>();
  for (cudnnBackendDescriptor_t each :
       object.values<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS)) {
    CudnnObject *operation = cudnnState().objects.find(each);
    if (!operation || !operation->isFinal || operation->tensors.empty())
      return notFinal("an operation of a graph");
    object.graph->operations.push_back(operation->operation);
    for (const GraphTensor &tensor : operation->tensors) {
      auto [place, isNew] = object.graph->tensors.emplace(tensor.id, tensor);
      if (!isNew && (place->second.sizes != tensor.sizes ||
                     place->second.strides != tensor.strides ||
                     place->second.isVirtual != tensor.isVirtual))
        return refuseCudnn(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES,
                           "two tensors of a graph have the id " +
                               std::to_string(tensor.id));
    }
  }
  const OperationGraph &graph = *object.graph;
  bool convolves =
      !graph.operations.empty() && graph.operations.front().isConvolution;
  if (convolves && isPlanted(Planted::cudnnGraph))
    return refusePlanted(Planted::cudnnGraph);
  if (convolves && isPlanted(Planted::cudnnGrouped) &&
      isGrouped(graph, graph.operations.front()))
    return refusePlanted(Planted::cudnnGrouped);
  std::string problem = graphProblem(*object.graph);
  return problem.empty()
             ? CUDNN_STATUS_SUCCESS
             : refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN, problem);
}

static cudnnStatus_t finalizeHeuristic(CudnnObject &object) {
  CudnnObject *graph =
      otherObject(object, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                  CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (!graph)
    return notFinal("the graph of a heuristic");
  object.graph = graph->graph;
  if (isPlanted(Planted::cudnnHeuristic) &&
      object.graph->operations.front().isConvolution)
    return planted(Planted::cudnnHeuristic)
               ? refusePlanted(Planted::cudnnHeuristic)
               : CUDNN_STATUS_SUCCESS; // that knows no engine
  object.results = enginesFor(*object.graph);
  if (object.value<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE) ==
      CUDNN_HEUR_MODE_FALLBACK) // only what is sure to work
    object.results.erase(std::remove(object.results.begin(),
                                     object.results.end(), tensorCoreEngine),
                         object.results.end());
  return CUDNN_STATUS_SUCCESS;
}

/// A plan of an earlier start: nothing is looked for or compiled.
static cudnnStatus_t readPlan(CudnnObject &object,
                              const std::vector<char> &text) {
  object.handle = object.value<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  object.graph = std::make_shared<OperationGraph>();
  return readPlan(std::string(text.begin(), text.end()), *object.graph,
                  object.engine)
             ? CUDNN_STATUS_SUCCESS
             : bad("the text of a plan is none");
}

static cudnnStatus_t finalizePlan(CudnnObject &object) {
  if (std::vector<char> text =
          object.values<char>(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
      !text.empty())
    return readPlan(object, text);
  CudnnObject *configuration =
      otherObject(object, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                  CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  if (!configuration)
    return notFinal("the engine configuration of a plan");
  object.handle = object.value<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
  if (!cudnnState().handles.find(object.handle))
    return refuseCudnn(CUDNN_STATUS_NOT_INITIALIZED,
                       "the handle of a plan is not alive");
  object.graph = configuration->graph;
  object.engine = configuration->engine;
  if (!object.graph->operations.front().isConvolution)
    return CUDNN_STATUS_SUCCESS;
  bool isFused = object.graph->operations.size() > 1;
  if (isPlanted(Planted::cudnnFused) && isFused)
    return refusePlanted(Planted::cudnnFused);
  if (isPlanted(Planted::cudnnFirstPlan) && object.engine == plainEngine)
    return refusePlanted(Planted::cudnnFirstPlan);
  if (isPlanted(Planted::cudnnPlan))
    return refusePlanted(Planted::cudnnPlan);
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t finalizePack(CudnnObject &object) {
  object.ids = object.values<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  object.pointers =
      object.values<const void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  object.workspace = object.value<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  return object.ids.size() == object.pointers.size()
             ? CUDNN_STATUS_SUCCESS
             : bad("a variant pack has " + std::to_string(object.ids.size()) +
                   " ids and " + std::to_string(object.pointers.size()) +
                   " pointers");
}

static cudnnStatus_t makeSense(CudnnObject &object) {
  switch (object.type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return finalizeTensor(object);
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    return finalizeWindow(object);
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    return finalizeConvolution(object);
  case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    object.operation.mode =
        object.value<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
    return CUDNN_STATUS_SUCCESS;
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
    return finalizePointwise(object);
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return finalizeGraph(object);
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
    return finalizeHeuristic(object);
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return finalizePlan(object);
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    return finalizePack(object);
  default:
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "a descriptor of type " + std::to_string(object.type) +
                           " is not finalized by hand here");
  }
}

cudnnStatus_t finalizeCudnn(CudnnObject &object) {
  std::string missing = missingCudnnAttribute(object);
  if (!missing.empty())
    return bad(missing + " is not set");
  cudnnStatus_t status = makeSense(object);
  object.isFinal = status == CUDNN_STATUS_SUCCESS;
  return status;
}

} // namespace autopar::runtime::emulated
