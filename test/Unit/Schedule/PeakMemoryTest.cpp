//===- PeakMemoryTest.cpp - The predicted memory is the assigned one ------===//

#include "autopar/Cost/HeldInputs.h"
#include "autopar/Cost/KernelGroups.h"
#include "autopar/Cost/TargetTable.h"
#include "autopar/Cost/WorkOfFunction.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Schedule/Passes.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>

using namespace autopar;
using namespace mlir;

namespace {

/// A random program on 16x16 values: matrix multiplications, pointwise ops,
/// softmaxes, column sums, transposes, all-reduces.
std::string randomProgram(unsigned seed) {
  std::mt19937 random(seed);
  const std::string type = "tensor<16x16xf32>";
  std::string text =
      "autopar.mesh @mesh #autopar.mesh<[\"data\"=2]>\n"
      "func.func @step(%v0: " +
      type + " {autopar.source = #autopar.input<\"x\">}, %w: " + type +
      " {autopar.source = #autopar.parameter<\"w\", \"m\", offset = 0, length "
      "= 1024>}) -> (" +
      type + ", " + type + ", " + type + ") {\n";
  int count = 3 + random() % 60;
  for (int i = 1; i <= count; ++i) {
    std::string a = "%v" + std::to_string(i - 1 - random() % std::min(i, 6));
    std::string b = "%v" + std::to_string(random() % i);
    std::string result = "  %v" + std::to_string(i);
    switch (random() % 8) {
    case 0:
    case 1:
      text += result + " = autopar.einsum \"mk,kn->mn\" " + a + ", %w : (" +
              type + ", " + type + ") -> " + type + "\n";
      break;
    case 2:
      text += result + " = autopar.unary relu " + a + " : " + type + " -> " +
              type + "\n";
      break;
    case 3:
      text += result + " = autopar.softmax " + a + " dim = 1 : " + type + "\n";
      break;
    case 4: {
      std::string row = "%r" + std::to_string(i);
      text += "  " + row + " = autopar.reduce sum " + a + " dims = [" +
              std::to_string(random() % 2) + "] : " + type +
              " -> tensor<16xf32>\n" + result + " = autopar.broadcast " + row +
              " dims = [" + std::to_string(random() % 2) +
              "] : tensor<16xf32> -> " + type + "\n";
      break;
    }
    case 5:
      text += result + " = autopar.transpose " + a +
              " perm = [1, 0] : " + type + " -> " + type + "\n";
      break;
    case 6:
      text += result + " = autopar.all_reduce " + a +
              " mesh = @mesh axes = [\"data\"] {kind = "
              "#autopar<reduce_kind sum>} : (" +
              type + ") -> " + type + "\n";
      break;
    default:
      text += result + " = autopar.binary add " + a + ", " + b + " : " + type +
              "\n";
    }
  }
  std::string last = "%v" + std::to_string(count);
  std::string other = "%v" + std::to_string(random() % (count + 1));
  return text + "  return " + last + ", " + other + ", " + last + " : " + type +
         ", " + type + ", " + type + "\n}\n";
}

struct PeakMemory {
  int64_t arenaBytes = 0;
  /// Parameters and setup values among arguments and results, each once.
  int64_t persistentBytes = 0;
};

/// The results that get a buffer of their own by a copy, and where all lie.
void addReturn(FunctionWork &work, func::FuncOp func) {
  Operation *end = func.getBody().front().getTerminator();
  for (auto [index, copied] : llvm::enumerate(resultsToCopy(func))) {
    unsigned buffer = work.bufferOf(end->getOperand(index));
    if (copied) {
      WorkItem item;
      item.reads.push_back(buffer);
      buffer = work.list.buffers.size();
      item.writes.push_back(buffer);
      WorkBuffer copy;
      copy.bytes = bytesOf(end->getOperand(index).getType());
      work.list.buffers.push_back(copy);
      work.list.items.push_back(std::move(item));
    }
    work.addResult(func, index, buffer);
  }
}

/// What one device needs for `func`, by the analyses that Planning predicts
/// with: the groups, the order and the arena.
PeakMemory peakMemory(func::FuncOp func) {
  KernelGroups groups = groupKernels(func.getBody().front());
  FunctionWork work(func);
  for (const WorkStep &step : groups.steps) {
    if (step.group >= 0) {
      const KernelGroup &group = groups.groups[step.group];
      WorkItem &item = work.add(group.inputs, group.outputs);
      item.inPlace = group.inPlace;
    } else if (step.op->hasTrait<OpTrait::IsTerminator>()) {
      addReturn(work, func);
    } else if (loopRoleOf(step.op) != LoopRole::View) {
      work.addCommunication(step.op);
    }
  }
  PeakMemory peak;
  for (const WorkBuffer &buffer : work.list.buffers)
    if (buffer.persistent && !buffer.input)
      peak.persistentBytes += buffer.bytes;
  peak.arenaBytes = planMemory(orderedWork(work.list)).arenaBytes;
  return peak;
}

} // namespace

