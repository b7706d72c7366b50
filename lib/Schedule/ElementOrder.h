//===- ElementOrder.h - Which place in memory holds what --------*- C++ -*-===//
//
// A reshape keeps the row-major number of each element. So two buffers of any
// shapes are names of one value if and only if equal numbers are at equal
// places: memref<6x4xf32> and memref<2x3x4xf32>, or with channels last
// memref<1x8x9xf32, strided<[72, 1, 8]>> and
// memref<1x8x3x3xf32, strided<[72, 1, 24, 8]>>.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_LIB_SCHEDULE_ELEMENTORDER_H
#define AUTOPAR_LIB_SCHEDULE_ELEMENTORDER_H

#include "mlir/IR/BuiltinTypes.h"
#include <optional>

namespace autopar {

class ElementOrder {
public:
  /// The order of a memref's elements from its first one on; a tensor is
  /// row-major. It is nullopt if the elements do not fill their bytes.
  static std::optional<ElementOrder> of(mlir::ShapedType type);

  /// Returns whether every element is at the same place.
  bool operator==(const ElementOrder &other) const {
    return loops == other.loops;
  }
  /// Returns whether elements are stored by their row-major numbers.
  bool isRowMajor() const { return loops.size() <= 1; }
  /// Returns whether the elements, cut into `rows` equal runs of row-major
  /// numbers, are stored run after run: each in any order within.
  bool keepsRows(int64_t rows) const;

private:
  bool isDense() const;

  /// (size, stride) from the outermost dimension to the innermost; neighbours
  /// that are one loop are joined, so that there is one such list per order.
  using Loop = std::pair<int64_t, int64_t>;
  llvm::SmallVector<Loop, 4> loops;
};

/// Returns whether dimensions that both have are in one order in memory: a
/// collective along one of them finds the others where its other side puts
/// them.
bool sameDimensionOrder(mlir::ShapedType a, mlir::ShapedType b);

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_ELEMENTORDER_H
