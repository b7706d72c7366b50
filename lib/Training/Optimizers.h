//===- Optimizers.h - The table of optimizers -------------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_TRAINING_OPTIMIZERS_H
#define AUTOPAR_LIB_TRAINING_OPTIMIZERS_H

#include "StepNumber.h"

namespace autopar {

/// The scalars of f64 that all parameters share in a step.
struct StepScalars {
  mlir::Value rate;  // learning rate
  mlir::Value count; // of the step, from 1
};

/// The update of one parameter while it is built: `b` builds at its place.
class Update {
public:
  using AddState = llvm::function_ref<mlir::Value(
      llvm::StringRef name, mlir::RankedTensorType type, double fill)>;
  using SetNext = llvm::function_ref<void(llvm::StringRef, mlir::Value)>;
  /// A hyperparameter of the recipe.
  using Find =
      llvm::function_ref<StepNumber(llvm::StringRef name, unsigned index)>;

  Update(TensorBuilder b, const OptimizerRecipe &recipe, StepScalars scalars,
         mlir::Value parameter, mlir::Value gradient, bool decays, Find find,
         AddState addState, SetNext setNext)
      : b(b), recipe(recipe), scalars(scalars), parameter(parameter),
        gradient(gradient), decays(decays), find(find), addState(addState),
        setNext(setNext) {}

  StepNumber number(llvm::StringRef name, unsigned index = 0) const {
    return find(name, index);
  }
  /// The numbers of this parameter.
  StepNumber weightDecay() const {
    return decays ? number("weight_decay") : StepNumber(0);
  }
  mlir::Value binary(BinaryKind kind, mlir::Value lhs, const StepNumber &rhs) {
    return rhs.applyTo(b, kind, lhs);
  }
  mlir::Value add(mlir::Value lhs, const StepNumber &rhs) {
    return binary(BinaryKind::Add, lhs, rhs);
  }
  mlir::Value mul(mlir::Value lhs, const StepNumber &rhs) {
    return binary(BinaryKind::Mul, lhs, rhs);
  }
  /// A state like the parameter, or of another shape, that begins filled.
  mlir::Value state(llvm::StringRef name, double fill = 0);
  mlir::Value state(llvm::StringRef name, llvm::ArrayRef<int64_t> shape,
                    double fill = 0);
  void next(llvm::StringRef name, mlir::Value value) { setNext(name, value); }
  /// A scalar of f64, as an element of the parameter's type everywhere.
  mlir::Value spread(mlir::Value scalar);
  /// old * factor + new * (1 - factor).
  mlir::Value average(mlir::Value old, mlir::Value value,
                      const StepNumber &factor);
  /// 1 - factor^count, a scalar.
  mlir::Value correction(const StepNumber &factor);
  /// `value`, or `otherwise` in a step in which the number is 0.
  mlir::Value unlessZero(const StepNumber &number, mlir::Value value,
                         mlir::Value otherwise);

  TensorBuilder b;
  const OptimizerRecipe &recipe;
  StepScalars scalars;
  mlir::Value parameter, gradient;

private:
  bool decays;
  Find find;
  AddState addState;
  SetNext setNext;
};

/// A hyperparameter by its name in torch.optim, with its default: several
/// numbers are a list.
struct Hyperparameter {
  llvm::StringLiteral name;
  std::vector<double> byDefault;
  bool isFlag = false;
  NumberRange range = {};   // what torch.optim takes
  bool beginsState = false; // nothing but what a state is filled with
};

struct OptimizerRow {
  llvm::StringLiteral kind;
  std::vector<Hyperparameter> hyperparameters;
  /// The parameter's next value.
  mlir::Value (*update)(Update &update);
  /// The update depends on which elements share a row or a column.
  bool readsDims = false;
};

llvm::ArrayRef<OptimizerRow> optimizers();
const OptimizerRow *findOptimizer(llvm::StringRef kind);

} // namespace autopar

#endif // AUTOPAR_LIB_TRAINING_OPTIMIZERS_H
