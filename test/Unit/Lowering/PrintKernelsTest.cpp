//===- PrintKernelsTest.cpp - Kernels as CUDA C++ -------------------------===//

#include "lib/Lowering/GPU/CudaSource.h"
#include "lib/Lowering/GPU/CudaText.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace autopar;

namespace {

/// Prints one kernel `@k` with two pointers, the second of which it writes.
class PrintKernels : public ::testing::Test {
protected:
  PrintKernels() {
    context.loadDialect<arith::ArithDialect, mlir::gpu::GPUDialect,
                        LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                        vector::VectorDialect>();
  }

  std::string print(const std::string &body, const std::string &globals = "",
                    const std::string &attributes = "") {
    std::string text = "gpu.module @kernels {\n" + globals +
                       "gpu.func @k(%in: !llvm.ptr, %out: !llvm.ptr) kernel" +
                       attributes +
                       " {\n"
                       "%c0 = arith.constant 0 : i64\n"
                       "%c1 = arith.constant 1 : i64\n"
                       "%c8 = arith.constant 8 : i64\n" +
                       body + "\ngpu.return\n}\n}\n";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "does not parse";
    ProgramKernel row{"k", 32, 0, 0, {{64, true, false}, {64, false, true}}};
    auto kernels = *module->getOps<mlir::gpu::GPUModuleOp>().begin();
    std::string printed;
    llvm::raw_string_ostream os(printed);
    if (failed(autopar::gpu::printKernels(kernels, row, os)))
      return "has no text";
    return printed;
  }

