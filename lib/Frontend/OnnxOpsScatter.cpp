//===- OnnxOpsScatter.cpp - ONNX operators that write at indices ----------===//
//
// Updates are brought to their rows by autopar.scatter: themselves where they
// are added or the greatest or least counts, their numbers where the last one
// replaces what was there. Where indices known while compiling are a block of
// the data, it is sliced and put together. A few updates, and products, are
// turned round: each element of the result compares its own position with all
// indices along one dimension, which needs no pass of its own. An index outside
// hits nothing.
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"
#include "ScatterUpdates.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// The way in which an update combines with the element it hits; nullopt: it
/// replaces the element.
using Combination = std::optional<ReduceKind>;

/// Reads the combination from the attribute `reduction`.
LogicalResult readCombination(OnnxNode &node, Combination &combination) {
  StringRef name = node.getString("reduction", "none");
  combination = llvm::StringSwitch<Combination>(name)
                    .Case("add", ReduceKind::Sum)
                    .Case("mul", ReduceKind::Prod)
                    .Case("max", ReduceKind::Max)
                    .Case("min", ReduceKind::Min)
                    .Default(std::nullopt);
  if (combination || name == "none")
    return success();
  return node.error("unknown value '" + name +
                    "' of reduction (known: none, add, mul, max, min)");
}

/// The position of the last true element in each row of `hit` [..., n], or -1.
Value lastHit(OnnxNode &node, Value hit) {
  int64_t last = OnnxNode::rankOf(hit) - 1;
  Value at =
      node.iota(OnnxNode::typeOf(hit).clone(node.builder.getI64Type()), last);
  return node.reduce(ReduceKind::Max,
                     node.select(hit, at, node.splatLike(at, -1)), {last});
}

/// `data` combined with the updates [..., n] of its elements that hit them.
Value combineHits(OnnxNode &node, ReduceKind kind, Value data, Value hit,
                  Value updates) {
  int64_t last = OnnxNode::rankOf(hit) - 1;
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(hit);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(0, last));
  bool sum = kind == ReduceKind::Sum, product = kind == ReduceKind::Prod;
  Type element = OnnxNode::elementOf(data);
  if (sum || product) {
    data = node.widened(data);
    updates = node.widened(updates);
  }
  Value other = sum || product ? node.splatLike(updates, product)
                               : node.broadcastDims(data, shape, dims);
  Value found = node.reduce(kind, node.select(hit, updates, other), {last});
  return node.convert(node.binary(binaryOf(kind), data, found), element);
}

/// Returns whether so many updates for each row are compared with all
/// positions.
bool areCompared(Combination combination, Value data, int64_t updates) {
  constexpr int64_t kFew = 4;
  return combination ? !isScattered(*combination, OnnxNode::elementOf(data))
                     : updates <= kFew;
}

LogicalResult requireUpdates(OnnxNode &node) {
  if (!isa<IntegerType>(OnnxNode::elementOf(node.input(1))))
    return wrongElement(node, 1, "must be of an integer type");
  if (OnnxNode::elementOf(node.input(2)) != OnnxNode::elementOf(node.input(0)))
    return differentElements(node, 0, 2);
  return success();
}

//===----------------------------------------------------------------------===//
// ScatterElements
//===----------------------------------------------------------------------===//

/// Dimension `axis` of x after all others, spread along each element of the
/// data: [data..., x along axis].
Value spreadLast(OnnxNode &node, Value x, Value data, int64_t axis) {
  int64_t rank = OnnxNode::rankOf(data);
  SmallVector<int64_t> shape(OnnxNode::shapeOf(data)), perm, dims;
  shape.push_back(OnnxNode::shapeOf(x)[axis]);
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis)
      perm.push_back(d);
  dims = perm;
  perm.push_back(axis);
  dims.push_back(rank);
  return node.broadcastDims(node.transpose(x, perm), shape, dims);
}

/// Data that agrees with the indices in all dimensions but `axis`.
Value scatterWhole(OnnxNode &node, Value data, Value indices, Value updates,
                   int64_t axis, Combination combination) {
  if (!areCompared(combination, data, OnnxNode::shapeOf(indices)[axis]))
    return combination ? combineElements(node, *combination, data, indices,
                                         updates, axis)
                       : replaceElements(node, data, indices, updates, axis);
  indices = wrapIndices(node, indices, OnnxNode::shapeOf(data)[axis]);
  Value wanted = spreadLast(node, indices, data, axis);
  Value hits = node.compare(ComparePredicate::Eq, wanted,
                            node.iota(OnnxNode::typeOf(wanted), axis));
  if (combination)
    return combineHits(node, *combination, data, hits,
                       spreadLast(node, updates, data, axis));
  Value from = lastHit(node, hits);
  Value found = node.gatherElements(
      updates, node.binary(BinaryKind::Max, from, 0.0), axis);
  return node.select(notNegative(node, from), found, data);
}

