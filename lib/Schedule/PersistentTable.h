//===- PersistentTable.h - What is outside the arena ------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_SCHEDULE_PERSISTENTTABLE_H
#define AUTOPAR_LIB_SCHEDULE_PERSISTENTTABLE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace autopar {

/// Returns whether the function's results are setup values.
bool isSetup(mlir::func::FuncOp func);

/// The description of a function's argument or result in its attributes.
/// Members are null if the attributes lack them.
struct DescribedTensor {
  explicit DescribedTensor(mlir::DictionaryAttr attributes);

  mlir::Attribute what; // its source, or what it is the result of
  mlir::RankedTensorType whole;
  ShardingAttr sharding;
};

/// The persistent tensors of each stage, numbered over its setup and its step:
/// parameters, setup values, and inputs that the step reads where the host
/// holds them. Setup functions come first.
class PersistentTable {
public:
  /// Returns the index of the parameter, input or setup value that `argument`
  /// is. A parameter has one index for all functions that split it alike. It
  /// fails if setup has no such value.
  mlir::FailureOr<int64_t> argument(mlir::func::FuncOp func,
                                    mlir::BlockArgument argument);
  /// Adds an entry for result `number` of a setup function and returns its
  /// index.
  int64_t addSetupValue(mlir::func::FuncOp func, unsigned number);
  /// Records that result `number` of the setup function is entry `index`.
  void nameResult(mlir::func::FuncOp func, unsigned number, int64_t index);

  mlir::ArrayAttr toAttribute(mlir::MLIRContext *context) const;

private:
  struct Stage {
    llvm::SmallVector<mlir::Attribute> entries;
    llvm::DenseMap<mlir::Attribute, int64_t> arguments; // by entry
    llvm::DenseMap<int64_t, int64_t> setupValues;       // by result number
  };
  std::map<int64_t, Stage> stages;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_PERSISTENTTABLE_H
