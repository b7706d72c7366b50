//===- OperationGraph.h - A graph of the emulated cuDNN ---------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_OPERATIONGRAPH_H
#define AUTOPAR_RUNTIME_EMULATED_OPERATIONGRAPH_H

#include "../cuda/CudnnApi.h"
#include "EmulatedDevice.h"

#include <map>
#include <string>
#include <vector>

namespace autopar::runtime::emulated {

/// [n, c, spatial...] with strides in elements.
struct GraphTensor {
  int64_t id = 0;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> sizes, strides;
  int64_t alignment = 1;
  bool isVirtual = false;

  int64_t elementBytes() const { return type == CUDNN_DATA_FLOAT ? 4 : 2; }
  int64_t count() const;
};

/// A convolution y = x * w, or a pointwise y = mode(x, b).
struct GraphOperation {
  bool isConvolution = false;
  int64_t x = 0, w = 0, b = 0, y = 0; // tensors by id; b 0: none
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_ADD;
  std::vector<int64_t> strides, dilations, padLow, padHigh;
};

/// Operations in the order in which they can be computed.
struct OperationGraph {
  std::map<int64_t, GraphTensor> tensors; // by id
  std::vector<GraphOperation> operations;

  const GraphTensor &tensor(int64_t id) const { return tensors.at(id); }
  /// Ids of tensors in memory that are read, or written.
  std::vector<int64_t> inputs() const;
  int64_t output() const { return operations.back().y; }
};

/// Engines that compute a graph, best first, as the heuristic's mode A tells
/// them: none where the emulated library refuses.
enum GraphEngine : int64_t {
  tensorCoreEngine = 0, // rounds floats to tf32
  nondeterministicEngine = 1,
  plainEngine = 2,
  otherPlainEngine = 3
};
std::vector<int64_t> enginesFor(const OperationGraph &graph);
/// Its convolution has groups.
bool isGrouped(const OperationGraph &graph, const GraphOperation &operation);
int64_t workspaceBytes(const OperationGraph &graph);

/// A graph and its engine as text, and back; false for any other text.
std::string writePlan(const OperationGraph &graph, int64_t engine);
bool readPlan(const std::string &text, OperationGraph &graph, int64_t &engine);

/// "" or why the operations are no graph that the library knows.
std::string graphProblem(OperationGraph &graph);

/// The bytes of a tensor in memory.
std::vector<Range> tensorRanges(const GraphTensor &tensor, const void *address,
                                int access, const char *name);

/// Computes the graph when its turn has come; `memory` gives the device
/// address of each tensor in memory.
void runGraph(const OperationGraph &graph, int64_t engine,
              const std::map<int64_t, CUdeviceptr> &memory);

/// Copies a tensor into one of the same sizes with other strides.
void copyTensor(const GraphTensor &from, CUdeviceptr source,
                const GraphTensor &to, CUdeviceptr result);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_OPERATIONGRAPH_H
