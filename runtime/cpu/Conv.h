//===- Conv.h - Convolutions of one rank ------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CPU_CONV_H
#define AUTOPAR_RUNTIME_CPU_CONV_H

#include "../core/ConvShape.h"
#include "../core/Memory.h"
#include "../core/WordKey.h"
#include "ConvPlan.h"
#include "FilterGradientPlan.h"
#include "Gemm.h"
#include "OneDnn.h"
#include "ThreadPool.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace autopar::runtime {

/// Runs aprt_conv; plans are made once per description, as in Gemm. A packed
/// weight lives in the plan of the description it was packed with. 16-bit
/// floats that the library lacks are computed in f32. Images of one pixel are
/// rows of a GEMM.
class Conv {
public:
  /// Packed weights are counted in `memory`, and those that are in `store`
  /// (null: there is none) are there once.
  Conv(const OneDnn &library, ThreadPool &pool, Workspace &workspace,
       MemoryCounter &memory, size_t slots, Gemm &gemms,
       PackedStore *store = nullptr)
      : library(library), pool(pool), workspace(workspace), memory(memory),
        store(store), gemms(gemms), plain(slots) {}

  Status run(const aprt_conv_desc &desc, const ConvOperands &operands);
  Status pack(const aprt_conv_desc &desc, const void *w);

private:
  struct Entry {
    std::unique_ptr<ConvPlan> plan; // null: the runtime's own loops
    bool isShallow = false;         // by shallowConv, else by naiveConv
    bool widened = false;           // the plan is of the same in f32
  };

  Status makeEntry(const aprt_conv_desc &desc, Entry &entry);
  Status runFilterGradient(const aprt_conv_desc &desc,
                           const ConvOperands &operands);
  Status packWeights(Entry &entry, const aprt_conv_desc &desc, const void *w);
  Status runPlan(ConvPlan &plan, const aprt_conv_desc &desc,
                 const ConvOperands &operands);
  Status runWidened(ConvPlan &plan, const aprt_conv_desc &desc,
                    const ConvOperands &operands);

  const OneDnn &library;
  ThreadPool &pool;
  Workspace &workspace;
  MemoryCounter &memory;
  PackedStore *store;
  Gemm &gemms;                    // of as many slots
  std::vector<PackedBytes> plain; // weights of slots that plain loops use
  template <typename T>
  using ByDescription =
      std::unordered_map<aprt_conv_desc, T, WordKeyHash, WordKeyEqual>;
  ByDescription<Entry> entries;
  /// Null: the runtime's own loops.
  ByDescription<std::unique_ptr<FilterGradientPlan>> gradients;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CPU_CONV_H
