//===- BatchSize.cpp - Which dimension of a model is its batch ------------===//

#include "autopar/Planning/Demands.h"
#include "llvm/ADT/STLExtras.h"
#include <set>
#include <tuple>

using namespace llvm;

namespace autopar {

/// Dimension 0 of an input, behind blocks of it; 1: it has none.
static int64_t rowsOf(const GraphValue &value) {
  return value.source == ValueSource::Input && !value.shape.empty()
             ? value.shape[value.rowDim]
             : 1;
}

int64_t batchSize(const ModelGraph &graph) {
  std::vector<int64_t> inputs, outputs;
  auto add = [](std::vector<int64_t> &list, int64_t rows) {
    if (rows > 1)
      list.push_back(rows);
  };
  for (unsigned argument : graph.stepArguments)
    add(inputs, rowsOf(graph.values[argument]));
  for (unsigned result : graph.stepResults)
    if (const GraphValue &value = graph.values[result];
        value.output && !value.isGradient && !value.shape.empty())
      add(outputs, value.shape.front());
  auto fitOf = [&](int64_t size) {
    auto isMultiple = [&](int64_t rows) { return rows % size == 0; };
    return std::tuple(llvm::count(outputs, size),
                      llvm::count_if(outputs, isMultiple),
                      llvm::count_if(inputs, isMultiple), -size);
  };
  std::set<int64_t> sizes(inputs.begin(), inputs.end());
  auto best = llvm::max_element(
      sizes, [&](int64_t a, int64_t b) { return fitOf(a) < fitOf(b); });
  return best == sizes.end() ? 1 : *best;
}

bool hasBatch(const GraphValue &value, int64_t batch) {
  return batch > 1 && rowsOf(value) == batch;
}

} // namespace autopar
