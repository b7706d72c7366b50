//===- Conv.h - Convolutions of one rank ------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_CONV_H
#define AUTOPAR_RUNTIME_CPU_CONV_H

#include "../core/ConvShape.h"
#include "../core/Memory.h"
#include "../core/WordKey.h"
#include "ConvPlan.h"
#include "OneDnn.h"
#include "ThreadPool.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace autopar::runtime {

/// Runs aprt_conv; plans are made once per description, as in Gemm. A packed
/// weight lives in the plan of the description it was packed with.
class Conv {
public:
  /// Packed weights are counted in `memory`.
  Conv(const OneDnn &library, ThreadPool &pool, Workspace &workspace,
       MemoryCounter &memory, size_t slots)
      : library(library), pool(pool), workspace(workspace), memory(memory),
        plain(slots) {}

  Status run(const aprt_conv_desc &desc, const ConvOperands &operands);
  Status pack(const aprt_conv_desc &desc, const void *w);

private:
  /// Null: plain loops.
  using Plan = std::unique_ptr<ConvPlan>;

  Plan makePlan(const aprt_conv_desc &desc);

  const OneDnn &library;
  ThreadPool &pool;
  Workspace &workspace;
  MemoryCounter &memory;
  std::vector<Buffer> plain; // weights of slots that plain loops use
  std::unordered_map<aprt_conv_desc, Plan, WordKeyHash, WordKeyEqual> plans;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_CONV_H
