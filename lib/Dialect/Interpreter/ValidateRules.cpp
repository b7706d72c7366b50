//===- ValidateRules.cpp - Checks each op's sharding rule -----------------===//

#include "autopar/Dialect/Interpreter/Passes.h"
#include "autopar/Dialect/Interpreter/Validate.h"

namespace autopar {
#define GEN_PASS_DEF_VALIDATERULES
#include "autopar/Dialect/Interpreter/Passes.h.inc"
} // namespace autopar

using namespace mlir;
using namespace autopar;
using namespace autopar::interpreter;

/// Every op of the dialect with a sharding rule is in the module.
static LogicalResult checkComplete(ModuleOp module) {
  llvm::DenseSet<OperationName> present;
  module.walk([&](Operation *op) { present.insert(op->getName()); });
  for (RegisteredOperationName name :
       module.getContext()->getRegisteredOperations())
    if (name.hasInterface<ShardingRuleOpInterface>() && !present.contains(name))
      return emitError(module.getLoc()) << "no " << name << " is validated";
  return success();
}

namespace {
struct ValidateRules : autopar::impl::ValidateRulesBase<ValidateRules> {
  using ValidateRulesBase::ValidateRulesBase;

  void runOnOperation() override {
    ValidationCounts counts;
    bool valid = !all || succeeded(checkComplete(getOperation()));
    getOperation().walk([&](ShardingRuleOpInterface op) {
      valid &= succeeded(validateRule(op, seed, counts));
    });
    if (!valid)
      return signalPassFailure();
    llvm::outs() << counts.ops << " ops, " << counts.splits
                 << " splits equal the whole, " << counts.illegal
                 << " are not allowed\n";
  }
};
} // namespace
