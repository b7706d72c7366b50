//===- EmulateKernelsTest.cpp - GPU kernels as host code ------------------===//

#include "lib/Lowering/GPU/EmulateKernels.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Lowering/CpuFeatures.h"
#include "lib/Lowering/Common/HostCode.h"
#include "lib/Lowering/GPU/KernelTable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace autopar;

namespace {

/// The text of what `kernels`, the body of a gpu.module, becomes; or the error.
class EmulateKernels : public testing::Test {
protected:
  EmulateKernels() {
    mlir.loadDialect<AutoparDialect, mlir::gpu::GPUDialect,
                     mlir::LLVM::LLVMDialect, mlir::NVVM::NVVMDialect>();
  }

  std::string emulate(const std::string &kernels,
                      const std::vector<ProgramKernel> &rows) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        "gpu.module @kernels {\n" + kernels + "\n}", &mlir);
    EXPECT_TRUE(module);
    if (!module)
      return "";
    auto device = *module->getOps<mlir::gpu::GPUModuleOp>().begin();
    gpu::setKernelTable(device, rows);
    auto machine = createMachine(llvm::cantFail(cpuFeatures("")));
    EXPECT_TRUE(bool(machine));
    llvm::LLVMContext context;
    auto made = gpu::emulateKernels(device, context, **machine);
    if (!made)
      return "error: " + llvm::toString(made.takeError());
    std::string text;
    llvm::raw_string_ostream os(text);
    (*made)->print(os, nullptr);
    auto object = emitObject(**made, **machine);
    EXPECT_TRUE(bool(object));
    return text;
  }

  mlir::MLIRContext mlir;
};

int count(const std::string &text, const std::string &part) {
  int found = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++found;
  return found;
}

ProgramKernel row(const char *name, size_t buffers, int64_t scalars = 0,
                  int64_t sharedBytes = 0) {
  ProgramKernel row;
  row.sharedBytes = sharedBytes;
  row.name = name;
  row.threads = 32;
  row.scalars = scalars;
  for (size_t number = 0; number < buffers; ++number)
    row.buffers.push_back({128, number + 1 < buffers, number + 1 == buffers});
  return row;
}

TEST_F(EmulateKernels, AnnouncesEachAccessWithItsArgument) {
  std::string text = emulate(R"(
    llvm.func @copy(%from: !llvm.ptr, %to: !llvm.ptr, %n: i64)
        attributes {gpu.kernel, nvvm.kernel} {
      %tid = nvvm.read.ptx.sreg.tid.x : i32
      %at = llvm.sext %tid : i32 to i64
      %place = llvm.add %at, %n : i64
      %a = llvm.getelementptr %from[%place] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xf32>
      %b = llvm.getelementptr %to[%at] : (!llvm.ptr, i64) -> !llvm.ptr, vector<4xf32>
      %v = llvm.load %a {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
      llvm.store %v, %b {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
      llvm.return
    })",
                             {row("copy", 2, 1)});
  EXPECT_EQ(count(text, "call void @apemu_global"), 2) << text;
  EXPECT_EQ(count(text, ", i64 16, i32 1, i32 0)"), 1) << text;
  EXPECT_EQ(count(text, ", i64 16, i32 2, i32 1)"), 1) << text;
  EXPECT_EQ(count(text, "nvvm"), 0) << text;
  EXPECT_EQ(count(text, "@aprt_program_device_code = constant"), 1) << text;
}

TEST_F(EmulateKernels, JoinsNoStores) {
  std::string text = emulate(R"(
    llvm.func @zeros(%to: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %zero = llvm.mlir.constant(0 : i16) : i16
      %a = llvm.getelementptr %to[1] : (!llvm.ptr) -> !llvm.ptr, i16
      %b = llvm.getelementptr %to[2] : (!llvm.ptr) -> !llvm.ptr, i16
      %c = llvm.getelementptr %to[3] : (!llvm.ptr) -> !llvm.ptr, i16
      %d = llvm.getelementptr %to[4] : (!llvm.ptr) -> !llvm.ptr, i16
      llvm.store %zero, %a : i16, !llvm.ptr
      llvm.store %zero, %b : i16, !llvm.ptr
      llvm.store %zero, %c : i16, !llvm.ptr
      llvm.store %zero, %d : i16, !llvm.ptr
      llvm.return
    })",
                             {row("zeros", 1, 0)});
  EXPECT_EQ(count(text, ", i64 2, i32 2, i32 0)"), 4) << text;
}

