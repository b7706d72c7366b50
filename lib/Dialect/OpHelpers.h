//===- OpHelpers.h - What the op files of the dialect share -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_DIALECT_OPHELPERS_H
#define AUTOPAR_LIB_DIALECT_OPHELPERS_H

#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Shapes.h"

namespace autopar {

/// Operations of an exponential, see UnaryOp::getFlops.
inline constexpr int64_t kExpFlops = 20;

inline mlir::Type elementOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getElementType();
}

/// The dimensions of a tensor of `rank` that are none of `reduced`.
llvm::SmallVector<int64_t> keptDims(int64_t rank,
                                    llvm::ArrayRef<int64_t> reduced);

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// The rule with a Parallel factor for each dimension of `shape`, in `operands`
/// operands and one result.
ShardingRule elementwiseRule(llvm::ArrayRef<int64_t> shape, unsigned operands);

/// No factors yet: every dimension of the op's operands and results is whole.
ShardingRule wholeRule(mlir::Operation *op);

/// Gives dimension `dim` of operand `operand` and `resultDim` of result 0 a new
/// Parallel factor.
unsigned addSharedFactor(ShardingRule &rule, int64_t size, unsigned operand,
                         unsigned dim, unsigned resultDim);

void addPass(ShardingRule &rule, llvm::ArrayRef<unsigned> operands,
             ReduceKind kind);

/// The result takes its elements from `operands` only: sums (not of i1), maxima
/// and minima pass if all of them are partial.
void addMovementPasses(ShardingRule &rule, llvm::ArrayRef<unsigned> operands,
                       mlir::Type elementType);

//===----------------------------------------------------------------------===//
// Facts of reductions
//===----------------------------------------------------------------------===//

/// Sums and products are computed in fp32; what chooses is not.
inline PrecisionClass precisionClass(ReduceKind kind) {
  bool chooses = kind == ReduceKind::Max || kind == ReduceKind::Min;
  return chooses ? PrecisionClass::Operands : PrecisionClass::Full;
}

inline bool rounds(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Prod;
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The memory effects of a collective. On tensors it is a function of the
/// values that all devices hold, so equal ones may merge; on memrefs it reads
/// `input` and writes `outs`.
void collectiveEffects(mlir::Operation *op,
                       llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                           mlir::MemoryEffects::Effect>> &effects);

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// 0 <= dim < rank.
mlir::LogicalResult verifyDim(mlir::Operation *op, int64_t dim, int64_t rank,
                              llvm::StringRef name = "dim");

/// `dims` are strictly increasing dimensions of a tensor of `rank`.
mlir::LogicalResult verifyIncreasing(mlir::Operation *op,
                                     llvm::ArrayRef<int64_t> dims, int64_t rank,
                                     llvm::StringRef name = "dims");

/// `list` has `count` entries.
mlir::LogicalResult verifyCount(mlir::Operation *op,
                                llvm::ArrayRef<int64_t> list, size_t count,
                                llvm::StringRef name);

/// If `attribute` is one of those that are arrays of rows
/// (ProgramAttributes.td), it is an array of such rows.
mlir::LogicalResult verifyRows(mlir::Operation *op,
                               mlir::NamedAttribute attribute);

/// The result has this shape and the element type of `like`.
mlir::LogicalResult verifyResult(mlir::Operation *op,
                                 llvm::ArrayRef<int64_t> shape,
                                 mlir::Value like);

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

/// A tensor of `shape` filled with `value`, which is converted to the type.
mlir::Value createSplat(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::RankedTensorType type, double value);

/// `value` as an element of `type`.
mlir::TypedAttr elementAttr(mlir::Type type, double value);

/// Every value of the float type `from` is a value of `to`.
bool isWidening(mlir::FloatType from, mlir::FloatType to);

/// The value from which reshapes make `value`.
mlir::Value throughReshapes(mlir::Value value);

/// The element that all elements of a constant are, or null.
mlir::Attribute splatElement(mlir::Attribute constant);

} // namespace autopar

#endif // AUTOPAR_LIB_DIALECT_OPHELPERS_H