LogicalResult scatterElements(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  Combination combination;
  if (failed(axis) || failed(readCombination(node, combination)) ||
      failed(requireUpdates(node)) ||
      failed(node.requireRank(1, node.rank(0), node.rank(0))))
    return failure();
  if (node.shape(1) != node.shape(2))
    return node.error("its indices and updates differ in shape");
  SmallVector<int64_t> shape(node.shape(1)), starts(node.rank(0), 0);
  shape[*axis] = node.shape(0)[*axis];
  for (int64_t d = 0; d < node.rank(0); ++d)
    if (shape[d] > node.shape(0)[d])
      return node.error("the indices are larger than the data in dimension " +
                        Twine(d));
  if (node.type(1).getNumElements() == 0 || node.type(0).getNumElements() == 0)
    return node.finish(node.input(0));
  Value block = node.slice(node.input(0), starts, shape);
  Value result = scatterWhole(node, block, node.input(1), node.input(2), *axis,
                              combination);
  SmallVector<Positions> first;
  for (int64_t size : shape)
    first.push_back({0, 1, size});
  Value written = writeBlock(node, node.input(0), result, first);
  node.recordIndices(written, 0, 1, *axis);
  return node.finish(written);
}

//===----------------------------------------------------------------------===//
// ScatterND
//===----------------------------------------------------------------------===//

/// Position in the flattened leading dimensions of the data that each row of
/// indices means, as [rows]; -1 where one is outside.
Value rowPositions(OnnxNode &node, int64_t rows, int64_t depth) {
  Value table = node.reshape(
      node.convert(node.input(1), node.builder.getI64Type()), {rows, depth});
  Value position, inside;
  for (int64_t k = 0; k < depth; ++k) {
    int64_t size = node.shape(0)[k];
    Value index = indicesInside(
        node, node.reshape(node.slice(table, {0, k}, {rows, 1}), {rows}), size);
    Value here = notNegative(node, index);
    inside = inside ? node.binary(BinaryKind::And, inside, here) : here;
    position =
        position
            ? node.binary(BinaryKind::Add,
                          node.binary(BinaryKind::Mul, position, double(size)),
                          index)
            : index;
  }
  return node.select(inside, position, node.splatLike(position, -1));
}

LogicalResult checkScatterNd(OnnxNode &node) {
  if (failed(requireUpdates(node)))
    return failure();
  ArrayRef<int64_t> data = node.shape(0), indices = node.shape(1);
  if (indices.empty() || indices.back() < 1 ||
      indices.back() > int64_t(data.size()))
    return node.error("its indices do not fit data of rank " +
                      Twine(data.size()));
  SmallVector<int64_t> shape(indices.drop_back());
  llvm::append_range(shape, data.drop_front(indices.back()));
  if (ArrayRef<int64_t>(shape) != node.shape(2))
    return node.error("its updates do not fit the indices and the data");
  return success();
}

/// The block of the data that indices known while compiling mean, as exporters
/// write x[:, 1:] = y: a product of positions of each dimension.
std::optional<SmallVector<Positions>> blockOfIndices(OnnxNode &node) {
  ArrayRef<int64_t> grid = node.shape(1).drop_back();
  int64_t depth = node.shape(1).back();
  if (int64_t(grid.size()) != depth)
    return std::nullopt;
  std::optional<SmallVector<double>> numbers = node.knownNumbers(1);
  if (!numbers)
    return std::nullopt;
  auto indexAt = [&](int64_t row, int64_t k) -> int64_t { // -1: outside
    double index = (*numbers)[row * depth + k], size = node.shape(0)[k];
    if (index < -size || index >= size)
      return -1;
    return int64_t(index < 0 ? index + size : index);
  };
  int64_t rows = int64_t(numbers->size()) / depth, stride = rows;
  SmallVector<Positions> block;
  SmallVector<int64_t> strides; // of rows, from one position to the next
  for (auto [k, count] : llvm::enumerate(grid)) {
    stride /= count;
    int64_t start = indexAt(0, k);
    int64_t step = count > 1 ? indexAt(stride, k) - start : 1;
    if (start < 0 || step < 1 || start + (count - 1) * step >= node.shape(0)[k])
      return std::nullopt;
    block.push_back({start, step, count});
    strides.push_back(stride);
  }
  for (int64_t row = 0; row < rows; ++row)
    for (auto [k, at] : llvm::enumerate(block))
      if (indexAt(row, k) != at.first + row / strides[k] % at.count * at.step)
        return std::nullopt;
  return block;
}

/// The updates in their block, or combined with it.
Value writeNd(OnnxNode &node, Combination combination,
              ArrayRef<Positions> block) {
  Value data = node.input(0), part = node.input(2);
  if (combination)
    part = node.binary(binaryOf(*combination),
                       readBlock(node, data, OnnxNode::shapeOf(part), block),
                       part);
  return writeBlock(node, data, part, block);
}

