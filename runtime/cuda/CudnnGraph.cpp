//===- CudnnGraph.cpp - One operation graph of cuDNN ----------------------===//

#include "CudnnGraph.h"

#include <algorithm>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

Status CudnnGraph::create(cudnnBackendDescriptorType_t type,
                          CudnnDescriptor &descriptor) const {
  cudnnBackendDescriptor_t made = nullptr;
  APRT_CUDNN(library, cudnnBackendCreateDescriptor, type, &made);
  descriptor = {made, {library.cudnnBackendDestroyDescriptor}};
  return Status::success();
}

Status CudnnGraph::set(const CudnnDescriptor &descriptor,
                       cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, int64_t count,
                       const void *elements) const {
  APRT_CUDNN(library, cudnnBackendSetAttribute, descriptor.get(), name, type,
             count, elements);
  return Status::success();
}

Status CudnnGraph::set(const CudnnDescriptor &descriptor,
                       cudnnBackendAttributeName_t name,
                       const std::vector<int64_t> &values) const {
  return set(descriptor, name, CUDNN_TYPE_INT64, int64_t(values.size()),
             values.data());
}

Status CudnnGraph::set(const CudnnDescriptor &descriptor,
                       cudnnBackendAttributeName_t name,
                       const CudnnDescriptor &other) const {
  cudnnBackendDescriptor_t handle = other.get();
  return set(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

Status CudnnGraph::setTensor(const CudnnDescriptor &operation,
                             cudnnBackendAttributeName_t name,
                             int64_t id) const {
  return set(operation, name, tensors.at(id));
}

Status CudnnGraph::finalize(const CudnnDescriptor &descriptor) const {
  APRT_CUDNN(library, cudnnBackendFinalize, descriptor.get());
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Status CudnnGraph::addTensor(const CudnnTensor &tensor) {
  CudnnDescriptor made;
  APRT_TRY(create(CUDNN_BACKEND_TENSOR_DESCRIPTOR, made));
  APRT_TRY(set(made, CUDNN_ATTR_TENSOR_UNIQUE_ID, {tensor.id}));
  APRT_TRY(set(made, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1,
               &tensor.type));
  APRT_TRY(set(made, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {tensor.alignment}));
  APRT_TRY(set(made, CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.sizes));
  APRT_TRY(set(made, CUDNN_ATTR_TENSOR_STRIDES, tensor.strides));
  APRT_TRY(set(made, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1,
               &tensor.isVirtual));
  APRT_TRY(finalize(made));
  tensors[tensor.id] = std::move(made);
  note("tensor",
       {tensor.id, tensor.type, tensor.alignment, tensor.isVirtual ? 1 : 0},
       {&tensor.sizes, &tensor.strides});
  return Status::success();
}

Status CudnnGraph::addConvolution(int64_t x, int64_t w, int64_t y,
                                  const CudnnWindow &window) {
  CudnnDescriptor convolution, operation;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
  APRT_TRY(create(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, convolution));
  APRT_TRY(set(convolution, CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
               CUDNN_TYPE_DATA_TYPE, 1, &compute));
  APRT_TRY(set(convolution, CUDNN_ATTR_CONVOLUTION_CONV_MODE,
               CUDNN_TYPE_CONVOLUTION_MODE, 1, &mode));
  APRT_TRY(set(convolution, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS,
               {int64_t(window.strides.size())}));
  APRT_TRY(
      set(convolution, CUDNN_ATTR_CONVOLUTION_DILATIONS, window.dilations));
  APRT_TRY(
      set(convolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, window.strides));
  APRT_TRY(
      set(convolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, window.padLow));
  APRT_TRY(
      set(convolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, window.padHigh));
  APRT_TRY(finalize(convolution));

  float alpha = 1, beta = 0;
  APRT_TRY(create(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                  operation));
  APRT_TRY(set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
               convolution));
  APRT_TRY(setTensor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x));
  APRT_TRY(setTensor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, w));
  APRT_TRY(setTensor(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y));
  APRT_TRY(set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
               CUDNN_TYPE_FLOAT, 1, &alpha));
  APRT_TRY(set(operation, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
               CUDNN_TYPE_FLOAT, 1, &beta));
  APRT_TRY(finalize(operation));
  note("convolution", {x, w, y},
       {&window.strides, &window.dilations, &window.padLow, &window.padHigh});
  parts.push_back(std::move(convolution));
  operations.push_back(std::move(operation));
  return Status::success();
}

