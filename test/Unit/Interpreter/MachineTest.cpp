//===- MachineTest.cpp - Programs on one and several devices --------------===//

#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "autopar/Dialect/Interpreter/Validate.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace autopar;
using namespace autopar::interpreter;

namespace {

struct MachineTest : testing::Test {
  MLIRContext context;
  std::string errors;

  MachineTest() {
    context.loadDialect<AutoparDialect, func::FuncDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return success();
    });
  }
  OwningOpRef<ModuleOp> parse(StringRef text) {
    return parseSourceString<ModuleOp>(text, &context);
  }
};

static Tensor ones(StringRef, RankedTensorType type) {
  Tensor tensor(type);
  tensor.fill(1);
  return tensor;
}

TEST_F(MachineTest, interpretsAFunction) {
  auto module = parse(R"(
    func.func @f(%a: tensor<2xi64>) -> tensor<2xi64> {
      %0 = autopar.binary add %a, %a : tensor<2xi64>
      return %0 : tensor<2xi64>
    })");
  Tensor argument(RankedTensorType::get({2}, IntegerType::get(&context, 64)));
  argument.ints = {3, 4};
  auto results = interpret(module->lookupSymbol<func::FuncOp>("f"), {argument});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(results->front().ints, (std::vector<int64_t>{6, 8}));
}

static constexpr StringLiteral kPartial = R"(
    autopar.mesh @mesh #autopar.mesh<["x"=3]>
    func.func @step_0(%a: tensor<2xi64> {
          autopar.source = #autopar.input<"a">,
          autopar.sharding = #autopar.sharding<@mesh, [{"x"}]>,
          autopar.global_type = tensor<6xi64>})
        -> (tensor<i64> {
          autopar.result = #autopar.output<"y">,
          autopar.sharding = #autopar.sharding<@mesh, []SHARDING>,
          autopar.global_type = tensor<i64>})
        attributes {autopar.stage = 0 : i64} {
      %0 = autopar.reduce sum %a dims = [0] : tensor<2xi64> -> tensor<i64>
      return %0 : tensor<i64>
    })";

TEST_F(MachineTest, refusesPartialOutputs) {
  std::string text = kPartial.str();
  text.replace(text.find("SHARDING"), 8, ", partial = {\"x\": sum}");
  auto module = parse(text);
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(runModule(*module, ones)));
  EXPECT_NE(errors.find("result y is partial"), std::string::npos) << errors;
}

TEST_F(MachineTest, findsReplicasThatDiffer) {
  std::string text = kPartial.str();
  text.replace(text.find("SHARDING"), 8, "");
  auto module = parse(text);
  ASSERT_TRUE(module);
  auto provider = [](StringRef, RankedTensorType type) {
    Tensor tensor(type);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setInt(i, i);
    return tensor;
  };
  EXPECT_TRUE(failed(runModule(*module, provider)));
  EXPECT_NE(errors.find("result y differs between devices"), std::string::npos)
      << errors;
}

TEST_F(MachineTest, refusesToCommunicateOverTime) {
  auto module = parse(R"(
    autopar.mesh @mesh #autopar.mesh<["time"=2]>
    func.func @step_0(%a: tensor<2xi64> {
          autopar.source = #autopar.input<"a">,
          autopar.sharding = #autopar.sharding<@mesh, [{}]>,
          autopar.global_type = tensor<2xi64>})
        attributes {autopar.stage = 0 : i64} {
      %0 = autopar.all_reduce %a mesh = @mesh axes = ["time"]
        {kind = #autopar<reduce_kind sum>} : (tensor<2xi64>) -> tensor<2xi64>
      return
    })");
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(runModule(*module, ones)));
  EXPECT_NE(errors.find("communicate over time"), std::string::npos) << errors;
}

TEST_F(MachineTest, triesEveryFactorAndPass) {
  auto module = parse(R"(
    func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = autopar.unary neg %a : tensor<2x3xf32> -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    })");
  module->walk([&](ShardingRuleOpInterface op) {
    ShardingRule rule = op.getShardingRule();
    int64_t choices = rule.factors.size() + rule.passes.size();
    std::vector<Split> splits = allSplits(rule);
    EXPECT_EQ(int64_t(splits.size()), 4 * choices + choices * choices);
    ValidationCounts counts;
    EXPECT_TRUE(succeeded(validateRule(op, /*seed=*/3, counts)));
    EXPECT_EQ(counts.ops, 1);
    EXPECT_EQ(counts.splits + counts.illegal, int64_t(splits.size()));
  });
}

/// The rule of the only op of `text` that has one, changed, must be refused.
template <typename Change>
static void expectRefused(OwningOpRef<ModuleOp> module, Change change) {
  ASSERT_TRUE(module);
  module->walk([&](ShardingRuleOpInterface op) {
    ShardingRule rule = op.getShardingRule();
    ValidationCounts counts;
    EXPECT_TRUE(succeeded(validateSplits(op, rule, /*seed=*/1, counts)));
    change(rule);
    EXPECT_TRUE(failed(validateSplits(op, rule, /*seed=*/1, counts)));
  });
}

TEST_F(MachineTest, refusesAMissingMask) {
  expectRefused(parse(R"(
    func.func @f(%a: tensor<5xf32>) {
      %0 = autopar.reduce sum %a dims = [0] : tensor<5xf32> -> tensor<f32>
      return
    })"),
                [](ShardingRule &rule) { rule.factors[0].mask.reset(); });
}

TEST_F(MachineTest, refusesAWrongReduction) {
  expectRefused(
      parse(R"(
    func.func @f(%a: tensor<4xf32>) {
      %0 = autopar.reduce max %a dims = [0] : tensor<4xf32> -> tensor<f32>
      return
    })"),
      [](ShardingRule &rule) { rule.factors[0].reduce = ReduceKind::Sum; });
}

TEST_F(MachineTest, refusesAPassThatIsNotAdditive) {
  expectRefused(parse(R"(
    func.func @f(%a: tensor<4xf32>) {
      %0 = autopar.binary mul %a, %a : tensor<4xf32>
      return
    })"),
                [](ShardingRule &rule) {
                  rule.passes.push_back({{0, 1}, ReduceKind::Sum});
                });
}

TEST_F(MachineTest, refusesASplitScan) {
  expectRefused(parse(R"(
    func.func @f(%a: tensor<4xf32>) {
      %0 = autopar.scan sum %a dim = 0 : tensor<4xf32>
      return
    })"),
                [](ShardingRule &rule) {
                  rule.operands[0][0] = rule.addFactor(4);
                  rule.results[0][0] = 0u;
                });
}

/// A softmax reads its row, and no kernel may take it for less.
TEST_F(MachineTest, findsReadsOfOtherElements) {
  auto module = parse(R"(
    func.func @f(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
      %0 = autopar.softmax %a dim = 1 : tensor<2x3xf32>
      return %0 : tensor<2x3xf32>
    })");
  Operation *op =
      &module->lookupSymbol<func::FuncOp>("f").getBody().front().front();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Tensor operand = randomTensor(type, "a", 0);
  EXPECT_TRUE(succeeded(validateRole(op, {&operand})));
  EXPECT_TRUE(succeeded(validateReads(op, {&operand}, /*cells=*/2)));
  EXPECT_TRUE(failed(validateReads(op, {&operand}, /*cells=*/6)));
  EXPECT_NE(errors.find("element 1 of the result does not read element 0"),
            std::string::npos);
}

} // namespace
