//===- Waves.cpp - The order in which a kernel computes elements ----------===//

#include "Waves.h"
#include "autopar/Dialect/KernelFacts.h"
#include <numeric>

using namespace mlir;

namespace autopar::interpreter {

/// Enough that most pairs of iterations are in different ones.
static constexpr int64_t kMostWaves = 8;

/// Rows of the kernel's reductions; nullopt: it has none.
static std::optional<int64_t> rowsOf(KernelOp kernel) {
  for (Operation &op : kernel.getBody().front())
    if (loopRoleOf(&op) == LoopRole::RowReduction)
      return rowCountOf(&op);
  return std::nullopt;
}

/// A step that visits all of [0, count) in an order unlike that of any loop.
static int64_t strideThrough(int64_t count) {
  int64_t stride = std::max<int64_t>(1, count * 0.618);
  while (std::gcd(stride, count) != 1)
    ++stride;
  return stride;
}

Waves::Waves(KernelOp kernel, bool inPlace) {
  if (!inPlace)
    return;
  int64_t elements = 1; // of the widest output
  for (Value output : kernel.getOutputs())
    elements =
        std::max(elements, cast<ShapedType>(output.getType()).getNumElements());
  iterations = rowsOf(kernel).value_or(elements);
  iterations = std::clamp<int64_t>(iterations, 1, elements);
  waves = std::min(iterations, kMostWaves);
  stride = strideThrough(iterations);
}

bool Waves::writes(int64_t wave, int64_t number, int64_t elements) const {
  if (waves == 1)
    return true;
  int64_t iteration = number * iterations / elements;
  return iteration * stride % iterations * waves / iterations == wave;
}

} // namespace autopar::interpreter
