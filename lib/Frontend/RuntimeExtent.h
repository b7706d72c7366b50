//===- RuntimeExtent.h - How much of a buffer is in use ---------*- C++ -*-===//
//
// A model with a cache has inputs of a symbolic size (`past`) and outputs that
// are larger (`past + 1`). Its program holds buffers of the largest size, of
// which an *extent*, a state, is in use: elements 0 to extent - 1.
//
// With s the first step's size and e the extent, all dimensions that grow have
// `deficit` = s - e elements in use less than their sizes.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_FRONTEND_RUNTIMEEXTENT_H
#define AUTOPAR_LIB_FRONTEND_RUNTIMEEXTENT_H

#include "SizedSteps.h"
#include "autopar/Dialect/TensorBuilder.h"

namespace autopar {

/// Builds values that depend on the extent.
class RuntimeExtent {
public:
  /// Adds the extent to the first step: the state `SYMBOL/extent`.
  explicit RuntimeExtent(SizedSteps &sized);

  /// Adds the results of the step about the extent: its next value, and the
  /// checks that there are rows enough and not too many.
  void addResults();

  /// first - slope * deficit, a scalar of i64.
  mlir::Value number(int64_t first, int64_t slope);
  /// A vector of i1: which positions of a dimension of this size are in use.
  mlir::Value inUse(int64_t size);
  /// Built where `builder` stands: the value, `neutral` past the extent.
  mlir::Value masked(mlir::OpBuilder &builder, mlir::Value value, int64_t dim,
                     double neutral);
  /// `all` with the elements of `part` along `dim` behind the first `begin` -
  /// deficit ones.
  mlir::Value withPart(mlir::OpBuilder &builder, mlir::Value all,
                       mlir::Value part, int64_t dim, int64_t begin);
  /// Indices along a dimension of this size: negative ones, which count from
  /// the end of what is in use, from the start.
  mlir::Value fromStart(mlir::OpBuilder &builder, mlir::Value indices,
                        int64_t size);
  /// The constant at the extent: the first one where they differ in shape
  /// alone, else affine in it, element by element. `op` is for errors.
  mlir::FailureOr<mlir::Value>
  constant(const Sample<mlir::DenseElementsAttr> &constants,
           mlir::Operation *op);
  /// Builds at the start of the step, after what was built there so far.
  mlir::Value hoisted(llvm::function_ref<mlir::Value(TensorBuilder &)> build);

private:
  void addResult(mlir::Value value, mlir::Attribute what);
  void addCheckedResult(mlir::Value violated, llvm::StringRef name,
                        const llvm::Twine &message);
  mlir::FailureOr<mlir::Value>
  prefix(const Sample<mlir::DenseElementsAttr> &constants, mlir::Operation *op);
  mlir::FailureOr<mlir::Value>
  affine(const Sample<mlir::DenseElementsAttr> &constants, mlir::Operation *op);

  SizedSteps &sized;
  mlir::OpBuilder builder; // at the start of the step
  mlir::StringAttr stateName;
  mlir::Value extent, deficit;
  mlir::Operation *lastHoisted = nullptr;
  llvm::DenseMap<int64_t, mlir::Value> inUseOf; // by size
  llvm::DenseMap<mlir::Attribute, mlir::Value> constantsOf;
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_RUNTIMEEXTENT_H