/// The whole pipeline, its replay included, on random programs for either
/// target.
TEST(PeakMemory, PredictionIsWhatScheduleAssigns) {
  MLIRContext context;
  context.loadDialect<AutoparDialect, func::FuncDialect>();
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::string text = randomProgram(seed / 2);
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    (*module)->setAttr(AutoparDialect::kTarget,
                       StringAttr::get(&context, seed % 2 ? "cuda" : "cpu"));
    auto func = *module->getOps<func::FuncOp>().begin();
    PeakMemory predicted = peakMemory(func);
    PassManager manager(&context);
    buildSchedulePipeline(manager);
    ASSERT_TRUE(succeeded(manager.run(*module))) << text;
    auto bytes = func->getAttrOfType<IntegerAttr>(AutoparDialect::kArenaBytes);
    EXPECT_EQ(predicted.arenaBytes, bytes.getInt()) << text;
    EXPECT_EQ(predicted.persistentBytes, 1024);
  }
}

/// Blocks that a device reads where the host holds the whole.
TEST(HeldInputs, RowsOfEqualBlocksAreOnePiece) {
  Mesh mesh({{"data", 2}, {"tensor", 3}});
  auto split = [&](ArrayRef<int64_t> shape, ArrayRef<StringRef> axes) {
    Sharding sharding = Sharding::replicated(shape.size());
    for (auto [dim, axis] : llvm::zip(sharding.dims, axes))
      if (!axis.empty())
        llvm::append_range(dim.subAxes, *mesh.lookup(axis));
    return isOnePiece(shape, sharding, mesh);
  };
  EXPECT_TRUE(split({}, {}));
  EXPECT_TRUE(split({5, 7}, {"", ""}));
  EXPECT_TRUE(split({4, 7}, {"data", ""}));
  EXPECT_TRUE(split({2, 6, 7}, {"data", "tensor", ""}));
  EXPECT_TRUE(split({1, 1, 6}, {"", "", "tensor"}));
  EXPECT_FALSE(split({5, 7}, {"data", ""})); // the last block is not full
  EXPECT_FALSE(split({4, 6}, {"", "tensor"}));
  EXPECT_FALSE(split({4, 6}, {"data", "tensor"}));
  Sharding window = Sharding::replicated(1);
  window.dims[0].interval = Interval{2, -1, 4};
  EXPECT_FALSE(isOnePiece({4}, window, mesh));
}

/// Each wait is needed: without it the replay finds work out of order.
TEST(AssignStreams, NoWaitIsIdle) {
  MLIRContext context;
  context.loadDialect<AutoparDialect, func::FuncDialect>();
  unsigned waits = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    auto module = parseSourceString<ModuleOp>(randomProgram(seed), &context);
    ASSERT_TRUE(module);
    (*module)->setAttr(AutoparDialect::kTarget,
                       StringAttr::get(&context, "cuda"));
    PassManager manager(&context);
    buildSchedulePipeline(manager);
    ASSERT_TRUE(succeeded(manager.run(*module)));
    unsigned count = 0;
    module->walk([&](WaitEventOp) { ++count; });
    for (unsigned erased = 0; erased < count; ++erased, ++waits) {
      OwningOpRef<ModuleOp> mutant = module->clone();
      SmallVector<WaitEventOp> all;
      mutant->walk([&](WaitEventOp wait) { all.push_back(wait); });
      all[erased].erase();
      ScopedDiagnosticHandler silent(&context,
                                     [](Diagnostic &) { return success(); });
      PassManager verifier(&context);
      verifier.addPass(createVerifySchedule());
      EXPECT_TRUE(failed(verifier.run(*mutant))) << seed << ' ' << erased;
    }
  }
  EXPECT_GT(waits, 200u);
}
