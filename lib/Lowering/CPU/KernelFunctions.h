//===- KernelFunctions.h - Kernels as functions of pointers -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_CPU_KERNELFUNCTIONS_H
#define AUTOPAR_LIB_LOWERING_CPU_KERNELFUNCTIONS_H

#include "../Loops/ConstantTables.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace autopar::cpu {

/// The function of a kernel, of the runtime's type `aprt_kernel`, and the
/// arguments to launch it with.
struct LoopKernel {
  mlir::LLVM::LLVMFuncOp function;
  /// Operand numbers of the kernel op, one per distinct buffer.
  llvm::SmallVector<unsigned> buffers;
  /// Mesh axes along which the device's index is one of the scalars.
  llvm::SmallVector<mlir::ArrayAttr> positions;
  int64_t work = 0, grain = 1;
};

/// Makes one function per distinct kernel body.
class KernelFunctions {
public:
  explicit KernelFunctions(mlir::ModuleOp module)
      : module(module), tables(module) {}
  mlir::FailureOr<LoopKernel> get(KernelOp kernel);

private:
  mlir::ModuleOp module;
  loops::ConstantTables tables;
  llvm::StringMap<LoopKernel> known;
};

} // namespace autopar::cpu

#endif // AUTOPAR_LIB_LOWERING_CPU_KERNELFUNCTIONS_H
