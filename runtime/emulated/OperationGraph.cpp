//===- OperationGraph.cpp - A graph of the emulated cuDNN -----------------===//

#include "OperationGraph.h"

#include <algorithm>
#include <set>

namespace autopar::runtime::emulated {

int64_t GraphTensor::count() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

std::vector<int64_t> OperationGraph::inputs() const {
  std::vector<int64_t> result;
  std::set<int64_t> made, seen;
  for (const GraphOperation &operation : operations) {
    for (int64_t id : {operation.x, operation.w, operation.b})
      if (id && !made.count(id) && seen.insert(id).second)
        result.push_back(id);
    made.insert(operation.y);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What is supported
//===----------------------------------------------------------------------===//

/// A convolution comes first, and each operation continues the one before.
std::string graphProblem(OperationGraph &graph) {
  if (graph.operations.empty())
    return "a graph has no operations";
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    const GraphOperation &operation = graph.operations[i];
    bool isLast = i + 1 == graph.operations.size();
    if (i > 0 && operation.isConvolution)
      return "a convolution is not the first operation";
    if (i > 0 && operation.x != graph.operations[i - 1].y)
      return "an operation does not continue the one before";
    if (graph.tensor(operation.y).isVirtual == isLast)
      return isLast ? "the last result is virtual"
                    : "a result between operations is not virtual";
  }
  for (int64_t id : graph.inputs())
    if (graph.tensor(id).isVirtual)
      return "virtual tensor " + std::to_string(id) + " is never computed";
  return "";
}

bool isGrouped(const OperationGraph &graph, const GraphOperation &operation) {
  return graph.tensor(operation.x).sizes[1] !=
         graph.tensor(operation.w).sizes[1];
}

static bool isGroupedChannelsLast(const OperationGraph &graph,
                                  const GraphOperation &operation) {
  return isGrouped(graph, operation) &&
         graph.tensor(operation.x).strides[1] == 1;
}

static bool fusesInFloat(const GraphOperation &operation) {
  return operation.isConvolution || operation.mode == CUDNN_POINTWISE_ADD ||
         operation.mode == CUDNN_POINTWISE_RELU_FWD;
}

std::vector<int64_t> enginesFor(const OperationGraph &graph) {
  const GraphOperation &first = graph.operations.front();
  if (!first.isConvolution)
    return {plainEngine};
  cudnnDataType_t type = graph.tensor(first.x).type;
  if (graph.tensor(first.w).type != type)
    return {};
  std::vector<int64_t> all = {tensorCoreEngine, nondeterministicEngine,
                              plainEngine, otherPlainEngine};
  if (type != CUDNN_DATA_FLOAT)
    return all;
  bool good = first.padLow == first.padHigh &&
              !isGroupedChannelsLast(graph, first) &&
              std::all_of(graph.operations.begin(), graph.operations.end(),
                          fusesInFloat);
  return good ? all : std::vector<int64_t>{};
}

/// Long sums of small results are cut in the workspace.
int64_t workspaceBytes(const OperationGraph &graph) {
  constexpr int64_t longSum = 512, smallResult = 1 << 16, cuts = 2;
  const GraphOperation &first = graph.operations.front();
  if (!first.isConvolution)
    return 0;
  const GraphTensor &w = graph.tensor(first.w);
  int64_t results = graph.tensor(first.y).count();
  bool cut = w.count() / w.sizes[0] >= longSum && results <= smallResult;
  return cut ? results * 4 * cuts : 0;
}

//===----------------------------------------------------------------------===//
// What is touched
//===----------------------------------------------------------------------===//

namespace {
struct Dim {
  int64_t size, stride;
};
} // namespace

/// Dimensions of a tensor by falling stride, those of size 1 dropped and those
/// that are one after the other joined.
static std::vector<Dim> joinedDims(const GraphTensor &tensor) {
  std::vector<Dim> dims;
  for (size_t d = 0; d < tensor.sizes.size(); ++d)
    if (tensor.sizes[d] != 1)
      dims.push_back({tensor.sizes[d], tensor.strides[d]});
  std::stable_sort(dims.begin(), dims.end(),
                   [](Dim a, Dim b) { return a.stride > b.stride; });
  std::vector<Dim> joined;
  for (Dim dim : dims) {
    if (!joined.empty() && joined.back().stride == dim.size * dim.stride)
      joined.back() = {joined.back().size * dim.size, dim.stride};
    else
      joined.push_back(dim);
  }
  return joined;
}

std::vector<Range> tensorRanges(const GraphTensor &tensor, const void *address,
                                int access, const char *name) {
  std::vector<Dim> dims = joinedDims(tensor);
  size_t element = size_t(tensor.elementBytes());
  Range range;
  range.address = reinterpret_cast<CUdeviceptr>(address);
  range.bytes = element;
  range.access = access;
  range.name = name;
  auto takeInner = [&](Dim &dim) {
    if (dims.empty())
      return false;
    dim = dims.back();
    dims.pop_back();
    return true;
  };
  Dim dim{};
  if (!dims.empty() && dims.back().stride == 1 && takeInner(dim))
    range.bytes = size_t(dim.size) * element;
  if (takeInner(dim)) {
    range.rows = size_t(dim.size);
    range.pitch = size_t(dim.stride) * element;
  }
  if (takeInner(dim)) {
    range.batches = size_t(dim.size);
    range.batchPitch = size_t(dim.stride) * element;
  }
  std::vector<Range> ranges = {range};
  while (takeInner(dim)) { // what a range cannot say is said by several
    std::vector<Range> repeated;
    for (const Range &each : ranges)
      for (int64_t i = 0; i < dim.size; ++i) {
        repeated.push_back(each);
        repeated.back().address += CUdeviceptr(i * dim.stride) * element;
      }
    ranges = std::move(repeated);
  }
  return ranges;
}

} // namespace autopar::runtime::emulated
