//===- EmulatedCudnn.cpp - cuDNN on the emulated GPU ----------------------===//

#include "EmulatedCudnn.h"

#include "CudnnObjects.h"
#include "CudnnRun.h"

#include <algorithm>

namespace autopar::runtime::emulated {

namespace {

/// The version that is emulated, as the library counts.
size_t getVersion() { return 91000; }
size_t getCudartVersion() { return 13000; }

const char *errorString(cudnnStatus_t status) {
  switch (status) {
#define APEMU_NAME(name)                                                       \
  case name:                                                                   \
    return #name;
    APEMU_NAME(CUDNN_STATUS_SUCCESS)
    APEMU_NAME(CUDNN_STATUS_NOT_INITIALIZED)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM_NULL_POINTER)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES)
    APEMU_NAME(CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE)
    APEMU_NAME(CUDNN_STATUS_NOT_SUPPORTED)
    APEMU_NAME(CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN)
    APEMU_NAME(CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE)
    APEMU_NAME(CUDNN_STATUS_NOT_SUPPORTED_SHAPE)
    APEMU_NAME(CUDNN_STATUS_NOT_SUPPORTED_LAYOUT)
    APEMU_NAME(CUDNN_STATUS_NOT_SUPPORTED_RUNTIME_PREREQUISITE_MISSING)
    APEMU_NAME(CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE)
    APEMU_NAME(CUDNN_STATUS_INTERNAL_ERROR)
    APEMU_NAME(CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED)
    APEMU_NAME(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED)
    APEMU_NAME(CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED)
    APEMU_NAME(CUDNN_STATUS_EXECUTION_FAILED)
#undef APEMU_NAME
  default:
    return "CUDNN_STATUS_UNKNOWN";
  }
}

void lastErrorString(char *message, size_t bytes) {
  if (bytes == 0)
    return;
  std::strncpy(message, cudnnState().lastText.c_str(), bytes - 1);
  message[bytes - 1] = 0;
}

//===----------------------------------------------------------------------===//
// Handles and descriptors
//===----------------------------------------------------------------------===//