Status CudnnGraph::addPointwise(cudnnPointwiseMode_t mode, int64_t x, int64_t b,
                                int64_t y) {
  CudnnDescriptor pointwise, operation;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  APRT_TRY(create(CUDNN_BACKEND_POINTWISE_DESCRIPTOR, pointwise));
  APRT_TRY(set(pointwise, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE,
               1, &mode));
  APRT_TRY(set(pointwise, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE,
               1, &compute));
  APRT_TRY(finalize(pointwise));
  APRT_TRY(create(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, operation));
  APRT_TRY(
      set(operation, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, pointwise));
  APRT_TRY(setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x));
  if (b)
    APRT_TRY(setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b));
  APRT_TRY(setTensor(operation, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y));
  APRT_TRY(finalize(operation));
  note("pointwise", {mode, x, b, y});
  parts.push_back(std::move(pointwise));
  operations.push_back(std::move(operation));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Engines
//===----------------------------------------------------------------------===//

/// False where the library says that it does not have something; another
/// refusal is a failure.
Status CudnnGraph::ifSupported(cudnnStatus_t result, const char *call,
                               bool &supported) {
  supported = result == CUDNN_STATUS_SUCCESS;
  Status status = library.check(result, call);
  if (!isCudnnUnsupported(result))
    return status;
  if (std::find(refused.begin(), refused.end(), status.message()) ==
      refused.end())
    refused.push_back(status.message());
  return Status::success();
}

Status CudnnGraph::buildGraph(cudnnHandle_t handle, CudnnDescriptor &graph,
                              bool &supported) {
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const CudnnDescriptor &operation : operations)
    handles.push_back(operation.get());
  cudnnBackendDescriptor_t made = nullptr;
  APRT_TRY(ifSupported(library.cudnnBackendCreateDescriptor(
                           CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, &made),
                       "cudnnBackendCreateDescriptor of a graph", supported));
  if (!supported)
    return Status::success();
  graph = {made, {library.cudnnBackendDestroyDescriptor}};
  APRT_TRY(set(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS,
               CUDNN_TYPE_BACKEND_DESCRIPTOR, int64_t(handles.size()),
               handles.data()));
  APRT_TRY(set(graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1,
               &handle));
  return ifSupported(library.cudnnBackendFinalize(graph.get()),
                     "cudnnBackendFinalize of a graph", supported);
}

/// The library's engine configurations, best first; none where it knows nothing
/// of such graphs.
Status CudnnGraph::suggest(const CudnnDescriptor &graph,
                           cudnnBackendHeurMode_t mode,
                           std::vector<CudnnDescriptor> &configurations) {
  CudnnDescriptor heuristic;
  APRT_TRY(create(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, heuristic));
  APRT_TRY(set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph));
  APRT_TRY(set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1,
               &mode));
  bool supported = false;
  APRT_TRY(ifSupported(library.cudnnBackendFinalize(heuristic.get()),
                       "cudnnBackendFinalize of heuristics", supported));
  int64_t count = 0;
  auto ask = [&](int64_t places, void *results) {
    return ifSupported(library.cudnnBackendGetAttribute(
                           heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                           CUDNN_TYPE_BACKEND_DESCRIPTOR, places, &count,
                           results),
                       "cudnnBackendGetAttribute of heuristics", supported);
  };
  if (supported)
    APRT_TRY(ask(0, nullptr));
  std::vector<cudnnBackendDescriptor_t> handles;
  for (int64_t i = 0; supported && i < count; ++i) {
    configurations.emplace_back();
    APRT_TRY(create(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, configurations.back()));
    handles.push_back(configurations.back().get());
  }
  if (!handles.empty())
    APRT_TRY(ask(int64_t(handles.size()), handles.data()));
  configurations.resize(supported ? size_t(count) : 0);
  return Status::success();
}

/// Results are the same in every run, and sums are not rounded more than their
/// type asks for.
Status CudnnGraph::allows(const CudnnDescriptor &configuration,
                          const CudnnNumerics &numerics, bool &allowed) const {
  constexpr int64_t mostNotes = 32;
  CudnnDescriptor engine;
  APRT_TRY(create(CUDNN_BACKEND_ENGINE_DESCRIPTOR, engine));
  cudnnBackendDescriptor_t handle = engine.get();
  int64_t count = 0;
  cudnnBackendNumericalNote_t notes[mostNotes];
  APRT_CUDNN(library, cudnnBackendGetAttribute, configuration.get(),
             CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
             &count, &handle);
  APRT_CUDNN(library, cudnnBackendGetAttribute, engine.get(),
             CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
             mostNotes, &count, notes);
  allowed =
      std::none_of(notes, notes + std::min(count, mostNotes), [&](auto note) {
        return note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC ||
               note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION ||
               note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS ||
               (note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE &&
                !numerics.tensorCores);
      });
  return Status::success();
}

