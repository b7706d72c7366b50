//===- Layouts.h - Layouts of a scheduled function's values -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_SCHEDULE_LAYOUTS_H
#define AUTOPAR_LIB_SCHEDULE_LAYOUTS_H

#include "autopar/Dialect/Layout.h"
#include "llvm/ADT/DenseMap.h"

namespace autopar {

/// Reads the layouts that autopar-assign-layouts chose. Ask for values in
/// program order.
class ValueLayouts {
public:
  /// Arguments are row-major, results as their op's autopar.layouts says, and a
  /// reshape of a buffer as the buffer's layout makes it; nullopt for a reshape
  /// of which no layout is a name of that buffer.
  std::optional<Layout> get(mlir::Value value);

  /// Writes the op's autopar.layouts, canonical: of equal memory there is one
  /// layout.
  static void set(mlir::Operation *op, llvm::ArrayRef<Layout> layouts);

private:
  llvm::DenseMap<mlir::Value, Layout> views;
};

} // namespace autopar

#endif // AUTOPAR_LIB_SCHEDULE_LAYOUTS_H
