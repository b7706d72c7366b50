//===- Canonicalize.h - Sets of rewrites, and flattenings -------*- C++ -*-===//

#ifndef AUTOPAR_LIB_DIALECT_CANONICALIZE_H
#define AUTOPAR_LIB_DIALECT_CANONICALIZE_H

#include "OpHelpers.h"
#include "mlir/IR/PatternMatch.h"

namespace autopar {

// Sets of rewrites that belong to no single op; the canonicalizer runs them
// with the op that registers them.
void populateSinkPatterns(mlir::RewritePatternSet &patterns);
void populateEinsumSinkPatterns(mlir::RewritePatternSet &patterns);
void populateTransposePatterns(mlir::RewritePatternSet &patterns);
void populateWeightPatterns(mlir::RewritePatternSet &patterns);
void populateGeluPatterns(mlir::RewritePatternSet &patterns);
void populateEmptyPatterns(mlir::RewritePatternSet &patterns);
void populatePadPatterns(mlir::RewritePatternSet &patterns);

/// unary, binary, compare, select or convert.
bool isElementwise(mlir::Operation *op);

/// A reshape whose every result dimension merges consecutive operand
/// dimensions.
struct Flattening {
  ReshapeOp reshape;
  llvm::SmallVector<llvm::SmallVector<int64_t, 2>>
      groups; // by result dimension

  /// The input's shape; of a regrouping, with its dimensions split, and that is
  /// what groups count.
  llvm::SmallVector<int64_t> from;

  llvm::ArrayRef<int64_t> shape() { return from; }

  /// The one dimension of the group that is larger than 1 (the first if there
  /// is none); nullopt if there are several.
  std::optional<int64_t> only(int64_t dim) {
    std::optional<int64_t> found;
    for (int64_t from : groups[dim]) {
      if (shape()[from] == 1)
        continue;
      if (found)
        return std::nullopt;
      found = from;
    }
    return found.value_or(groups[dim].front());
  }
  /// It merges dimensions of size 1 only.
  bool onlyDropsUnits() {
    return llvm::all_of(llvm::seq<size_t>(0, groups.size()),
                        [&](size_t dim) { return only(dim).has_value(); });
  }
  /// Sizes of the dimensions merged into `dim`.
  llvm::SmallVector<int64_t, 2> sizes(int64_t dim) {
    llvm::SmallVector<int64_t, 2> list;
    for (int64_t from : groups[dim])
      list.push_back(shape()[from]);
    return list;
  }
};

/// The flattening that makes `value`, if one does.
std::optional<Flattening> flatteningOf(mlir::Value value);
/// The same for a reshape that splits dimensions first, such as [t, b*h, d] to
/// [t*b, h*d].
std::optional<Flattening> regroupingOf(mlir::Value value);

/// `ab,bc->ac`
std::string equationOf(llvm::StringRef lhs, llvm::StringRef rhs,
                       llvm::StringRef result);

/// `value` reshaped, or itself.
mlir::Value reshapeTo(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// A splat constant with the elements of `value` on another shape, or null.
mlir::Value resplat(mlir::OpBuilder &builder, mlir::Value value,
                    llvm::ArrayRef<int64_t> shape);

/// The places of a broadcast's operand dimensions when its result's dimension d
/// moves to places[d]; nullopt if they would be out of order.
std::optional<llvm::SmallVector<int64_t>>
placedDims(BroadcastOp broadcast, llvm::ArrayRef<int64_t> places);

/// A type of this shape with the elements of `value`.
mlir::RankedTensorType withShape(mlir::Value value,
                                 llvm::ArrayRef<int64_t> shape);

} // namespace autopar

#endif // AUTOPAR_LIB_DIALECT_CANONICALIZE_H