cudnnStatus_t create(cudnnHandle_t *handle) {
  if (!handle)
    return deadCudnn("the place of a handle");
  if (isPlanted(Planted::cudnnCreate))
    return refusePlanted(Planted::cudnnCreate);
  *handle = reinterpret_cast<cudnnHandle_t>(cudnnState().handles.create());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t destroy(cudnnHandle_t handle) {
  return cudnnState().handles.destroy(handle) ? CUDNN_STATUS_SUCCESS
                                              : noCudnnHandle();
}

cudnnStatus_t setStream(cudnnHandle_t handle, CUstream stream) {
  CudnnHandle *state = cudnnState().handles.find(handle);
  if (!state)
    return noCudnnHandle();
  if (!isStream(stream))
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "the stream is not alive");
  state->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t createDescriptor(cudnnBackendDescriptorType_t type,
                               cudnnBackendDescriptor_t *descriptor) {
  if (!descriptor)
    return deadCudnn("the place of a descriptor");
  CudnnObject *object = cudnnState().objects.create();
  object->type = type;
  *descriptor = object;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t destroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  return cudnnState().objects.destroy(descriptor) ? CUDNN_STATUS_SUCCESS
                                                  : deadCudnn("the descriptor");
}

cudnnStatus_t setAttribute(cudnnBackendDescriptor_t descriptor,
                           cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t type, int64_t count,
                           const void *elements) {
  CudnnObject *object = cudnnState().objects.find(descriptor);
  return object ? setCudnnAttribute(*object, name, type, count, elements)
                : deadCudnn("the descriptor");
}

cudnnStatus_t finalize(cudnnBackendDescriptor_t descriptor) {
  CudnnObject *object = cudnnState().objects.find(descriptor);
  return object ? finalizeCudnn(*object) : deadCudnn("the descriptor");
}

/// Makes descriptors that the caller has created mean a heuristic's results.
cudnnStatus_t giveResults(const CudnnObject &heuristic, int64_t requested,
                          int64_t *count, void *elements) {
  int64_t given = int64_t(heuristic.results.size());
  if (requested > 0)
    given = std::min(given, requested);
  *count = given;
  auto *places = static_cast<cudnnBackendDescriptor_t *>(elements);
  for (int64_t i = 0; requested > 0 && i < given; ++i) {
    CudnnObject *result = cudnnState().objects.find(places[i]);
    if (!result || result->type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
      return deadCudnn("the descriptor for an engine configuration");
    result->graph = heuristic.graph;
    result->engine = heuristic.results[size_t(i)];
    result->isFinal = true;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t giveEngine(const CudnnObject &configuration, int64_t *count,
                         void *elements) {
  CudnnObject *engine = cudnnState().objects.find(
      *static_cast<cudnnBackendDescriptor_t *>(elements));
  if (!engine || engine->type != CUDNN_BACKEND_ENGINE_DESCRIPTOR)
    return deadCudnn("the descriptor for an engine");
  engine->graph = configuration.graph;
  engine->engine = configuration.engine;
  engine->isFinal = true;
  *count = 1;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t giveNotes(const CudnnObject &engine, int64_t requested,
                        int64_t *count, void *elements) {
  bool rounds = engine.engine == tensorCoreEngine;
  *count = rounds || engine.engine == nondeterministicEngine ? 1 : 0;
  if (*count && requested > 0)
    *static_cast<cudnnBackendNumericalNote_t *>(elements) =
        rounds ? CUDNN_NUMERICAL_NOTE_TENSOR_CORE
               : CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t givePlanText(const CudnnObject &plan, int64_t requested,
                           int64_t *count, void *elements) {
  std::string text = writePlan(*plan.graph, plan.engine);
  *count = int64_t(text.size());
  if (requested > 0)
    std::memcpy(elements, text.data(),
                std::min(text.size(), size_t(requested)));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t getAttribute(cudnnBackendDescriptor_t descriptor,
                           cudnnBackendAttributeName_t name,
                           cudnnBackendAttributeType_t, int64_t requested,
                           int64_t *count, void *elements) {
  CudnnObject *object = cudnnState().objects.find(descriptor);
  if (!object || !count || (requested > 0 && !elements))
    return deadCudnn("the descriptor or a place for results");
  if (!object->isFinal)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                       "a descriptor is asked before it is final");
  if (object->type == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINEHEUR_RESULTS)
    return giveResults(*object, requested, count, elements);
  if (object->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINECFG_ENGINE && requested == 1)
    return giveEngine(*object, count, elements);
  if (object->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR &&
      name == CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)
    return giveNotes(*object, requested, count, elements);
  if (object->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
      name == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE && requested == 1) {
    *count = 1;
    *static_cast<int64_t *>(elements) = workspaceBytes(*object->graph);
    return CUDNN_STATUS_SUCCESS;
  }
  if (object->type == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
      name == CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION)
    return givePlanText(*object, requested, count, elements);
  return refuseCudnn(CUDNN_STATUS_BAD_PARAM,
                     "attribute " + std::to_string(name) +
                         " is not emulated for reading");
}

//===----------------------------------------------------------------------===//
// Tensors of copies
//===----------------------------------------------------------------------===//

cudnnStatus_t createTensor(cudnnTensorDescriptor_t *tensor) {
  cudnnBackendDescriptor_t made = nullptr;
  cudnnStatus_t status =
      createDescriptor(CUDNN_BACKEND_TENSOR_DESCRIPTOR, &made);
  *tensor = static_cast<cudnnTensorDescriptor_t>(made);
  return status;
}

cudnnStatus_t destroyTensor(cudnnTensorDescriptor_t tensor) {
  return destroyDescriptor(tensor);
}

cudnnStatus_t setTensorNd(cudnnTensorDescriptor_t handle, cudnnDataType_t type,
                          int rank, const int *sizes, const int *strides) {
  CudnnObject *object = cudnnState().objects.find(handle);
  if (!object)
    return deadCudnn("the tensor descriptor");
  if (rank < 4 || rank > 8)
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "a tensor of " + std::to_string(rank) + " dimensions");
  GraphTensor &tensor = object->tensor;
  tensor.type = type;
  tensor.sizes.assign(sizes, sizes + rank);
  tensor.strides.assign(strides, strides + rank);
  for (int d = 0; d < rank; ++d)
    if (sizes[d] < 1 || strides[d] < 1)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM,
                         "a tensor has no positive size or stride");
  object->isFinal = true;
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

void bindEmulated(CudnnApi &api) {
  api.file = "the emulated cuDNN";
  api.cudnnGetVersion = getVersion;
  api.cudnnGetCudartVersion = getCudartVersion;
  api.cudnnGetErrorString = errorString;
  api.cudnnGetLastErrorString = lastErrorString;
  api.cudnnCreate = create;
  api.cudnnDestroy = destroy;
  api.cudnnSetStream = setStream;
  api.cudnnBackendCreateDescriptor = createDescriptor;
  api.cudnnBackendDestroyDescriptor = destroyDescriptor;
  api.cudnnBackendFinalize = finalize;
  api.cudnnBackendSetAttribute = setAttribute;
  api.cudnnBackendGetAttribute = getAttribute;
  api.cudnnBackendExecute = executeCudnn;
  api.cudnnCreateTensorDescriptor = createTensor;
  api.cudnnDestroyTensorDescriptor = destroyTensor;
  api.cudnnSetTensorNdDescriptor = setTensorNd;
  api.cudnnTransformTensor = transformCudnn;
}

} // namespace autopar::runtime::emulated
