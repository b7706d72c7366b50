//===- PrintKernels.cpp - Kernels as a CUDA source ------------------------===//

#include "CudaKernelPrinter.h"
#include "CudaSource.h"
#include "autopar/Dialect/Canonicalizer.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar::gpu {

static constexpr StringLiteral kHead =
    R"(//===- kernels.cu - The kernels of the program ---===//
//
// Written by autopar. Each function computes a group of ONNX nodes; program.cpp
// launches them. Parameters are called after what the kernel does with them:
// in, out, inout. GEMMs, convolutions and communication are in libraries.
//
//===----------------------------------------------------------------------===//

#include <cmath>
#include <cstdint>
#include <type_traits>
#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
)";

/// Columns that the numbers of a table take.
constexpr size_t kTableWidth = 100;

/// A copy without what nobody needs, for readers.
static OwningOpRef<mlir::gpu::GPUModuleOp>
simplified(mlir::gpu::GPUModuleOp kernels) {
  OwningOpRef<mlir::gpu::GPUModuleOp> copy(kernels.clone());
  PassManager manager(kernels.getContext(),
                      mlir::gpu::GPUModuleOp::getOperationName());
  manager.addPass(createCanonicalizer());
  manager.addPass(createCSEPass());
  if (failed(manager.run(*copy)))
    return {};
  return copy;
}

/// The constant as an array of the device.
static std::string tableText(LLVM::GlobalOp table) {
  auto elements = cast<DenseElementsAttr>(table.getValueAttr());
  std::string text =
      llvm::formatv("\nstatic __device__ const {0} {1}[{2}] = {{",
                    *typeText(elements.getElementType()), table.getSymName(),
                    elements.size());
  size_t width = kTableWidth;
  for (Attribute element : elements.getValues<Attribute>()) {
    std::string number = *literalText(element) + ",";
    width += number.size() + 1;
    bool full = width > kTableWidth;
    text += full ? "\n    " + number : " " + number;
    width = full ? number.size() + 4 : width;
  }
  return text + "\n};\n";
}

/// The tables that kernels read.
static std::string tablesText(mlir::gpu::GPUModuleOp kernels) {
  llvm::StringSet<> used;
  kernels.walk([&](LLVM::AddressOfOp op) { used.insert(op.getGlobalName()); });
  std::string text;
  for (auto global : kernels.getOps<LLVM::GlobalOp>())
    if (global.getConstant() && used.contains(global.getSymName()))
      text += tableText(global);
  return text;
}

LogicalResult printKernels(mlir::gpu::GPUModuleOp kernels,
                           ArrayRef<ProgramKernel> rows, raw_ostream &os) {
  Helpers helpers;
  std::string functions;
  OwningOpRef<mlir::gpu::GPUModuleOp> copy;
  if (kernels) {
    copy = simplified(kernels);
    if (!copy)
      return failure();
  }
  for (const ProgramKernel &row : rows) {
    auto function = copy->lookupSymbol<mlir::gpu::GPUFuncOp>(row.name);
    if (!function)
      return kernels.emitError("has no kernel '") << row.name << "'";
    FailureOr<std::string> text =
        CudaKernelPrinter(function, row, helpers).print();
    if (failed(text))
      return failure();
    functions += "\n" + *text;
  }
  os << kHead << helperText(helpers) << (copy ? tablesText(*copy) : "")
     << functions;
  return success();
}

/// Returns whether its threads wait for each other, so that each needs a stack.
static bool synchronises(mlir::gpu::GPUFuncOp function) {
  return function
      .walk([](Operation *op) {
        bool waits = isa<mlir::gpu::BarrierOp, mlir::gpu::ShuffleOp>(op) ||
                     op->getName().getStringRef() == "nvvm.bar.warp.sync";
        return waits ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static void printParameters(const ProgramKernel &row, raw_ostream &os) {
  os << "static const apemu_parameter " << row.name << "_parameters[] = {\n";
  for (const ProgramKernel::Buffer &buffer : row.buffers) {
    StringRef access = !buffer.writes ? "APEMU_READ"
                       : buffer.reads ? "APEMU_READ | APEMU_WRITE"
                                      : "APEMU_WRITE";
    os << "    {" << buffer.bytes << ", " << access << "},\n";
  }
  os << "};\n";
}

void printEmulatedTable(mlir::gpu::GPUModuleOp kernels,
                        ArrayRef<ProgramKernel> rows, raw_ostream &os) {
  os << R"(//===- emulated.cpp - The kernels on the emulated device ---===//
//
// kernels.cu compiled for the host, and what the emulator checks of each
// kernel: the bytes behind its pointers and what it does with them.
//
//===----------------------------------------------------------------------===//

#include <autopar/emulated_cuda.h>

#include "kernels.cu"

)";
  for (const ProgramKernel &row : rows)
    printParameters(row, os);
  if (rows.empty()) {
    os << llvm::formatv("extern \"C\" {{\nextern const apemu_module {0};\n"
                        "const apemu_module {0} = {{APEMU_MAGIC, 0, nullptr};\n"
                        "}\n",
                        abi::nameOf<aprt_program_device_code>);
    return;
  }
  os << "\nstatic const apemu_kernel kernels[] = {\n";
  for (const ProgramKernel &row : rows) {
    auto function = kernels.lookupSymbol<mlir::gpu::GPUFuncOp>(row.name);
    os << llvm::formatv("    apemu::kernel<&{0}>(\"{0}\", /*synchronises=*/"
                        "{1}, {2}, {0}_parameters),\n",
                        row.name, function && synchronises(function) ? 1 : 0,
                        row.sharedBytes);
  }
  os << "};\nAPEMU_PROGRAM(kernels)\n";
}

} // namespace autopar::gpu
