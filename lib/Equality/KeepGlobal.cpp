//===- KeepGlobal.cpp - Keeps the global program for the checker ----------===//

#include "autopar/Dialect/Dialect.h"
#include "autopar/Equality/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_KEEPGLOBAL
#include "autopar/Equality/Passes.h.inc"
} // namespace autopar

using namespace autopar;

/// Numbers run over all functions: an origin names one op of the module.
static void numberOps(func::FuncOp function, int64_t &next) {
  Builder builder(function.getContext());
  for (Operation &op : function.getBody().front())
    if (isa<ShardingRuleOpInterface>(op))
      op.setAttr(AutoparDialect::kOrigin, builder.getDenseI64ArrayAttr(next++));
}

static void keepCopy(func::FuncOp function) {
  func::FuncOp copy = function.clone();
  copy->setAttr(AutoparDialect::kKept, function.getSymNameAttr());
  copy.setName((function.getName() + ".global").str());
  copy.setPrivate();
  OpBuilder builder(function);
  builder.setInsertionPointAfter(function);
  builder.insert(copy);
}

namespace {
struct KeepGlobal : autopar::impl::KeepGlobalBase<KeepGlobal> {
  void runOnOperation() final {
    int64_t next = 0;
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isDeclaration() || function->hasAttr(AutoparDialect::kKept))
        continue;
      numberOps(function, next);
      keepCopy(function);
    }
  }
};
} // namespace
