//===- EmitRows.cpp - Rows that depend on an order ------------------------===//
//
// Emits scans and top_k for devices that keep no rows.
//
//===----------------------------------------------------------------------===//

#include "LoopEmitter.h"

using namespace mlir;

namespace autopar::loops {

/// Each element folds its own prefix.
Value LoopEmitter::scanElement(ScanOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim(), size = op.getInput().getType().getDimSize(dim);
  Value here = value(at[dim]);
  bool natural = isNatural(op.getInput().getType());
  Value neutral = neutralFor(*this, op.getKind(), op.getInput());
  auto combine = [&](Value acc, Value x) {
    return combineElements(*this, op.getKind(), acc, x, natural);
  };
  using P = arith::CmpIPredicate;
  P predicate = op.getReverse() ? (op.getExclusive() ? P::sgt : P::sge)
                                : (op.getExclusive() ? P::slt : P::sle);
  return fold(
      {size}, at, neutral,
      [&](ArrayRef<Index> i, Value acc) {
        Value x = element(op.getInput(), with(at, dim, {i[0].value}));
        Value counts = make<arith::CmpIOp>(predicate, i[0].value, here);
        return combine(acc, make<arith::SelectOp>(counts, x, neutral));
      },
      combine);
}

Value isBetter(LoopEmitter &emit, TopKOp op, Value a, Value b) {
  using I = arith::CmpIPredicate;
  using F = arith::CmpFPredicate;
  bool smallest = op.getSmallest();
  if (!isa<FloatType>(a.getType())) {
    bool natural = isNatural(op.getInput().getType());
    I less = natural ? I::ult : I::slt, more = natural ? I::ugt : I::sgt;
    return emit.make<arith::CmpIOp>(smallest ? less : more, a, b);
  }
  Value ahead = emit.make<arith::CmpFOp>(smallest ? F::ULT : F::UGT, a, b);
  Value number = smallest ? a : b;
  return emit.make<arith::AndIOp>(
      ahead, emit.make<arith::CmpFOp>(F::ORD, number, number));
}

} // namespace autopar::loops
