//===- StackEmitter.h - Loops that keep rows on the stack -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_CPU_STACKEMITTER_H
#define AUTOPAR_LIB_LOWERING_CPU_STACKEMITTER_H

#include "../Loops/LoopEmitter.h"

namespace autopar::cpu {

using loops::Index;
using loops::Part;
using loops::storageType;

/// Rows longer than this are computed again instead of kept on the stack.
constexpr int64_t kMaxStackRow = 32768;

class StackEmitter : public loops::LoopEmitter {
public:
  using LoopEmitter::LoopEmitter;

  /// The sums are a row on the stack and the columns the inner loop, which
  /// reads in order. Null if `at` is no plain index over such a loop.
  mlir::Value foldColumns(llvm::ArrayRef<int64_t> extents,
                          llvm::ArrayRef<Index> at, mlir::Value init,
                          ColumnBody body, Combine combine, bool sums) override;
  mlir::Value rowBuffer(mlir::Type element, int64_t size) override;
  mlir::Value elementOfMany(mlir::ValueRange tensors, Index which,
                            llvm::ArrayRef<Index> at) override;
  mlir::Value poolElement(PoolOp op, llvm::ArrayRef<Index> at) override;
  mlir::Value scanElement(ScanOp op, llvm::ArrayRef<Index> at) override;
  mlir::Value topKElement(TopKOp op, llvm::ArrayRef<Index> at) override;
  mlir::Value scatterElement(ScatterOp op, llvm::ArrayRef<Index> at) override;

private:
  struct ColumnFold;
  mlir::Value sortRow(TopKOp op, llvm::ArrayRef<Index> at,
                      mlir::Value positions);
  mlir::Value scatterList(ScatterOp op, llvm::ArrayRef<Index> at);
  mlir::Value scatterBlock(ScatterOp op, llvm::ArrayRef<Index> at);
  void loopAt(unsigned depth, mlir::Value extent,
              llvm::function_ref<void(Index)> body);
  std::optional<Index> moveColumn(Index index, mlir::Value from,
                                  mlir::Value to);
};

} // namespace autopar::cpu

#endif // AUTOPAR_LIB_LOWERING_CPU_STACKEMITTER_H
