//===- PackWeights.cpp - Which calls read constants packed ----------------===//

#include "autopar/Cost/TargetTable.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/Schedule/PersistentBuffers.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "autopar/Schedule/Passes.h.inc"

/// The constants that ops of `step` read other than as what a library call can
/// read packed.
static llvm::DenseSet<int64_t> readPlain(func::FuncOp step) {
  llvm::DenseSet<int64_t> plain;
  for (Operation &op : step.getBody().front()) {
    auto kernel = dyn_cast<KernelOp>(op);
    auto call = kernel ? kernel.getLibrary() : std::nullopt;
    for (auto [number, operand] : llvm::enumerate(op.getOperands()))
      if (std::optional<int64_t> index = constantIndex(operand);
          index &&
          !(call && call->getPackable() == static_cast<int64_t>(number)))
        plain.insert(*index);
  }
  return plain;
}

static void packWeights(func::FuncOp step) {
  const TargetTable &table = targetTable(step);
  llvm::DenseSet<int64_t> plain = readPlain(step);
  std::map<std::pair<int64_t, std::string>, int64_t> forms;
  for (auto kernel : step.getOps<KernelOp>()) {
    LibraryCallAttr call = kernel.getLibraryAttr();
    if (!call || call.getPackable() < 0)
      continue;
    std::optional<int64_t> index =
        constantIndex(kernel.getInputs()[call.getPackable()]);
    if (!index || !table.packs(call.getKind(), plain.contains(*index)))
      continue;
    auto [it, isNew] =
        forms.try_emplace({*index, packingOf(kernel)}, forms.size());
    kernel.setLibraryAttr(call.withMemory(call.getChannelsLast(), it->second));
  }
}

namespace {
struct PackWeights : impl::PackWeightsBase<PackWeights> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (isStep(func))
        packWeights(func);
  }
};
} // namespace
} // namespace autopar
