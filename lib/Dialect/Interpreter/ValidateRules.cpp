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

namespace {
struct ValidateRules : autopar::impl::ValidateRulesBase<ValidateRules> {
  using ValidateRulesBase::ValidateRulesBase;

  void runOnOperation() override {
    ValidationCounts counts;
    bool valid = true;
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
