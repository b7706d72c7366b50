//===- TestShardingRules.cpp - Shows the sharding rule of each op ---------===//

#include "autopar/Dialect/Dialect.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace autopar {

namespace {
/// A remark per op.
struct TestShardingRules
    : PassWrapper<TestShardingRules, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestShardingRules)

  StringRef getArgument() const override {
    return "autopar-test-sharding-rules";
  }
  StringRef getDescription() const override {
    return "Show the sharding rule, class and flops of each op as remarks";
  }
  void runOnOperation() override {
    getOperation()->walk([](ShardingRuleOpInterface op) {
      auto kernel = cast<KernelOpInterface>(op.getOperation());
      op->emitRemark() << toString(op.getShardingRule()) << "; "
                       << stringifyKernelClass(kernel.getKernelClass()) << ", "
                       << kernel.getFlops() << " flops";
    });
  }
};

/// Replaces every composite by its parts.
struct TestDecompose : PassWrapper<TestDecompose, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestDecompose)

  StringRef getArgument() const override { return "autopar-test-decompose"; }
  StringRef getDescription() const override {
    return "Replace every composite op by its parts";
  }
  void runOnOperation() override {
    getOperation()->walk([](DecomposeOpInterface op) {
      OpBuilder builder(op);
      op->replaceAllUsesWith(op.decompose(builder));
      op->erase();
    });
  }
};
} // namespace

void registerTestShardingRules() {
  PassRegistration<TestShardingRules>();
  PassRegistration<TestDecompose>();
}

} // namespace autopar
