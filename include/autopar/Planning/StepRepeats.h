//===- StepRepeats.h - Repeated ops of a function ---------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_STEPREPEATS_H
#define AUTOPAR_PLANNING_STEPREPEATS_H

#include "autopar/Planning/Model/ModelGraph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace autopar {

/// Returns what `autopar.source` says of an argument. The value of a setup
/// result is that of an op, and an argument without a source counts as an
/// input.
ValueSource sourceOf(mlir::func::FuncOp function, unsigned argument);

/// The ops of @step, or of a stage's step, and which of them are repeated
/// (Planning/Model/Repeats.h). What another stage sends is not. The object does
/// not follow changes of the function.
class StepRepeats {
public:
  explicit StepRepeats(mlir::func::FuncOp step);

  /// Returns whether an op of the function, not its terminator, is repeated.
  bool isRepeated(mlir::Operation *op) const {
    return repeats.isRepeated(numbers.at(op));
  }
  /// Returns whether a repeated op makes the value.
  bool isRepeated(mlir::Value value) const {
    mlir::Operation *maker = value.getDefiningOp();
    return maker && isRepeated(maker);
  }
  /// Returns the stages that run each op, in program order, by the stage that
  /// `autopar.stage` gives it.
  std::vector<StageList> stagesThatRun() const;
  /// Calls `make` for the repeated `op` and the repeated ops that it needs, as
  /// Repeats::makeMissing does.
  void makeMissing(mlir::Operation *op,
                   llvm::function_ref<bool(mlir::Operation *)> isThere,
                   llvm::function_ref<void(mlir::Operation *)> make) const;

private:
  Repeats repeats;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::SmallVector<unsigned> returned; // ops whose results are returned
};

} // namespace autopar

#endif // AUTOPAR_PLANNING_STEPREPEATS_H
