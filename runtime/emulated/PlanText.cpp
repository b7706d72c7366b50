//===- PlanText.cpp - Plans of the emulated cuDNN as text -----------------===//

#include "OperationGraph.h"

#include <sstream>

namespace autopar::runtime::emulated {

static constexpr const char *kFirstWord = "emulated-plan-1";
static constexpr size_t kMostParts = 64, kMostDims = 8;

static void put(std::ostream &os, const std::vector<int64_t> &list) {
  os << ' ' << list.size();
  for (int64_t number : list)
    os << ' ' << number;
}

static bool take(std::istream &is, std::vector<int64_t> &list) {
  size_t count = 0;
  if (!(is >> count) || count > kMostDims)
    return false;
  list.resize(count);
  for (int64_t &number : list)
    is >> number;
  return bool(is);
}

std::string writePlan(const OperationGraph &graph, int64_t engine) {
  std::ostringstream os;
  os << kFirstWord << ' ' << engine << ' ' << graph.tensors.size() << ' '
     << graph.operations.size();
  for (const auto &[id, tensor] : graph.tensors) {
    os << ' ' << id << ' ' << int(tensor.type) << ' ' << tensor.alignment << ' '
       << tensor.isVirtual;
    put(os, tensor.sizes);
    put(os, tensor.strides);
  }
  for (const GraphOperation &each : graph.operations) {
    os << ' ' << each.isConvolution << ' ' << each.x << ' ' << each.w << ' '
       << each.b << ' ' << each.y << ' ' << int(each.mode);
    for (const auto *list :
         {&each.strides, &each.dilations, &each.padLow, &each.padHigh})
      put(os, *list);
  }
  return os.str();
}

static bool takeTensor(std::istream &is, GraphTensor &tensor) {
  int type = 0;
  is >> tensor.id >> type >> tensor.alignment >> tensor.isVirtual;
  tensor.type = cudnnDataType_t(type);
  return take(is, tensor.sizes) && take(is, tensor.strides);
}

static bool takeOperation(std::istream &is, GraphOperation &operation) {
  int mode = 0;
  is >> operation.isConvolution >> operation.x >> operation.w >> operation.b >>
      operation.y >> mode;
  operation.mode = cudnnPointwiseMode_t(mode);
  return take(is, operation.strides) && take(is, operation.dilations) &&
         take(is, operation.padLow) && take(is, operation.padHigh);
}

bool readPlan(const std::string &text, OperationGraph &graph, int64_t &engine) {
  std::istringstream is(text);
  std::string word;
  size_t tensors = 0, operations = 0;
  if (!(is >> word >> engine >> tensors >> operations) || word != kFirstWord ||
      tensors > kMostParts || operations > kMostParts || operations == 0)
    return false;
  for (size_t i = 0; i < tensors; ++i) {
    GraphTensor tensor;
    if (!takeTensor(is, tensor))
      return false;
    graph.tensors[tensor.id] = tensor;
  }
  for (size_t i = 0; i < operations; ++i) {
    graph.operations.emplace_back();
    GraphOperation &operation = graph.operations.back();
    if (!takeOperation(is, operation))
      return false;
    for (int64_t id : {operation.x, operation.y})
      if (!graph.tensors.count(id))
        return false;
    if (operation.isConvolution && !graph.tensors.count(operation.w))
      return false;
  }
  return true;
}

} // namespace autopar::runtime::emulated
