//===- StepFunction.h - @step while it is extended --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_STEPFUNCTION_H
#define AUTOPAR_LIB_TRAINING_STEPFUNCTION_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Training/RecipeAttr.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace autopar {

/// The arguments and results of @step as lists: appended to, then written back
/// once.
class StepFunction {
public:
  struct Result {
    mlir::Value value;
    mlir::Attribute what; // autopar.result
  };

  explicit StepFunction(mlir::func::FuncOp function);

  mlir::Block &body() { return function.getBody().front(); }
  /// A builder that appends ops to the function.
  mlir::OpBuilder builder();
  mlir::Value addArgument(mlir::RankedTensorType type, mlir::Attribute source,
                          llvm::StringRef name);
  mlir::Attribute source(mlir::BlockArgument argument) const {
    return sources[argument.getArgNumber()];
  }
  void setSource(mlir::BlockArgument argument, mlir::Attribute source) {
    sources[argument.getArgNumber()] = source;
  }
  /// The argument that is the input of that name; null if there is none.
  mlir::BlockArgument input(llvm::StringRef name);
  /// The argument that is the state of that name and role; null if there is
  /// none.
  mlir::BlockArgument state(llvm::StringRef name, StateRole role);
  /// Sets what the state is in the next step.
  void setNext(llvm::StringRef name, StateRole role, mlir::Value value);
  /// Writes the lists into the function. Ops without a use go.
  void finish();

  mlir::func::FuncOp function;
  std::vector<Result> results;

private:
  std::vector<mlir::Attribute> sources; // autopar.source
};

/// @step of a module with a recipe, and that; nothing of a module without one.
/// Fails if only one of both is there, having said so.
struct TrainedModule {
  const Recipe &recipe; // of the module's attribute
  mlir::func::FuncOp step;
};
mlir::FailureOr<std::optional<TrainedModule>>
trainedModule(mlir::ModuleOp module);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_STEPFUNCTION_H
