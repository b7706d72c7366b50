//===- CudaKernelPrinter.h - The statements of one kernel -------*- C++ -*-===//
//
// Values that are used once become part of the expression that uses them;
// others become variables. An expression that reads memory is printed at the
// latest before the next write.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_CUDAKERNELPRINTER_H
#define AUTOPAR_LIB_LOWERING_GPU_CUDAKERNELPRINTER_H

#include "../Common/HostProgram.h"
#include "CudaText.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace autopar::gpu {

class CudaKernelPrinter {
public:
  CudaKernelPrinter(mlir::gpu::GPUFuncOp function, const ProgramKernel &row,
                    Helpers &helpers)
      : function(function), row(row), helpers(helpers) {}

  /// Returns the function with its comment. Fails with an error at an op that
  /// has no text.
  mlir::FailureOr<std::string> print();

private:
  /// A place in memory: base[offset], elements of `element`.
  struct Address {
    std::string base;
    mlir::Type element; // null: not known
    Text offset;        // empty: 0
    bool isConst = false;
  };

  // The head.
  std::string comment();
  std::string signature();
  mlir::LogicalResult declareArrays();
  mlir::Type elementOf(mlir::Value pointer);

  // Statements.
  mlir::LogicalResult block(mlir::Block &block);
  mlir::LogicalResult statement(mlir::Operation *op);
  mlir::LogicalResult expression(mlir::Operation *op);
  mlir::LogicalResult lanes(mlir::Operation *op);
  mlir::LogicalResult shuffle(mlir::gpu::ShuffleOp op);
  mlir::LogicalResult loop(mlir::scf::ForOp op);
  mlir::LogicalResult whileLoop(mlir::scf::WhileOp op);
  mlir::LogicalResult branch(mlir::scf::IfOp op);
  mlir::LogicalResult address(mlir::LLVM::GEPOp op);
  mlir::LogicalResult stack(mlir::LLVM::AllocaOp op);
  mlir::LogicalResult load(mlir::LLVM::LoadOp op);
  mlir::LogicalResult store(mlir::LLVM::StoreOp op);
  void position(mlir::Operation *op, llvm::StringRef name,
                llvm::StringRef builtin);
  std::string carry(mlir::Value initial, mlir::Operation *op,
                    mlir::Value carried, mlir::Value next);
  void assign(llvm::ArrayRef<std::string> names, mlir::ValueRange values);

  // Values.
  /// Returns whether the value has one use, in its own block: its expression
  /// may then be printed there and needs no variable.
  static bool isUsedOnceNearby(mlir::Value value);
  void define(mlir::Value value, llvm::SmallVector<Text> texts,
              bool mayWait = true);
  void name(mlir::Value value, llvm::StringRef name);
  void materialize(mlir::Value value);
  void flush(mlir::Operation *before);
  Text lane(mlir::Value value, unsigned number);
  Text whole(mlir::Value value);
  std::string access(mlir::Value pointer, mlir::Type type, bool &reads);
  std::string freshName(llvm::StringRef stem);
  std::string stemOf(mlir::Value value);
  void line(const llvm::Twine &text);
  mlir::LogicalResult unknown(mlir::Operation *op);

  mlir::gpu::GPUFuncOp function;
  const ProgramKernel &row;
  Helpers &helpers;
  std::string body;
  unsigned indent = 1, loops = 0;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Text>> texts; // by lane
  llvm::DenseMap<mlir::Value, Address> places;
  llvm::SmallVector<mlir::Value> waiting; // read memory, not yet used
  llvm::StringMap<unsigned> names;
};

} // namespace autopar::gpu

#endif // AUTOPAR_LIB_LOWERING_GPU_CUDAKERNELPRINTER_H
