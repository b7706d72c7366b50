//===- Contraction.h - Products of named dimensions -------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_CONTRACTION_H
#define AUTOPAR_LIB_FRONTEND_CONTRACTION_H

#include "OnnxNode.h"

namespace autopar {

/// An operand with one letter per dimension.
struct Term {
  Value value;
  std::string letters;

  size_t find(char letter) const { return letters.find(letter); }
  bool has(char letter) const { return find(letter) != std::string::npos; }
  int64_t size(char letter) const {
    return OnnxNode::shapeOf(value)[find(letter)];
  }
};

/// The contraction of two terms with the dimensions `keep`, in that order,
/// summed over all others. A dimension of size 1 that is larger in the other
/// operand stretches.
Term contract(OnnxNode &node, Term a, Term b, llvm::StringRef keep);

/// The letters of a product as numpy.matmul computes it: m, k and n, and other
/// letters for the batch; never c.
struct MatrixProduct {
  Term a, b;
  std::string result;
};
/// The last two dimensions are multiplied, those before broadcast.
FailureOr<MatrixProduct> matrixProductOf(OnnxNode &node, Value lhs, Value rhs);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_CONTRACTION_H