  void expect(const std::string &text, const std::string &part) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const char *kLoad = "%p = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> "
                    "!llvm.ptr, f32\n%x = llvm.load %p : !llvm.ptr -> f32\n";
const char *kThread = "%t = gpu.thread_id x\n%i = arith.index_cast %t : index "
                      "to i64\n";
const char *kAddress = "%q = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> "
                       "!llvm.ptr, f32\n";

TEST_F(PrintKernels, FoldsExpressions) {
  std::string text =
      print(std::string(kThread) + kLoad + kAddress +
            "%e = math.exp %x : f32\n%one = arith.constant 1.0 : f32\n"
            "%s = arith.addf %e, %one : f32\n%d = arith.divf %one, %s : f32\n"
            "llvm.store %d, %q : f32, !llvm.ptr");
  expect(text, "extern \"C\" __global__ void __launch_bounds__(32)\n"
               "k(const float *__restrict__ in0, float *__restrict__ out1) {");
  expect(text, "const int64_t thread = threadIdx.x;");
  expect(text, "out1[thread] = 1.0f / (expf(in0[thread]) + 1.0f);");
}

/// A value read before a write keeps what was there before.
TEST_F(PrintKernels, ReadsComeBeforeWrites) {
  std::string text =
      print(std::string(kThread) + kLoad + kAddress +
            "%zero = arith.constant 0.0 : f32\n"
            "llvm.store %zero, %p : f32, !llvm.ptr\n"
            "%n = arith.negf %x : f32\nllvm.store %n, %q : f32, !llvm.ptr");
  expect(text, "const float x = in0[thread];\n  in0[thread] = 0.0f;\n  "
               "out1[thread] = -x;");
}

TEST_F(PrintKernels, LoopsCarryVariables) {
  std::string text =
      print("%zero = arith.constant 0.0 : f32\n"
            "%s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> "
            "(f32) : i64 {\n" +
            std::string(kLoad) +
            "%n = arith.addf %a, %x : f32\nscf.yield %n : f32\n}\n"
            "llvm.store %s, %out : f32, !llvm.ptr");
  expect(text, "  float sum = 0.0f;\n"
               "  for (int64_t i = 0; i < 8; ++i) {\n"
               "    sum += in0[i];\n  }\n  out1[0] = sum;");
}

/// All carried values change at once.
TEST_F(PrintKernels, CarriedValuesMaySwap) {
  std::string text = print(
      "%a0 = arith.constant 1.0 : f32\n%b0 = arith.constant 2.0 : f32\n"
      "%r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %a0, %b = %b0) "
      "-> (f32, f32) : i64 {\nscf.yield %b, %a : f32, f32\n}\n"
      "%d = arith.subf %r#0, %r#1 : f32\nllvm.store %d, %out : f32, !llvm.ptr");
  expect(text, "    const float next = result1;\n"
               "    const float next1 = result;\n"
               "    result = next;\n    result1 = next1;");
}

TEST_F(PrintKernels, BranchesGiveValues) {
  std::string text =
      print(std::string(kThread) +
            "%c = arith.cmpi ult, %i, %c8 : i64\n"
            "%r = scf.if %c -> (f32) {\n" +
            kLoad +
            "scf.yield %x : f32\n} else {\n%z = arith.constant 0.0 : f32\n"
            "scf.yield %z : f32\n}\nllvm.store %r, %out : f32, !llvm.ptr");
  expect(text, "  float chosen;\n  if (thread < 8) {\n"
               "    chosen = in0[thread];\n  } else {\n"
               "    chosen = 0.0f;\n  }\n  out1[0] = chosen;");
}

TEST_F(PrintKernels, SharedMemoryBarriersAndShuffles) {
  std::string text = print(
      std::string(kThread) + kLoad +
          "%s = llvm.mlir.addressof @tile : !llvm.ptr<3>\n"
          "%p2 = llvm.getelementptr %s[0, %i] : (!llvm.ptr<3>, i64) -> "
          "!llvm.ptr<3>, !llvm.array<32 x f32>\n"
          "llvm.store %x, %p2 : f32, !llvm.ptr<3>\ngpu.barrier\n"
          "%y = llvm.load %s : !llvm.ptr<3> -> f32\n"
          "%four = arith.constant 4 : i32\n%width = arith.constant 32 : i32\n"
          "%z, %valid = gpu.shuffle xor %y, %four, %width : f32\n"
          "llvm.store %z, %out : f32, !llvm.ptr",
      "llvm.mlir.global internal @tile() {addr_space = 3 : i32} : "
      "!llvm.array<32 x f32>\n");
  expect(text, "__shared__ float shared[32];");
  expect(text, "shared[thread] = in0[thread];\n  __syncthreads();");
  expect(text, "= __shfl_xor_sync(0xffffffffu, shared[0], 4);");
}

TEST_F(PrintKernels, VectorsAreReadAtOnce) {
  std::string text = print("%x = llvm.load %in : !llvm.ptr -> vector<4xf32>\n"
                           "%y = arith.addf %x, %x : vector<4xf32>\n"
                           "llvm.store %y, %out : vector<4xf32>, !llvm.ptr");
  expect(text, "const float4 x = *(const float4 *)in0;");
  expect(text, "*(float4 *)out1 = make_float4(x.x + x.x, x.y + x.y, x.z + x.z, "
               "x.w + x.w);");
}

TEST_F(PrintKernels, HalvesAndIntegersThatWrap) {
  std::string text = print(
      "%x = llvm.load %in : !llvm.ptr -> f16\n%w = arith.extf %x : f16 to f32\n"
      "%h = arith.truncf %w : f32 to bf16\n"
      "llvm.store %h, %out : bf16, !llvm.ptr");
  expect(text, "const __half *__restrict__ in0, __nv_bfloat16 *__restrict__");
  expect(text, "out1[0] = __float2bfloat16(__half2float(in0[0]));");
  text = print("%x = llvm.load %in : !llvm.ptr -> i32\n"
               "%y = arith.muli %x, %x : i32\n"
               "llvm.store %y, %out : i32, !llvm.ptr");
  expect(text, "out1[0] = multiply(n, n);");
  expect(text, "inline T multiply(T a, T b)");
}

TEST_F(PrintKernels, IntegersBecomeHalvesThroughFloats) {
  std::string text = print("%x = llvm.load %in : !llvm.ptr -> i64\n"
                           "%h = arith.sitofp %x : i64 to f16\n"
                           "llvm.store %h, %out : f16, !llvm.ptr");
  expect(text, "out1[0] = __float2half(float(in0[0]));");
}

TEST_F(PrintKernels, NamesWhatHasNoText) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  EXPECT_EQ(print("%x = llvm.load %in : !llvm.ptr -> vector<4xf32>\n"
                  "%y = llvm.intr.vector.reduce.fmax(%x) : (vector<4xf32>) -> "
                  "f32\nllvm.store %y, %out : f32, !llvm.ptr"),
            "has no text");
  EXPECT_NE(message.find("has no form in CUDA C++"), std::string::npos);
  message.clear();
  EXPECT_EQ(print("%x = llvm.load %in : !llvm.ptr -> f32\n"
                  "%y = llvm.intr.exp(%x) : (f32) -> f32\n"
                  "llvm.store %y, %out : f32, !llvm.ptr"),
            "has no text");
  EXPECT_NE(message.find("has no form in CUDA C++"), std::string::npos);
}

/// Names of a model cannot leave the comment that they stand in.
TEST(CudaText, CommentsStayOnTheirLine) {
  using autopar::gpu::commentText;
  EXPECT_EQ(commentText("a b"), "a b");
  EXPECT_EQ(commentText("a\nabort();\rb\x7f"), "a_abort();_b_");
  EXPECT_EQ(commentText("C:\\x\\"), "C:\\x_");
  EXPECT_EQ(commentText("a\\ \t\n"), "a_");
  EXPECT_EQ(commentText(""), "");
}

TEST_F(PrintKernels, DescriptionsStayComments) {
  std::string text =
      print("", "",
            " attributes {autopar.description = \"one\\0Dint a;\\0A"
            "two\\\\\"}");
  expect(text, "/// one_int a;\n/// two_\n/// 32 threads in a block.\n");
}

} // namespace
