//===- HeldValue.h - What a local value holds of a global one ---*- C++ -*-===//
//
// The equality checker's abstract value and what each structural op does to it.
// Nothing here is shared with the passes that make local programs.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_EQUALITY_HELDVALUE_H
#define AUTOPAR_LIB_EQUALITY_HELDVALUE_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Interfaces/Neutral.h"

namespace autopar {

/// The sharding of one dimension of a global value.
struct HeldDim {
  llvm::SmallVector<unsigned, 2> subAxes; // major to minor; empty: whole
  std::optional<Interval> interval;       // in place of plain blocks
  double fill = 0;            // outside the dimension, of an interval
  std::optional<double> past; // bytes past the extent; nullopt: unspecified
};

/// A claim about a local value: at every point it is the block of `global` that
/// the point's digits of the sub-axes choose. Over `partial` sub-axes the
/// reduction of the local values is that block.
struct HeldValue {
  mlir::Value global;
  llvm::SmallVector<HeldDim> dims;
  llvm::SmallVector<Partial, 2> partial; // ordered by sub-axis
  /// The partial sub-axes along which the first device holds the value and the
  /// others hold the neutral element. For declared values this is not known.
  llvm::SmallVector<unsigned, 2> firstOnly;

  /// The claim of a declared sharding, which says nothing about bytes past the
  /// extent.
  static HeldValue of(mlir::Value global, const Sharding &sharding);
  Sharding sharding() const;
  bool usesSubAxis(unsigned subAxis) const {
    return sharding().usesSubAxis(subAxis);
  }
  const Partial *partialOver(unsigned subAxis) const;
  llvm::ArrayRef<int64_t> globalShape() const;
  /// The type that a device's part has.
  mlir::RankedTensorType localType(const Mesh &mesh) const;
  /// Blocks are not all full, so that there are bytes past the extent.
  bool hasPast(unsigned dim, const Mesh &mesh) const;
};

/// Notes where `value` comes from: each op that moved it, back to the compute
/// op that made it, so that a message shows all that may be wrong.
void noteOrigin(mlir::InFlightDiagnostic &diagnostic, mlir::Value value,
                llvm::StringRef note);

/// The claim about the result of `op`, a collective or position op, on `input`.
/// If the result would hold no part of the global value, an error at `op` says
/// what to do.
mlir::FailureOr<HeldValue> applyStructural(mlir::Operation *op,
                                           const HeldValue &input,
                                           const Mesh &mesh,
                                           mlir::FlatSymbolRefAttr symbol);

} // namespace autopar

#endif // AUTOPAR_LIB_EQUALITY_HELDVALUE_H
