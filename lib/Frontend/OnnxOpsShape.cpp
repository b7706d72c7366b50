//===- OnnxOpsShape.cpp - ONNX operators on shapes ------------------------===//

#include "OnnxNode.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

/// Axes from input `i` (newer versions) or attribute `axes` (older ones).
FailureOr<SmallVector<int64_t>> axesOf(OnnxNode &node, unsigned i) {
  return node.has(i) ? node.ints(i) : node.getInts("axes");
}

/// A shape from the file: sizes must not be negative nor overflow.
LogicalResult checkShape(OnnxNode &node, ArrayRef<int64_t> shape) {
  int64_t limit = INT64_MAX >> 8, count = 1;
  for (int64_t size : shape) {
    if (size < 0 || (size > 0 && count > limit / size))
      return node.error("its result's shape is negative or too large");
    count *= std::max<int64_t>(size, 1);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Other shape, same elements
//===----------------------------------------------------------------------===//

LogicalResult reshapeTo(OnnxNode &node, ArrayRef<int64_t> shape) {
  if (failed(checkShape(node, shape)))
    return failure();
  if (product(shape) != node.type(0).getNumElements())
    return node.error("its input has " + Twine(node.type(0).getNumElements()) +
                      " elements, its result's shape " + Twine(product(shape)));
  return node.finish(node.reshape(node.input(0), shape));
}

LogicalResult reshape(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> shape = node.ints(1);
  if (failed(shape))
    return failure();
  int64_t known = 1;
  int64_t *open = nullptr;
  for (auto [i, size] : llvm::enumerate(*shape)) {
    if (size == 0 && !node.getInt("allowzero", 0)) {
      if (int64_t(i) >= node.rank(0))
        return node.error("its shape copies dimension " + Twine(i) +
                          ", which its input does not have");
      size = node.shape(0)[i];
    }
    if (size == -1 && std::exchange(open, &size))
      return node.error("its shape leaves two sizes open");
    if (size < -1 || (size > 0 && known > INT64_MAX / size))
      return node.error("its shape holds " + Twine(size));
    known *= size == -1 ? 1 : size;
  }
  int64_t count = node.type(0).getNumElements();
  if (open) {
    if (known == 0 || count % known)
      return node.error("the open size of its shape is no whole number");
    *open = count / known;
  }
  return reshapeTo(node, *shape);
}

LogicalResult flatten(OnnxNode &node) {
  int64_t axis = node.getInt("axis", 1), rank = node.rank(0);
  if (axis < -rank || axis > rank)
    return node.error("axis " + Twine(axis) + " is outside of rank " +
                      Twine(rank));
  axis += axis < 0 ? rank : 0;
  ArrayRef<int64_t> shape = node.shape(0);
  return reshapeTo(
      node, {product(shape.take_front(axis)), product(shape.drop_front(axis))});
}

LogicalResult squeeze(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> given = axesOf(node, 1);
  if (failed(given))
    return failure();
  FailureOr<SmallVector<int64_t>> axes =
      node.normalizeAxes(*given, node.rank(0));
  if (failed(axes))
    return failure();
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(node.shape(0))) {
    bool named = llvm::is_contained(*axes, int64_t(i));
    if (named && size != 1)
      return node.error("dimension " + Twine(i) + " has size " + Twine(size) +
                        ", not 1");
    if (named || (axes->empty() && size == 1))
      continue;
    shape.push_back(size);
  }
  return reshapeTo(node, shape);
}

LogicalResult unsqueeze(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> given = axesOf(node, 1);
  if (failed(given))
    return failure();
  FailureOr<SmallVector<int64_t>> axes =
      node.normalizeAxes(*given, node.rank(0) + given->size());
  if (failed(axes))
    return failure();
  SmallVector<int64_t> shape(node.shape(0));
  for (int64_t axis : *axes)
    shape.insert(shape.begin() + axis, 1);
  return reshapeTo(node, shape);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

LogicalResult transpose(OnnxNode &node) {
  SmallVector<int64_t> perm = node.getInts("perm");
  int64_t rank = node.rank(0);
  if (!node.hasAttribute("perm"))
    perm = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  FailureOr<SmallVector<int64_t>> sorted = node.normalizeAxes(perm, rank);
  if (failed(sorted))
    return failure();
  if (int64_t(perm.size()) != rank)
    return node.error("perm has " + Twine(perm.size()) + " entries for rank " +
                      Twine(rank));
  for (int64_t &dim : perm)
    dim += dim < 0 ? rank : 0;
  return node.finish(node.transpose(node.input(0), perm));
}

/// The largest block of DepthToSpace and SpaceToDepth. Larger ones could divide
/// dimensions without elements, and their squares would overflow.
static constexpr int64_t kMostBlock = 1 << 16;

/// [n, b, b, c, h, w] or [n, c, b, b, h, w] -> [n, c, h * b, w * b]
LogicalResult depthToSpace(OnnxNode &node) {
  if (failed(node.requireRank(0, 4, 4)))
    return failure();
  ArrayRef<int64_t> s = node.shape(0);
  int64_t b = node.getInt("blocksize", 0);
  StringRef mode = node.getString("mode", "DCR");
  if (b < 1 || b > kMostBlock || s[1] % (b * b))
    return node.error("blocksize " + Twine(b) +
                      " does not divide the channels");
  if (mode != "DCR" && mode != "CRD")
    return node.error("unknown mode '" + mode + "' (known: DCR, CRD)");
  int64_t c = s[1] / (b * b);
  bool depthFirst = mode == "DCR";
  SmallVector<int64_t> split =
      depthFirst ? SmallVector<int64_t>{s[0], b, b, c, s[2], s[3]}
                 : SmallVector<int64_t>{s[0], c, b, b, s[2], s[3]};
  SmallVector<int64_t> perm = depthFirst
                                  ? SmallVector<int64_t>{0, 3, 4, 1, 5, 2}
                                  : SmallVector<int64_t>{0, 1, 4, 2, 5, 3};
  Value x = node.transpose(node.reshape(node.input(0), split), perm);
  return node.finish(node.reshape(x, {s[0], c, s[2] * b, s[3] * b}));
}

LogicalResult spaceToDepth(OnnxNode &node) {
  if (failed(node.requireRank(0, 4, 4)))
    return failure();
  ArrayRef<int64_t> s = node.shape(0);
  int64_t b = node.getInt("blocksize", 0);
  StringRef mode = node.getString("mode", "DCR");
  if (b < 1 || b > kMostBlock || s[2] % b || s[3] % b)
    return node.error("blocksize " + Twine(b) + " does not divide the image");
  if (mode != "DCR" && mode != "CRD")
    return node.error("unknown mode '" + mode + "' (known: DCR, CRD)");
  Value x = node.reshape(node.input(0), {s[0], s[1], s[2] / b, b, s[3] / b, b});
  x = mode == "DCR" ? node.transpose(x, {0, 3, 5, 1, 2, 4})
                    : node.transpose(x, {0, 1, 3, 5, 2, 4});
  return node.finish(node.reshape(x, {s[0], s[1] * b * b, s[2] / b, s[3] / b}));
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

LogicalResult expand(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> given = node.ints(1);
  if (failed(given) || failed(checkShape(node, *given)))
    return failure();
  SmallVector<int64_t> shape = *given;
  int64_t more = node.rank(0) - int64_t(shape.size());
  if (more > 0)
    shape.insert(shape.begin(), more, 1);
  size_t offset = shape.size() - node.rank(0);
  for (auto [i, size] : llvm::enumerate(node.shape(0))) {
    int64_t &wanted = shape[offset + i];
    if (wanted != size && wanted != 1 && size != 1)
      return node.error("dimension " + Twine(i) + " of size " + Twine(size) +
                        " does not expand to " + Twine(wanted));
    wanted = wanted == 1 ? size : wanted;
  }
  if (failed(checkShape(node, shape)))
    return failure();
  return node.finish(node.broadcastTo(node.input(0), shape));
}

/// Each repeated dimension n becomes [r, n], then r * n.
LogicalResult tile(OnnxNode &node) {
  FailureOr<SmallVector<int64_t>> repeats = node.ints(1);
  if (failed(repeats) || failed(checkShape(node, *repeats)))
    return failure();
  if (int64_t(repeats->size()) != node.rank(0))
    return node.error("it has " + Twine(repeats->size()) +
                      " repeats for rank " + Twine(node.rank(0)));
  SmallVector<int64_t> wide, dims, shape;
  for (auto [size, count] : llvm::zip_equal(node.shape(0), *repeats)) {
    if (count != 1)
      wide.push_back(count);
    dims.push_back(wide.size());
    wide.push_back(size);
    shape.push_back(size * count);
  }
  if (failed(checkShape(node, wide)))
    return failure();
  Value x = node.broadcastDims(node.input(0), wide, dims);
  return node.finish(node.reshape(x, shape));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// The starts, ends, axes and steps of a Slice.
struct SliceSpec {
  SmallVector<int64_t> starts, ends, axes, steps;
};

FailureOr<SliceSpec> sliceSpec(OnnxNode &node) {
  SliceSpec spec;
  if (node.version < 10) {
    spec = {
        node.getInts("starts"), node.getInts("ends"), node.getInts("axes"), {}};
  } else {
    SmallVector<int64_t> *fields[] = {&spec.starts, &spec.ends, &spec.axes,
                                      &spec.steps};
    for (auto [i, field] : llvm::enumerate(fields)) {
      if (!node.has(i + 1))
        continue;
      FailureOr<SmallVector<int64_t>> values = node.ints(i + 1);
      if (failed(values))
        return failure();
      *field = *values;
    }
  }
  size_t count = spec.starts.size();
  if (spec.axes.empty())
    spec.axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  if (spec.steps.empty())
    spec.steps.assign(count, 1);
  if (spec.ends.size() != count || spec.axes.size() != count ||
      spec.steps.size() != count)
    return node.error("starts, ends, axes and steps differ in length");
  return spec;
}

LogicalResult slice(OnnxNode &node) {
  FailureOr<SliceSpec> spec = sliceSpec(node);
  if (failed(spec) || failed(node.normalizeAxes(spec->axes, node.rank(0))))
    return failure();
  SmallVector<int64_t> starts(node.rank(0), 0), steps(node.rank(0), 1);
  SmallVector<int64_t> shape(node.shape(0));
  for (size_t i = 0; i < spec->axes.size(); ++i) {
    int64_t axis = spec->axes[i], step = spec->steps[i];
    axis += axis < 0 ? node.rank(0) : 0;
    int64_t size = node.shape(0)[axis];
    if (step == 0 || step == INT64_MIN)
      return node.error("a step is " + Twine(step));
    auto clamp = [&](int64_t at, int64_t low, int64_t high) {
      at = at < 0 ? (at < -size ? -1 : at + size) : at;
      return std::min(std::max(at, low), high); // of no elements high < low
    };
    int64_t first = step > 0 ? clamp(spec->starts[i], 0, size)
                             : clamp(spec->starts[i], 0, size - 1);
    int64_t last = step > 0 ? clamp(spec->ends[i], 0, size)
                            : clamp(spec->ends[i], -1, size - 1);
    int64_t span = step > 0 ? last - first : first - last;
    int64_t stride = std::abs(step);
    shape[axis] = span <= 0 ? 0 : (span - 1) / stride + 1;
    starts[axis] = shape[axis] ? first : 0;
    steps[axis] = shape[axis] > 1 ? step : 1;
  }
  return node.finish(node.slice(node.input(0), starts, shape, steps));
}

const OnnxOp kOps[] = {
    {"Reshape", "5 13", 2, 2, "", reshape},
    {"Reshape", "14 19 21 23 24 25", 2, 2, "allowzero:int", reshape},
    {"Flatten", "1 9 11 13 21 23 24 25", 1, 1, "axis:int", flatten},
    {"Squeeze", "1 11", 1, 1, "axes:ints", squeeze},
    {"Squeeze", "13 21 23 24 25", 1, 2, "", squeeze},
    {"Unsqueeze", "1 11", 1, 1, "axes:ints!", unsqueeze},
    {"Unsqueeze", "13 21 23 24 25", 2, 2, "", unsqueeze},
    {"Transpose", "1 13 21 23 24 25", 1, 1, "perm:ints", transpose},
    {"DepthToSpace", "1", 1, 1, "blocksize:int!", depthToSpace},
    {"DepthToSpace", "11 13 28", 1, 1, "blocksize:int! mode:string",
     depthToSpace},
    {"SpaceToDepth", "1 13", 1, 1, "blocksize:int!", spaceToDepth},
    {"SpaceToDepth", "28", 1, 1, "blocksize:int! mode:string", spaceToDepth},
    {"Expand", "8 13", 2, 2, "", expand},
    {"Tile", "6 13", 2, 2, "", tile},
    {"Slice", "1", 1, 1, "axes:ints ends:ints! starts:ints!", slice},
    {"Slice", "10 11 13", 3, 5, "", slice},
};
} // namespace

ArrayRef<OnnxOp> shapeOps() { return kOps; }

} // namespace autopar
