//===- RunCollectivesTest.cpp - Collectives written by hand, on ranks -----===//
//
// Local programs that no partition makes, compiled from there on and run as
// processes: on CPUs, and on emulated GPUs.
//
//===----------------------------------------------------------------------===//

#include "autopar/Pipeline/Phases.h"
#include "mlir/Parser/Parser.h"
#include "test/Property/RealPrograms.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace autopar {
namespace {

using interpreter::Tensor;

/// Seven rows over three devices: blocks of 3, 3 and 1. All get that of device
/// 1, which rows 3 to 5 of the whole are.
constexpr StringLiteral kProgram = R"mlir(
  autopar.mesh @mesh #autopar.mesh<["x"=3]>
  func.func @step(%a: tensor<7x5xf32> {autopar.source = #autopar.input<"a">})
      -> (tensor<3x5xf32> {autopar.result = #autopar.output<"y">}) {
    %0 = autopar.slice %a starts = [3, 0] steps = [1, 1] : tensor<7x5xf32> -> tensor<3x5xf32>
    %1 = autopar.unary neg %0 : tensor<3x5xf32> -> tensor<3x5xf32>
    return %1 : tensor<3x5xf32>
  }
  func.func @step_0(
      %a: tensor<3x5xf32> {autopar.source = #autopar.input<"a">, autopar.global_type = tensor<7x5xf32>,
                           autopar.sharding = #autopar.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<3x5xf32> {autopar.result = #autopar.output<"y">, autopar.global_type = tensor<3x5xf32>,
                           autopar.sharding = #autopar.sharding<@mesh, [{}, {}]>})
      attributes {autopar.stage = 0 : i64} {
    %0 = autopar.collective_broadcast %a mesh = @mesh axes = ["x"] {root = 1 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
    %1 = autopar.unary neg %0 : tensor<3x5xf32> -> tensor<3x5xf32>
    return %1 : tensor<3x5xf32>
  })mlir";

class RunCollectives : public ::testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Targets, RunCollectives,
                         ::testing::Values("cpu", "emulated"));

TEST_P(RunCollectives, BroadcastGivesAllTheRootsBlock) {
  DialectRegistry registry;
  registry.insert<AutoparDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto module = parseSourceString<ModuleOp>(kProgram, &context);
  ASSERT_TRUE(module);
  auto step = module->lookupSymbol<func::FuncOp>("step");
  step->remove();
  auto provide = [](StringRef, RankedTensorType type) {
    Tensor tensor(type);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.set(i, double(i + 1));
    return tensor;
  };
  SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("autopar-run", folder));
  auto results =
      property::runStagesOnRanks(*module, step, GetParam(), provide, folder);
  llvm::sys::fs::remove_directories(folder);
  step->destroy();
  ASSERT_TRUE(bool(results)) << llvm::toString(results.takeError());
  ASSERT_EQ(results->size(), 1u);
  const Tensor &y = results->front().value;
  ASSERT_EQ(y.size(), 15);
  for (int64_t i = 0; i < y.size(); ++i)
    EXPECT_EQ(y.getDouble(i), -double(15 + i + 1));
}

} // namespace
} // namespace autopar
