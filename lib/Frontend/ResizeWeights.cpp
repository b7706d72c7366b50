//===- ResizeWeights.cpp - What resized elements are sums of --------------===//

#include "ResizeWeights.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace autopar {
namespace {

/// The position in the input, of `in` elements, of result position `at`.
/// Lengths of results are those before they were cut to whole numbers, as in
/// the standard's tests.
double sourceOf(const ResizeSpec &spec, int64_t dim, double at, double in) {
  double scale = spec.scales[dim], out = scale * in;
  StringRef mode = spec.coordinates;
  if (mode == "align_corners")
    return out == 1 ? 0 : at * (in - 1) / (out - 1);
  if (mode == "asymmetric") // 7 / 0.7f is 10 in fp32, and more in fp64
    return spec.shrinksUpwards ? float(at) / float(scale) : at / scale;
  if (mode == "tf_crop_and_resize") {
    auto [first, last] = spec.roi[dim];
    double inside = out == 1 ? (last - first) * (in - 1) / 2
                             : at * (last - first) * (in - 1) / (out - 1);
    return inside + first * (in - 1);
  }
  if (mode == "pytorch_half_pixel" && spec.sizes[dim] == 1)
    return 0;
  // in / 2 * (1 - size / out) + (at + 0.5) / scale - 0.5, rounded once: whole
  // numbers come out whole.
  if (mode == "half_pixel_symmetric")
    return (in - 1) / 2 + (2 * at + 1 - spec.sizes[dim]) / (2 * scale);
  return (at + 0.5) / scale - 0.5;
}

/// The kernel of a mode at a distance of `x` elements.
double kernelAt(const ResizeSpec &spec, double x) {
  x = std::abs(x);
  if (spec.mode == "linear")
    return std::max(0.0, 1 - x);
  double a = spec.cubic;
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

/// The nearest element of position x, which lies between elements floor(x) and
/// floor(x) + 1 unless it is a whole number.
ResizeTaps nearestTaps(const ResizeSpec &spec, int64_t dim, double x) {
  double low = std::ceil(x) - 1, ratio = x - low;
  bool up = spec.shrinksUpwards && spec.scales[dim] < 1;
  bool down = ratio != 1 && !up &&
              (spec.rounding == "floor" ||
               (spec.rounding == "round_prefer_floor" && ratio <= 0.5) ||
               (spec.rounding == "round_prefer_ceil" && ratio < 0.5));
  return {int64_t(low) + !down, {1.0}};
}

/// Weights of the kernel, wider where antialiasing shrinks.
ResizeTaps kernelTaps(const ResizeSpec &spec, int64_t dim, double x) {
  double shrink = spec.antialias ? std::min(spec.scales[dim], 1.0) : 1.0;
  double reach = spec.mode == "linear" ? 1 : 2;
  double low = std::ceil(x) - 1;
  int64_t start = int64_t(std::floor(-reach / shrink)) + 1;
  ResizeTaps taps{int64_t(low) + start, {}};
  for (int64_t i = start; i < 2 - start; ++i)
    taps.weights.push_back(kernelAt(spec, shrink * (low + i - x)));
  return taps;
}

/// Sums to 1 after what is outside was dropped, where asked for.
void normalizeTaps(const ResizeSpec &spec, int64_t in, ResizeTaps &taps) {
  double sum = 0;
  for (auto [i, weight] : llvm::enumerate(taps.weights)) {
    int64_t at = taps.first + int64_t(i);
    if (spec.excludeOutside && (at < 0 || at >= in))
      weight = 0;
    sum += weight;
  }
  if (sum != 0 && (spec.excludeOutside || spec.antialias))
    for (double &weight : taps.weights)
      weight /= sum;
}

} // namespace

ResizeLine resizeLine(const ResizeSpec &spec, int64_t dim, int64_t in) {
  ResizeLine line;
  for (int64_t at = 0; at < spec.sizes[dim]; ++at) {
    double x = sourceOf(spec, dim, at, in);
    line.isOutside.push_back(spec.crops() && (x < 0 || x > in - 1));
    x = std::clamp(x, -1.0 - in, 2.0 * in + 1);
    ResizeTaps taps = spec.mode == "nearest" ? nearestTaps(spec, dim, x)
                                             : kernelTaps(spec, dim, x);
    normalizeTaps(spec, in, taps);
    line.taps.push_back(std::move(taps));
  }
  return line;
}

} // namespace autopar
