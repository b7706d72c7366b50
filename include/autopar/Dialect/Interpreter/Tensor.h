//===- Tensor.h - Values of the reference interpreter -----------*- C++ -*-===//
//
// A tensor holds its elements as double (floats) or int64_t (integers, i1 as 0
// or 1) and rounds what is stored to the element type, so that an op computes
// in double and rounds once.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_DIALECT_INTERPRETER_TENSOR_H
#define AUTOPAR_DIALECT_INTERPRETER_TENSOR_H

#include "autopar/Dialect/Bytes.h"
#include "autopar/Interfaces/Neutral.h"
#include "autopar/Interfaces/Sharding.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>
#include <vector>

namespace autopar::interpreter {

struct Tensor {
  mlir::RankedTensorType type;
  std::vector<double> floats; // used when the element type is a float
  std::vector<int64_t> ints;  // used otherwise

  Tensor() = default;
  /// Makes a tensor whose elements are all zero.
  explicit Tensor(mlir::RankedTensorType type);

  mlir::Type element() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  int64_t rank() const { return type.getRank(); }
  int64_t dim(unsigned i) const { return type.getDimSize(i); }
  int64_t size() const { return type.getNumElements(); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element()); }

  double getDouble(int64_t i) const { return isFloat() ? floats[i] : ints[i]; }
  int64_t getInt(int64_t i) const;
  /// Rounded or wrapped to the element type; infinities become the extremes of
  /// an integer type.
  void set(int64_t i, double value);
  void setInt(int64_t i, int64_t value);
  /// Element `i` becomes element `j` of `other`, of the same element type.
  void copy(int64_t i, const Tensor &other, int64_t j);
  void fill(double value);
  /// Fills the tensor with values that nobody may use: NaN, or a large integer.
  void setGarbage(int64_t i);
  void fillGarbage();
};

/// Tensors are shared by reference: replicated values cost nothing.
using TensorRef = std::shared_ptr<const Tensor>;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// `value` rounded to float type `type`.
double roundTo(mlir::Type type, double value);
/// `value` wrapped to the width of integer type `type`.
int64_t wrapTo(mlir::Type type, int64_t value);
/// One step of a reduction. Max and min of a NaN are NaN. Integers are not
/// rounded.
double combine(ReduceKind kind, double a, double b);
int64_t combine(ReduceKind kind, int64_t a, int64_t b);
/// Reduces tensors of one type element by element, in order.
Tensor reduceTensors(ReduceKind kind, llvm::ArrayRef<const Tensor *> parts);

//===----------------------------------------------------------------------===//
// Attributes and text
//===----------------------------------------------------------------------===//

mlir::FailureOr<Tensor> fromElements(mlir::ElementsAttr elements);
mlir::DenseElementsAttr toElements(const Tensor &tensor);

/// Values that depend on seed, name and position only, so that they are the
/// same however a tensor is cut. Floats are in [-1, 1], integers in [0, 8).
Tensor randomTensor(mlir::RankedTensorType type, llvm::StringRef name,
                    uint64_t seed);

/// The place where two tensors of one type differ most, or nullopt if every
/// pair of elements is within tolerance * (rms(expected) + |expected|). NaN
/// equals NaN. The rms counts as at least `scale`, for values that are small
/// differences of large ones.
struct Difference {
  int64_t position;
  double expected, actual;
};
std::optional<Difference> compare(const Tensor &expected, const Tensor &actual,
                                  double tolerance, double scale = 0);

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Row-major strides, counted in elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// Calls `visit(index, position)` for every index of `shape` in row-major
/// order.
template <typename Visit>
void forEachIndex(llvm::ArrayRef<int64_t> shape, Visit visit) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t position = 0; position < count; ++position) {
    visit(llvm::ArrayRef<int64_t>(index), position);
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// The part of a value that `point` holds under `sharding`, whose partial axes
/// are ignored. Past the extent of a plain block there is garbage; positions of
/// an interval outside of the dimension hold `fill`.
Tensor cutBlock(const Tensor &whole, const Sharding &sharding, const Mesh &mesh,
                int64_t point, double fill = 0);

/// Puts the parts of all points together. It returns the whole value, or the
/// first point that holds something else than another point which should hold
/// the same. Points along partial axes are reduced.
struct Assembled {
  Tensor whole;
  std::optional<int64_t> conflictAt; // a point
};
Assembled assembleBlocks(llvm::ArrayRef<TensorRef> blocks,
                         mlir::RankedTensorType wholeType,
                         const Sharding &sharding, const Mesh &mesh);

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

/// Reads or writes an element in memory, of as many bytes as elementBytes says.
void storeElement(const Tensor &tensor, int64_t i, uint8_t *bytes);
void loadElement(Tensor &tensor, int64_t i, const uint8_t *bytes);

/// A tensor whose elements all are `number`, a float or integer attribute.
Tensor filledTensor(mlir::RankedTensorType type, mlir::Attribute number);

} // namespace autopar::interpreter

#endif // AUTOPAR_DIALECT_INTERPRETER_TENSOR_H
