//===- ResizeWeights.h - What resized elements are sums of ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_RESIZEWEIGHTS_H
#define AUTOPAR_LIB_FRONTEND_RESIZEWEIGHTS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace autopar {

/// The parameters of a Resize node, with defaults filled in and checked.
struct ResizeSpec {
  llvm::SmallVector<int64_t> sizes;                 // per dimension of the data
  llvm::SmallVector<double> scales;                 // the same
  llvm::SmallVector<std::pair<double, double>> roi; // the same
  llvm::StringRef mode, coordinates, rounding;
  /// Before version 11 the nearest position is the one after, not before,
  /// where the image shrinks.
  bool shrinksUpwards = false;
  double cubic = -0.75, outside = 0;
  bool excludeOutside = false, antialias = false;

  /// Only this mode reads beyond the image as a fixed value.
  bool crops() const { return coordinates == "tf_crop_and_resize"; }
};

/// Weights of the elements first, first + 1, ... of the input, which may be
/// outside of it.
struct ResizeTaps {
  int64_t first = 0;
  llvm::SmallVector<double> weights;
};

/// The taps of all result elements along one dimension.
struct ResizeLine {
  std::vector<ResizeTaps> taps;      // per result element, all of one length
  llvm::SmallVector<bool> isOutside; // per result element
};

/// The weights along dimension `dim`, of `in` elements.
ResizeLine resizeLine(const ResizeSpec &spec, int64_t dim, int64_t in);

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_RESIZEWEIGHTS_H