TEST_F(EmulateKernels, BindsSharedMemoryBarriersAndShuffles) {
  std::string text = emulate(R"(
    llvm.mlir.global internal @shared_a() {addr_space = 3 : i32} : !llvm.array<3 x f32>
    llvm.mlir.global internal @shared_b() {addr_space = 3 : i32} : !llvm.array<32 x f32>
    llvm.func @reduce(%from: !llvm.ptr, %to: !llvm.ptr)
        attributes {gpu.kernel, nvvm.kernel} {
      %full = llvm.mlir.constant(-1 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %clamp = llvm.mlir.constant(31 : i32) : i32
      %tid = nvvm.read.ptx.sreg.tid.x : i32
      %a = llvm.getelementptr %from[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v = llvm.load %a : !llvm.ptr -> f32
      %s = nvvm.shfl.sync bfly %full, %v, %one, %clamp : f32 -> f32
      %base = llvm.mlir.addressof @shared_a : !llvm.ptr<3>
      llvm.store %s, %base : f32, !llvm.ptr<3>
      %other = llvm.mlir.addressof @shared_b : !llvm.ptr<3>
      %p = llvm.getelementptr %other[%tid] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %s, %p : f32, !llvm.ptr<3>
      nvvm.barrier0
      nvvm.bar.warp.sync %full : i32
      %r = llvm.load %p : !llvm.ptr<3> -> f32
      %b = llvm.getelementptr %to[%tid] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %r, %b : f32, !llvm.ptr
      llvm.return
    })",
                             {row("reduce", 2, 0, 144)});
  EXPECT_EQ(count(text, "call void @apemu_shared"), 3) << text;
  EXPECT_EQ(count(text, "call void @apemu_global"), 2) << text;
  EXPECT_EQ(count(text, "call void @apemu_barrier"), 1) << text;
  EXPECT_EQ(count(text, "call void @apemu_warp_barrier"), 1) << text;
  EXPECT_EQ(count(text, "call i32 @apemu_shuffle"), 1) << text;
  // Synchronises, 16 + 128 bytes of shared memory, two pointers.
  EXPECT_EQ(count(text, "i64 1, i64 144, i64 2, i64 0"), 1) << text;
  EXPECT_EQ(count(text, "@shared_a ="), 0) << text;
}

/// What the kernel uses is what its row asks the GPU for.
TEST_F(EmulateKernels, SharedBytesAreThoseOfTheRow) {
  const char *kernel = R"(
    llvm.mlir.global internal @shared_a() {addr_space = 3 : i32} : !llvm.array<5 x f32>
    llvm.func @keep() attributes {gpu.kernel, nvvm.kernel} {
      %a = llvm.mlir.addressof @shared_a : !llvm.ptr<3>
      %x = llvm.mlir.constant(1.0 : f32) : f32
      llvm.store %x, %a : f32, !llvm.ptr<3>
      llvm.return
    })";
  EXPECT_EQ(emulate(kernel, {row("keep", 0, 0, 16)}),
            "error: kernel 'keep' has 32 bytes of shared memory, its row 16");
  EXPECT_NE(emulate(kernel, {row("keep", 0, 0, 32)}), "");
}

TEST_F(EmulateKernels, CallsTheCLibraryAndNamesWhatItLacks) {
  const char *kernel = R"(
    llvm.func @FUNCTION(f32) -> f32
    llvm.func @f(%to: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %v = llvm.load %to : !llvm.ptr -> f32
      %r = llvm.call @FUNCTION(%v) : (f32) -> f32
      llvm.store %r, %to : f32, !llvm.ptr
      llvm.return
    })";
  auto with = [&](const std::string &function) {
    std::string text = kernel;
    for (size_t at; (at = text.find("FUNCTION")) != std::string::npos;)
      text.replace(at, 8, function);
    return emulate(text, {row("f", 1)});
  };
  EXPECT_NE(with("__nv_expf").find("@expf("), std::string::npos);
  EXPECT_NE(with("__nv_rsqrtf").find("@llvm.sqrt.f32("), std::string::npos);
  EXPECT_EQ(with("__nv_besself"),
            "error: kernel 'f' calls '__nv_besself', which the emulated GPU "
            "does not have");
}

TEST_F(EmulateKernels, TestsClassesOfNumbers) {
  std::string text = emulate(R"(
    llvm.func @__nv_isnand(f64) -> i32
    llvm.func @__nv_abs(i32) -> i32
    llvm.func @f(%to: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      %v = llvm.load %to : !llvm.ptr -> f64
      %n = llvm.call @__nv_isnand(%v) : (f64) -> i32
      %w = llvm.load %to : !llvm.ptr -> i32
      %a = llvm.call @__nv_abs(%w) : (i32) -> i32
      %s = llvm.add %a, %n : i32
      llvm.store %s, %to : i32, !llvm.ptr
      llvm.return
    })",
                             {row("f", 1)});
  EXPECT_EQ(count(text, "__nv_"), 0) << text;
  EXPECT_EQ(count(text, "call i32 @llvm.abs.i32("), 1) << text;
  EXPECT_EQ(count(text, "fcmp uno double"), 1) << text;
}

TEST_F(EmulateKernels, MakesAnEmptyTableWithoutKernels) {
  std::string text = emulate("", {});
  // One table for the image and one for the PTX that stands in for it.
  EXPECT_EQ(count(text, "i64 0, ptr null"), 2) << text;
}

} // namespace
