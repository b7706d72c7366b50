//===- ConstantTables.h - Constants as data beside kernels ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_LOOPS_CONSTANTTABLES_H
#define AUTOPAR_LIB_LOWERING_LOOPS_CONSTANTTABLES_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/DenseMap.h"

namespace autopar::loops {

/// The name of every table begins so.
inline constexpr llvm::StringLiteral kTablePrefix = "table_";

/// Constants of many elements that kernels read: `llvm.mlir.global internal
/// constant @table_N(dense<...> : tensor<NxT>) : !llvm.array<N x T>`, one per
/// distinct constant. T is what kernels compute with, so that no element is
/// converted: a byte for booleans, f32 for f16 and bf16.
class ConstantTables {
public:
  /// Globals go into `module`, a symbol table, in an address space.
  explicit ConstantTables(mlir::Operation *module, unsigned addressSpace = 0)
      : module(module), addressSpace(addressSpace) {}

  /// The table with the elements in row-major order.
  mlir::LLVM::GlobalOp get(mlir::DenseElementsAttr elements);

private:
  mlir::Operation *module;
  unsigned addressSpace;
  llvm::DenseMap<mlir::Attribute, mlir::LLVM::GlobalOp> known;
};

} // namespace autopar::loops

#endif // AUTOPAR_LIB_LOWERING_LOOPS_CONSTANTTABLES_H
