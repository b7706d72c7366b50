//===- CudnnRun.cpp - Work that the emulated cuDNN enqueues ---------------===//

#include "CudnnRun.h"

#include "CudnnObjects.h"
#include "RangeOverlap.h"

namespace autopar::runtime::emulated {

/// The pointer of each tensor in memory, checked.
static cudnnStatus_t bindPointers(const OperationGraph &graph,
                                  const CudnnObject &pack,
                                  std::map<int64_t, CUdeviceptr> &memory) {
  for (size_t i = 0; i < pack.ids.size(); ++i)
    memory[pack.ids[i]] = reinterpret_cast<CUdeviceptr>(pack.pointers[i]);
  for (const auto &[id, tensor] : graph.tensors) {
    if (tensor.isVirtual)
      continue;
    CUdeviceptr address = memory[id];
    if (!address)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                         "tensor " + std::to_string(id) + " has no pointer");
    if (address % CUdeviceptr(tensor.alignment))
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                         "tensor " + std::to_string(id) +
                             " is not aligned to " +
                             std::to_string(tensor.alignment) + " bytes");
  }
  return CUDNN_STATUS_SUCCESS;
}

/// What the graph touches. Its result may be stored over an operand of
/// equal layout that is read element by element.
static cudnnStatus_t findRanges(const OperationGraph &graph,
                                const std::map<int64_t, CUdeviceptr> &memory,
                                std::vector<Range> &ranges) {
  auto rangesOf = [&](int64_t id, int access, const char *name) {
    return tensorRanges(graph.tensor(id),
                        reinterpret_cast<const void *>(memory.at(id)), access,
                        name);
  };
  const GraphTensor &result = graph.tensor(graph.output());
  const GraphOperation &first = graph.operations.front();
  bool inPlace = false;
  std::vector<Range> written = rangesOf(result.id, accessWrite, "Y");
  for (int64_t id : graph.inputs()) {
    const GraphTensor &tensor = graph.tensor(id);
    bool elementwise = !first.isConvolution || (id != first.x && id != first.w);
    if (elementwise && memory.at(id) == memory.at(result.id) &&
        tensor.sizes == result.sizes && tensor.strides == result.strides &&
        tensor.type == result.type) {
      inPlace = true;
      continue;
    }
    const char *name = first.isConvolution && id == first.x   ? "X"
                       : first.isConvolution && id == first.w ? "W"
                                                              : "operand";
    for (const Range &range : rangesOf(id, accessRead, name)) {
      for (const Range &other : written)
        if (rangesOverlap(range, other))
          return refuseCudnn(CUDNN_STATUS_BAD_PARAM,
                             std::string("Y overlaps ") + name);
      ranges.push_back(range);
    }
  }
  for (Range &range : written) {
    range.access = inPlace ? accessReadWrite : accessWrite;
    ranges.push_back(range);
  }
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t run(CUstream stream, Work work) {
  if (enqueue(stream, std::move(work)) == CUDA_SUCCESS)
    return CUDNN_STATUS_SUCCESS;
  return refuseCudnn(CUDNN_STATUS_EXECUTION_FAILED, faultText());
}

cudnnStatus_t executeCudnn(cudnnHandle_t handle,
                           cudnnBackendDescriptor_t planHandle,
                           cudnnBackendDescriptor_t packHandle) {
  CudnnHandle *state = cudnnState().handles.find(handle);
  if (!state)
    return noCudnnHandle();
  CudnnObject *plan = cudnnState().objects.find(planHandle);
  CudnnObject *pack = cudnnState().objects.find(packHandle);
  if (!plan || plan->type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR || !pack ||
      pack->type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)
    return deadCudnn("the plan or the variant pack");
  if (!plan->isFinal || !pack->isFinal)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED,
                       "the plan or the variant pack is not final");
  if (plan->handle != handle)
    return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "the plan has another handle");
  std::shared_ptr<OperationGraph> graph = plan->graph;
  if (isPlanted(Planted::cudnnExecute) &&
      graph->operations.front().isConvolution)
    return refusePlanted(Planted::cudnnExecute);
  std::map<int64_t, CUdeviceptr> memory;
  if (cudnnStatus_t status = bindPointers(*graph, *pack, memory))
    return status;
  Work work;
  if (cudnnStatus_t status = findRanges(*graph, memory, work.ranges))
    return status;
  if (int64_t bytes = workspaceBytes(*graph)) {
    if (!pack->workspace)
      return refuseCudnn(CUDNN_STATUS_BAD_PARAM_NULL_POINTER,
                         "the plan wants a workspace");
    work.ranges.push_back({reinterpret_cast<CUdeviceptr>(pack->workspace),
                           size_t(bytes), accessWrite, "workspace"});
  }
  work.name = graph->operations.front().isConvolution ? "cuDNN convolution"
                                                      : "cuDNN pointwise";
  work.body = [graph, engine = plan->engine, memory] {
    runGraph(*graph, engine, memory);
  };
  return run(state->stream, std::move(work));
}

cudnnStatus_t transformCudnn(cudnnHandle_t handle, const void *alpha,
                             cudnnTensorDescriptor_t fromHandle, const void *x,
                             const void *beta, cudnnTensorDescriptor_t toHandle,
                             void *y) {
  CudnnHandle *state = cudnnState().handles.find(handle);
  CudnnObject *from = cudnnState().objects.find(fromHandle);
  CudnnObject *to = cudnnState().objects.find(toHandle);
  if (!state)
    return noCudnnHandle();
  if (!from || !to || !from->isFinal || !to->isFinal || !x || !y)
    return deadCudnn("a tensor of a copy");
  if (from->tensor.sizes != to->tensor.sizes ||
      from->tensor.type != to->tensor.type ||
      *static_cast<const float *>(alpha) != 1 ||
      *static_cast<const float *>(beta) != 0)
    return refuseCudnn(CUDNN_STATUS_NOT_SUPPORTED,
                       "a copy that changes sizes, type or values");
  Work work;
  work.name = "cudnnTransformTensor";
  work.ranges = tensorRanges(from->tensor, x, accessRead, "x");
  std::vector<Range> written = tensorRanges(to->tensor, y, accessWrite, "y");
  for (const Range &range : work.ranges)
    for (const Range &other : written)
      if (rangesOverlap(range, other))
        return refuseCudnn(CUDNN_STATUS_BAD_PARAM, "y overlaps x");
  work.ranges.insert(work.ranges.end(), written.begin(), written.end());
  work.body = [source = from->tensor, result = to->tensor, x, y] {
    copyTensor(source, reinterpret_cast<CUdeviceptr>(x), result,
               reinterpret_cast<CUdeviceptr>(y));
  };
  return run(state->stream, std::move(work));
}

} // namespace autopar::runtime::emulated
