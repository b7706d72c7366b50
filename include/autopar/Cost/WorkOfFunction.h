//===- WorkOfFunction.h - From values to buffers of a work list -*- C++ -*-===//

#ifndef AUTOPAR_COST_WORKOFFUNCTION_H
#define AUTOPAR_COST_WORKOFFUNCTION_H

#include "autopar/Cost/WorkList.h"
#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// The value whose memory `value` names: what its reshapes read.
mlir::Value storageOf(mlir::Value value);

/// Which results of `func` need a copy because their memory is an argument's or
/// another result's. A setup value may be one more name of a parameter, and a
/// state may stay what it is.
llvm::SmallVector<bool> resultsToCopy(mlir::func::FuncOp func);

/// A work list whose buffers are the storages of a function's values.
class FunctionWork {
public:
  /// The arguments of `func` and no items yet.
  explicit FunctionWork(mlir::func::FuncOp func);
  void addResult(mlir::func::FuncOp func, unsigned result, unsigned buffer);
  WorkItem &add(mlir::ValueRange reads, mlir::ValueRange writes);
  void addCommunication(mlir::Operation *op);
  unsigned bufferOf(mlir::Value value);

  WorkList list;
  /// Of list.states, by number of the result.
  llvm::SmallVector<unsigned> stateResults;

private:
  llvm::DenseMap<mlir::Value, unsigned> ids;
  llvm::DenseMap<unsigned, mlir::BlockArgument> states; // by result
};

} // namespace autopar

#endif // AUTOPAR_COST_WORKOFFUNCTION_H
