//===- PersistentTable.h - What is outside the arena ------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_SCHEDULE_PERSISTENTTABLE_H
#define AUTOPAR_LIB_SCHEDULE_PERSISTENTTABLE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace autopar {

/// The function's results are setup values.
bool isSetup(mlir::func::FuncOp func);

/// What the attributes of a function's argument or result say of it; null where
/// they say nothing.
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
  /// The index of a parameter, one for all functions that split it alike, of
  /// an input, or of the setup value that `argument` is; an error if setup has
  /// none such.
  mlir::FailureOr<int64_t> argument(mlir::func::FuncOp func,
                                    mlir::BlockArgument argument);
  /// A new entry for result `number` of a setup function.
  int64_t addSetupValue(mlir::func::FuncOp func, unsigned number);
  /// Result `number` of the setup function is entry `index`.
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