Status CudnnGraph::tryPlan(cudnnHandle_t handle,
                           const CudnnDescriptor &configuration,
                           int64_t mostWorkspace, bool &found) {
  CudnnDescriptor made;
  int64_t count = 0, wanted = 0;
  bool supported = false;
  APRT_TRY(create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, made));
  APRT_TRY(set(made, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1,
               &handle));
  APRT_TRY(set(made, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration));
  APRT_TRY(ifSupported(library.cudnnBackendFinalize(made.get()),
                       "cudnnBackendFinalize of a plan", supported));
  if (supported)
    APRT_TRY(
        ifSupported(library.cudnnBackendGetAttribute(
                        made.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                        CUDNN_TYPE_INT64, 1, &count, &wanted),
                    "cudnnBackendGetAttribute of a plan", supported));
  found = supported && wanted <= mostWorkspace;
  if (!found)
    return Status::success();
  plan = std::move(made);
  bytes = wanted;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Plans on disk
//===----------------------------------------------------------------------===//

void CudnnGraph::note(const char *what, std::initializer_list<int64_t> numbers,
                      const std::vector<const std::vector<int64_t> *> &lists) {
  description += what;
  for (int64_t number : numbers)
    description += " " + std::to_string(number);
  for (const std::vector<int64_t> *list : lists) {
    description += " :";
    for (int64_t number : *list)
      description += " " + std::to_string(number);
  }
  description += "\n";
}

std::string CudnnGraph::keyOf(const CudnnNumerics &numerics,
                              int64_t mostWorkspace) const {
  return description + "tensor cores " + std::to_string(numerics.tensorCores) +
         ", workspace " + std::to_string(mostWorkspace) + "\n";
}

/// False: there is no plan, or not one that the library takes.
bool CudnnGraph::restore(cudnnHandle_t handle, const std::string &key,
                         int64_t mostWorkspace) {
  std::string text;
  if (!cache || !cache->read(key, text))
    return false;
  CudnnDescriptor made;
  int64_t count = 0, wanted = 0;
  bool good =
      create(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, made).ok() &&
      set(made, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
          int64_t(text.size()), text.data())
          .ok() &&
      set(made, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
          .ok() &&
      finalize(made).ok() &&
      library.cudnnBackendGetAttribute(
          made.get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
          CUDNN_TYPE_INT64, 1, &count, &wanted) == CUDNN_STATUS_SUCCESS;
  if (!good || wanted < 0 || wanted > mostWorkspace)
    return false;
  plan = std::move(made);
  bytes = wanted;
  return true;
}

/// A plan that the library does not write is made anew at the next start.
void CudnnGraph::keep(const std::string &key) const {
  int64_t count = 0;
  auto ask = [&](int64_t places, void *text) {
    return library.cudnnBackendGetAttribute(
               plan.get(), CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION,
               CUDNN_TYPE_CHAR, places, &count, text) == CUDNN_STATUS_SUCCESS;
  };
  if (!cache || !cache->isOn() || !ask(0, nullptr) || count <= 0 ||
      size_t(count) > CudnnPlanCache::mostBytes)
    return;
  std::string text(size_t(count), '\0');
  if (ask(count, text.data()))
    cache->write(key, text);
}

Status CudnnGraph::findEngine(cudnnHandle_t handle,
                              const CudnnNumerics &numerics,
                              int64_t mostWorkspace, bool &found) {
  std::string key = keyOf(numerics, mostWorkspace);
  found = restore(handle, key, mostWorkspace);
  if (found)
    return Status::success();
  APRT_TRY(chooseEngine(handle, numerics, mostWorkspace, found));
  if (found)
    keep(key);
  return Status::success();
}

Status CudnnGraph::chooseEngine(cudnnHandle_t handle,
                                const CudnnNumerics &numerics,
                                int64_t mostWorkspace, bool &found) {
  found = false;
  CudnnDescriptor graph;
  bool supported = false;
  APRT_TRY(buildGraph(handle, graph, supported));
  if (!supported)
    return Status::success();
  for (cudnnBackendHeurMode_t mode :
       {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    std::vector<CudnnDescriptor> configurations;
    APRT_TRY(suggest(graph, mode, configurations));
    for (const CudnnDescriptor &configuration : configurations) {
      bool allowed = false;
      APRT_TRY(allows(configuration, numerics, allowed));
      if (allowed)
        APRT_TRY(tryPlan(handle, configuration, mostWorkspace, found));
      if (found)
        return Status::success();
    }
  }
  return Status::success();
}

Status CudnnGraph::run(cudnnHandle_t handle,
                       const std::vector<Pointer> &pointers,
                       void *workspace) const {
  std::vector<int64_t> ids;
  std::vector<const void *> memory;
  for (const Pointer &pointer : pointers) {
    ids.push_back(pointer.id);
    memory.push_back(pointer.memory);
  }
  CudnnDescriptor pack;
  APRT_TRY(create(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, pack));
  APRT_TRY(set(pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
               int64_t(memory.size()), memory.data()));
  APRT_TRY(set(pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids));
  APRT_TRY(set(pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1,
               &workspace));
  APRT_TRY(finalize(pack));
  APRT_CUDNN(library, cudnnBackendExecute, handle, plan.get(), pack.get());
  return Status::success();
}

} // namespace autopar::runtime
