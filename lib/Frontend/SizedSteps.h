//===- SizedSteps.h - A model imported at several sizes ---------*- C++ -*-===//
//
// A size that grows by the step changes those numbers of a model that differ
// between its imports at three sizes: two imports give the slope, and the third
// confirms it.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_FRONTEND_SIZEDSTEPS_H
#define AUTOPAR_LIB_FRONTEND_SIZEDSTEPS_H

#include "autopar/Dialect/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace autopar {

/// Input `in`, which output `out` is in the next step, larger along `dim`.
struct GrowingState {
  std::string in, out;
  int64_t dim;
};

struct GrowingSize {
  std::string symbol; // its name in the model
  int64_t growth = 0; // by a step
  std::vector<GrowingState> states;
};

/// An op, a value or an attribute at each of the three sizes.
template <typename T> using Sample = std::array<T, 3>;

/// The model's @step at three sizes, the largest one first.
class SizedSteps {
public:
  SizedSteps(const GrowingSize &growing, const Sample<int64_t> &sizes,
             const Sample<mlir::func::FuncOp> &steps)
      : growing(growing), sizes(sizes), steps(steps) {}

  /// Pairs the ops, constants aside, and notes which dimensions grow. Fails,
  /// having said why, if the graphs are not the same or a dimension grows by
  /// something else than the size.
  llvm::LogicalResult align();
  /// The ops in order, the terminator last.
  llvm::ArrayRef<Sample<mlir::Operation *>> ops() const { return aligned; }

  /// The least extent at which no slice is cut short, and the node that needs
  /// it. With fewer rows in use than at the three sizes ONNX would cut slices
  /// short, which the compiled step does not.
  struct LeastExtent {
    int64_t rows = 0;
    std::string node;
  };
  const LeastExtent &leastExtent() const { return least; }

  /// The dimensions of a value of the first step that grow, and whether one
  /// does.
  llvm::SmallVector<int64_t> growth(mlir::Value value) const {
    return grown.lookup(value);
  }
  bool grows(mlir::Value value) const { return grown.contains(value); }
  bool grows(mlir::Value value, int64_t dim) const {
    return llvm::is_contained(growth(value), dim);
  }
  llvm::LogicalResult noteGrowth(mlir::Value value,
                                 const Sample<mlir::Type> &types,
                                 mlir::Location loc);
  /// `to` grows as `from` does.
  void copyGrowth(mlir::Value from, mlir::Value to);
  void forget(mlir::Value value) { grown.erase(value); }

  /// The amount by which a number grows with the size, if that is the same
  /// everywhere.
  std::optional<double> slope(const Sample<double> &values) const;

  /// An error: the op cannot follow the size.
  llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why) const;

  mlir::func::FuncOp step() const { return steps[0]; }

  const GrowingSize &growing;
  const Sample<int64_t> sizes;

private:
  llvm::LogicalResult alignArguments();
  void need(int64_t rows, mlir::Operation *op);
  void noteNeed(const Sample<mlir::Operation *> &ops);
  llvm::LogicalResult differ(mlir::Operation *op) const;

  Sample<mlir::func::FuncOp> steps;
  std::vector<Sample<mlir::Operation *>> aligned;
  LeastExtent least;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> grown;
};

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_SIZEDSTEPS_H
