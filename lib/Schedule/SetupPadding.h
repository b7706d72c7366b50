//===- SetupPadding.h - Constants padded once -------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_SCHEDULE_SETUPPADDING_H
#define AUTOPAR_LIB_SCHEDULE_SETUPPADDING_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// The argument of @step for a constant `value`, which is a parameter or a
/// value that @setup computes; null for other values.
mlir::BlockArgument constantOf(mlir::Value value);

/// Moves pads of constants from one @step to its @setup, which it makes where
/// there is none.
class SetupPadding {
public:
  SetupPadding(mlir::ModuleOp module, mlir::func::FuncOp step, Mesh mesh)
      : module(module), step(step), mesh(std::move(mesh)) {}

  /// Leaves a pad where it is if its operand is no constant, or is sharded so
  /// that no larger tensor is cut into the padded blocks.
  void move(mlir::Operation *pad);

private:
  mlir::Attribute attribute(mlir::BlockArgument argument,
                            llvm::StringRef name) {
    return step.getArgAttr(argument.getArgNumber(), name);
  }
  mlir::RankedTensorType globalType(mlir::Value padded,
                                    ShardingAttr sharding) const;
  bool findSetup(mlir::BlockArgument argument);
  bool readsAlone(mlir::BlockArgument argument);
  mlir::Value inSetup(mlir::BlockArgument argument);
  mlir::StringAttr nameOf(mlir::BlockArgument argument);
  void replace(mlir::BlockArgument argument, mlir::Value value,
               mlir::RankedTensorType global);
  mlir::Value append(mlir::BlockArgument argument, mlir::Value value,
                     mlir::RankedTensorType global);
  mlir::Operation *setupEnd() {
    return setup.getBody().front().getTerminator();
  }

  mlir::ModuleOp module;
  mlir::func::FuncOp step, setup;
  Mesh mesh;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_SETUPPADDING_H
