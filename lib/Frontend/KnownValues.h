//===- KnownValues.h - What follows from constants --------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_KNOWNVALUES_H
#define AUTOPAR_LIB_FRONTEND_KNOWNVALUES_H

#include "autopar/Dialect/Interpreter/Tensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace autopar {

/// Tensors of up to this many elements are known while compiling if they are
/// constants, parameters or made of such.
constexpr uint64_t kKnownElements = 1 << 20;

/// Values that an import can compute. It notes which they are as ops are made,
/// and evaluates an op, once, when a node asks: most are computed in @setup.
class KnownValues {
public:
  /// The elements of a parameter, failure if its bytes are not there.
  using Reader =
      std::function<mlir::FailureOr<interpreter::Tensor>(mlir::Value)>;
  explicit KnownValues(Reader readParameter)
      : readParameter(std::move(readParameter)) {}

  /// A parameter of at most kKnownElements elements.
  void noteParameter(mlir::Value value) { made[value] = Parameters; }
  /// An op was made that stays.
  void note(mlir::Operation *op);
  /// Returns whether no parameter is needed to compute the value.
  bool followsFromConstants(mlir::Value value) const {
    return originOf(value) == Constants;
  }
  /// The value's elements; null if they are not known.
  interpreter::TensorRef get(mlir::Value value);
  /// The result of an op, which is not kept.
  mlir::FailureOr<interpreter::Tensor> evaluate(mlir::Operation *op);

private:
  /// The kinds of tensors from which a value is computed.
  enum Origin { Unknown, Constants, Parameters };
  Origin originOf(mlir::Value value) const;
  mlir::FailureOr<interpreter::Tensor> read(mlir::Value value);

  Reader readParameter;
  llvm::DenseMap<mlir::Value, Origin> made;
  llvm::DenseMap<mlir::Value, interpreter::TensorRef> known;
  /// Elements evaluated so far.
  uint64_t evaluated = 0;
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_KNOWNVALUES_H