/// The data with updates, of which there are some.
Value scatterRows(OnnxNode &node, Combination combination) {
  bool isPlain = !combination || !node.type(0).getElementType().isInteger(1);
  if (auto block = isPlain ? blockOfIndices(node) : std::nullopt)
    return writeNd(node, combination, *block);
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t depth = node.shape(1).back(), places = 1;
  for (int64_t size : shape.take_front(depth))
    places *= size;
  int64_t rows = node.type(1).getNumElements() / depth;
  SmallVector<int64_t> flat{places}, flatUpdates{rows};
  llvm::append_range(flat, shape.drop_front(depth));
  llvm::append_range(flatUpdates, shape.drop_front(depth));
  Value data = node.reshape(node.input(0), flat);
  Value updates = node.reshape(node.input(2), flatUpdates);
  Value positions = rowPositions(node, rows, depth);
  bool compared = areCompared(combination, data, rows);
  if (combination && !compared)
    return node.reshape(
        combineRows(node, *combination, data, positions, updates, 0), shape);
  auto replace = [&](Value last) {
    return node.reshape(replaceRows(node, data, last, updates, 0), shape);
  };
  if (!compared)
    return replace(lastOfRows(node, positions, places));
  auto table = RankedTensorType::get({places, rows}, node.builder.getI64Type());
  Value hits =
      node.compare(ComparePredicate::Eq,
                   node.broadcastDims(positions, table.getShape(), {1}),
                   node.iota(table, 0));
  if (combination) {
    SmallVector<int64_t> perm, wide(flat), dims;
    for (int64_t d = 1; d < int64_t(flat.size()); ++d)
      perm.push_back(d);
    perm.push_back(0);
    wide.push_back(rows);
    for (int64_t d = 1; d < int64_t(wide.size()); ++d)
      dims.push_back(d);
    Value spread =
        node.broadcastDims(node.transpose(updates, perm), wide, dims);
    hits = node.broadcastDims(hits, wide, {0, int64_t(wide.size()) - 1});
    return node.reshape(combineHits(node, *combination, data, hits, spread),
                        shape);
  }
  return replace(lastHit(node, hits));
}

LogicalResult scatterNd(OnnxNode &node) {
  Combination combination;
  if (failed(readCombination(node, combination)) ||
      failed(checkScatterNd(node)))
    return failure();
  if (node.type(2).getNumElements() == 0)
    return node.finish(node.input(0));
  Value written = scatterRows(node, combination);
  node.recordIndexRows(written, 0, 1, 0);
  return node.finish(written);
}

//===----------------------------------------------------------------------===//
// TensorScatter
//===----------------------------------------------------------------------===//

/// The update along `axis` from each sample's write index on: a cache of keys.
LogicalResult tensorScatter(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", -2), node.rank(0));
  StringRef mode = node.getString("mode", "linear");
  if (failed(axis))
    return failure();
  if (mode != "linear" && mode != "circular")
    return node.error("unknown value '" + mode +
                      "' of mode (known: linear, circular)");
  SmallVector<int64_t> shape(node.shape(0)), part(node.shape(1));
  int64_t size = shape[*axis];
  if (*axis == 0 || part.size() != shape.size() || part[*axis] > size ||
      part[*axis] < 1)
    return node.error("its update does not fit the cache");
  part[*axis] = size;
  if (part != shape ||
      OnnxNode::elementOf(node.input(1)) != OnnxNode::elementOf(node.input(0)))
    return node.error("its update does not fit the cache");
  auto type = RankedTensorType::get(shape, node.builder.getI64Type());
  Value at = node.iota(type, *axis);
  if (node.has(2)) {
    if (node.shape(2) != ArrayRef<int64_t>({shape[0]}))
      return node.error("it needs one write index per sample");
    Value starts = node.convert(node.input(2), type.getElementType());
    at = node.binary(BinaryKind::Sub, at,
                     node.broadcastDims(starts, shape, {0}));
  }
  if (mode == "circular")
    at = node.binary(BinaryKind::Mod, at, double(size));
  Value inside = node.binary(
      BinaryKind::And, notNegative(node, at),
      node.compare(ComparePredicate::Lt, at,
                   node.splatLike(at, double(node.shape(1)[*axis]))));
  Value from = node.select(inside, at, node.splatLike(at, 0));
  return node.finish(node.select(
      inside, node.gatherElements(node.input(1), from, *axis), node.input(0)));
}

constexpr StringLiteral kReduction = "axis:int reduction:string";

const OnnxOp kOps[] = {
    {"Scatter", "9 11", 3, 3, "axis:int", scatterElements},
    {"ScatterElements", "11 13", 3, 3, "axis:int", scatterElements},
    {"ScatterElements", "16 18", 3, 3, kReduction, scatterElements},
    {"ScatterND", "11 13", 3, 3, "", scatterNd},
    {"ScatterND", "16 18", 3, 3, "reduction:string", scatterNd},
    {"TensorScatter", "24", 2, 3, "axis:int mode:string", tensorScatter},
};
} // namespace

ArrayRef<OnnxOp> scatterOps() { return kOps; }

} // namespace autopar
