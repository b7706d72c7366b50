//===- ProgramParts.cpp - Modules that compile on their own ---------------===//

#include "ProgramParts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>

using namespace mlir;

namespace autopar {

/// A part is worth a thread from so many kernels on; at most so many parts of
/// them, whatever the host, so that the same program is the same bytes.
static constexpr size_t kKernelsPerPart = 8, kMostParts = 8;

static bool isLocal(LLVM::Linkage linkage) {
  return linkage == LLVM::Linkage::Internal ||
         linkage == LLVM::Linkage::Private;
}

/// Tables of numbers: each part has its own of those it uses.
static bool isLocalConstant(Operation *op) {
  auto global = dyn_cast<LLVM::GlobalOp>(op);
  return global && global.getConstant() && isLocal(global.getLinkage());
}

static int64_t countOps(Operation *op) {
  int64_t count = 0;
  op->walk([&](Operation *) { ++count; });
  return count;
}

/// Kernels, the largest first, each to the part that is smallest by then.
static std::vector<ProgramPart>
shareOut(MutableArrayRef<std::pair<int64_t, Operation *>> kernels) {
  llvm::stable_sort(
      kernels, [](const auto &a, const auto &b) { return a.first > b.first; });
  size_t count =
      std::clamp<size_t>(kernels.size() / kKernelsPerPart, 1, kMostParts);
  std::vector<ProgramPart> parts(kernels.empty() ? 0 : count,
                                 {/*onlyCalls=*/false, {}});
  std::vector<int64_t> sizes(parts.size());
  for (auto [size, kernel] : kernels) {
    size_t smallest = llvm::min_element(sizes) - sizes.begin();
    sizes[smallest] += size;
    parts[smallest].definitions.push_back(kernel);
  }
  return parts;
}

std::vector<ProgramPart> findParts(ModuleOp program) {
  ProgramPart calls{/*onlyCalls=*/true, {}};
  SmallVector<std::pair<int64_t, Operation *>> kernels;
  for (Operation &op : *program.getBody()) {
    auto function = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (function && function.isExternal())
      continue;
    if (function && !function.getOptimizeNone())
      kernels.push_back({countOps(function), function});
    else if (!isLocalConstant(&op))
      calls.definitions.push_back(&op);
  }
  std::vector<ProgramPart> parts = shareOut(kernels);
  parts.push_back(std::move(calls));
  return parts;
}

/// The names of what `op` uses.
static void findUses(Operation *op, llvm::SetVector<StringAttr> &names) {
  op->walk([&](Operation *user) {
    if (auto call = dyn_cast<LLVM::CallOp>(user); call && call.getCalleeAttr())
      names.insert(call.getCalleeAttr().getAttr());
    else if (auto address = dyn_cast<LLVM::AddressOfOp>(user))
      names.insert(address.getGlobalNameAttr().getAttr());
  });
}

/// Makes a symbol visible to other parts, but still not exported.
static Operation *hide(Operation *copy) {
  auto hideLocal = [](auto symbol) {
    if (symbol && isLocal(symbol.getLinkage())) {
      symbol.setLinkage(LLVM::Linkage::External);
      symbol.setVisibility_(LLVM::Visibility::Hidden);
    }
  };
  hideLocal(dyn_cast<LLVM::LLVMFuncOp>(copy));
  hideLocal(dyn_cast<LLVM::GlobalOp>(copy));
  return copy;
}

/// Declares a symbol that another part defines.
static Operation *declare(Operation *op) {
  Operation *copy = hide(op->cloneWithoutRegions());
  if (auto global = dyn_cast<LLVM::GlobalOp>(copy))
    global.removeValueAttr();
  return copy;
}

OwningOpRef<ModuleOp> makeModule(const ProgramPart &part,
                                 const SymbolTable &program) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(part.definitions.front()->getContext()));
  llvm::SetVector<StringAttr> used;
  llvm::DenseSet<StringAttr> defined;
  for (Operation *op : part.definitions) {
    module->push_back(hide(op->clone()));
    defined.insert(SymbolTable::getSymbolName(op));
    findUses(op, used);
  }
  for (size_t i = 0; i < used.size(); ++i) {
    Operation *op = program.lookup(used[i]);
    if (defined.contains(used[i]) || !op)
      continue;
    if (isLocalConstant(op)) {
      module->push_back(op->clone());
      findUses(op, used);
    } else {
      module->push_back(declare(op));
    }
  }
  return module;
}

} // namespace autopar
