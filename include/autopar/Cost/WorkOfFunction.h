//===- WorkOfFunction.h - From values to buffers of a work list -*- C++ -*-===//

#ifndef AUTOPAR_COST_WORKOFFUNCTION_H
#define AUTOPAR_COST_WORKOFFUNCTION_H

#include "autopar/Cost/WorkList.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// The value whose memory `value` names: reshapes are followed to their
/// operand.
mlir::Value storageOf(mlir::Value value);

/// Tells for each result of `func` whether it needs a copy because its memory
/// is that of an argument or of another result. A setup value may be another
/// name of a parameter, and a state may stay as it is; both need no copy.
llvm::SmallVector<bool> resultsToCopy(mlir::func::FuncOp func);

/// A work list whose buffers are the storages of a function's values.
class FunctionWork {
public:
  /// Begins with buffers for the arguments of `func` and without items.
  explicit FunctionWork(mlir::func::FuncOp func);
  void addResult(mlir::func::FuncOp func, unsigned result, unsigned buffer);
  WorkItem &add(mlir::ValueRange reads, mlir::ValueRange writes);
  void addCommunication(mlir::Operation *op);
  unsigned bufferOf(mlir::Value value);

  WorkList list;
  /// The number of the result for each entry of list.states.
  llvm::SmallVector<unsigned> stateResults;

private:
  llvm::DenseMap<mlir::Value, unsigned> ids;
  llvm::DenseMap<unsigned, mlir::BlockArgument> states; // by result
};

} // namespace autopar

#endif // AUTOPAR_COST_WORKOFFUNCTION_H
