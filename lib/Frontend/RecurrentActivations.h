//===- RecurrentActivations.h - Activations of LSTM, GRU, RNN ---*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_RECURRENTACTIVATIONS_H
#define AUTOPAR_LIB_FRONTEND_RECURRENTACTIVATIONS_H

#include "OnnxNode.h"

namespace autopar {

/// An activation with its numbers.
struct RecurrentActivation {
  struct Kind;
  const Kind *kind;
  double alpha, beta;
  double clip; // of what it is applied to; 0 for none

  Value operator()(OnnxNode &node, Value x) const;
};

/// The functions of all directions; alpha and beta are consumed by those that
/// have such, in order.
mlir::FailureOr<llvm::SmallVector<RecurrentActivation>>
readActivations(OnnxNode &node, llvm::ArrayRef<llvm::StringRef> byDefault,
                int64_t directions);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_RECURRENTACTIVATIONS_H
