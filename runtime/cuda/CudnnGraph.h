//===- CudnnGraph.h - One operation graph of cuDNN --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CUDA_CUDNNGRAPH_H
#define AUTOPAR_RUNTIME_CUDA_CUDNNGRAPH_H

#include "CudnnApi.h"
#include "CudnnPlanCache.h"
#include "LibraryHandle.h"

#include <unordered_map>
#include <vector>

namespace autopar::runtime {

using CudnnDescriptor = LibraryHandle<cudnnBackendDescriptor_t, cudnnStatus_t>;

/// A tensor of a graph. Dimensions are [n, c, spatial...]; strides in elements.
struct CudnnTensor {
  int64_t id = 0; // of the pointer that is given when the graph runs
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> sizes, strides;
  int64_t alignment = 16;
  bool isVirtual = false; // between two operations only
};

/// Spatial parameters of a convolution, padding before and after.
struct CudnnWindow {
  std::vector<int64_t> strides, dilations, padLow, padHigh;
};

/// What an engine may do to numbers.
struct CudnnNumerics {
  bool tensorCores = true; // false: multiplies full floats
};

/// Operations are added, then an engine is looked for, then the graph runs as
/// often as wanted.
class CudnnGraph {
public:
  /// Plans are kept in `cache`, if there is one.
  explicit CudnnGraph(const CudnnApi &library,
                      const CudnnPlanCache *cache = nullptr)
      : library(library), cache(cache) {}

  Status addTensor(const CudnnTensor &tensor);
  Status addConvolution(int64_t x, int64_t w, int64_t y,
                        const CudnnWindow &window);
  /// y = mode(x) or mode(x, b), with b spread over dimensions of size 1; b 0:
  /// none.
  Status addPointwise(cudnnPointwiseMode_t mode, int64_t x, int64_t b,
                      int64_t y);

  /// Takes the first engine that the library suggests and that runs in
  /// `mostWorkspace` bytes. False if there is none: the library says "not
  /// supported" of graph or engines, or knows none. All else that it refuses
  /// (memory, a compiler that fails) is a failure.
  Status findEngine(cudnnHandle_t handle, const CudnnNumerics &numerics,
                    int64_t mostWorkspace, bool &found);
  /// What findEngine was told was not supported, each text once.
  const std::vector<std::string> &refusals() const { return refused; }
  int64_t workspaceBytes() const { return bytes; }

  struct Pointer {
    int64_t id;
    const void *memory;
  };
  /// Puts the graph on the handle's stream.
  Status run(cudnnHandle_t handle, const std::vector<Pointer> &pointers,
             void *workspace) const;

private:
  Status create(cudnnBackendDescriptorType_t type,
                CudnnDescriptor &descriptor) const;
  Status set(const CudnnDescriptor &descriptor,
             cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
             int64_t count, const void *elements) const;
  Status set(const CudnnDescriptor &descriptor,
             cudnnBackendAttributeName_t name,
             const std::vector<int64_t> &values) const;
  Status set(const CudnnDescriptor &descriptor,
             cudnnBackendAttributeName_t name,
             const CudnnDescriptor &other) const;
  Status setTensor(const CudnnDescriptor &operation,
                   cudnnBackendAttributeName_t name, int64_t id) const;
  Status finalize(const CudnnDescriptor &descriptor) const;

  /// All that a plan depends on, beside the host.
  std::string keyOf(const CudnnNumerics &numerics, int64_t mostWorkspace) const;
  bool restore(cudnnHandle_t handle, const std::string &key,
               int64_t mostWorkspace);
  void keep(const std::string &key) const;
  void note(const char *what, std::initializer_list<int64_t> numbers,
            const std::vector<const std::vector<int64_t> *> &lists = {});
  Status chooseEngine(cudnnHandle_t handle, const CudnnNumerics &numerics,
                      int64_t mostWorkspace, bool &found);
  Status ifSupported(cudnnStatus_t result, const char *call, bool &supported);
  Status buildGraph(cudnnHandle_t handle, CudnnDescriptor &graph,
                    bool &supported);
  Status suggest(const CudnnDescriptor &graph, cudnnBackendHeurMode_t mode,
                 std::vector<CudnnDescriptor> &configurations);
  Status allows(const CudnnDescriptor &configuration,
                const CudnnNumerics &numerics, bool &allowed) const;
  Status tryPlan(cudnnHandle_t handle, const CudnnDescriptor &configuration,
                 int64_t mostWorkspace, bool &found);

  const CudnnApi &library;
  const CudnnPlanCache *cache;
  std::string description; // of tensors and operations
  std::unordered_map<int64_t, CudnnDescriptor> tensors; // by id
  std::vector<CudnnDescriptor> parts;                   // of operations
  std::vector<CudnnDescriptor> operations;
  CudnnDescriptor plan;
  int64_t bytes = 0;
  std::vector<std::string> refused;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_CUDNNGRAPH_H
