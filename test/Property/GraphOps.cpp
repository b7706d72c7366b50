//===- GraphOps.cpp - One random op of each kind --------------------------===//
//
// Values stay bounded and differentiable, so that sums in another order change
// them little: ops with steps (floor, compare, conversion to integers) read
// exact values only, roots and quotients read values away from zero.
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar::property {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static Value unary(GraphBuilder &graph, UnaryKind kind, Value x) {
  return UnaryOp::create(graph.builder, graph.loc, x.getType(), kind, x);
}

static Value binary(GraphBuilder &graph, BinaryKind kind, Value a, Value b) {
  return BinaryOp::create(graph.builder, graph.loc, kind, a, b);
}

static RankedTensorType like(Value x, ArrayRef<int64_t> shape) {
  return cast<RankedTensorType>(x.getType()).clone(shape);
}

Value makeUnary(GraphBuilder &graph) {
  static const UnaryKind kinds[] = {
      UnaryKind::Abs,     UnaryKind::Cos,      UnaryKind::Erf,
      UnaryKind::GeluErf, UnaryKind::GeluTanh, UnaryKind::Neg,
      UnaryKind::Neg,     UnaryKind::Relu,     UnaryKind::Relu,
      UnaryKind::Sigmoid, UnaryKind::Sin,      UnaryKind::Tanh,
      UnaryKind::Atan};
  static const UnaryKind steps[] = {UnaryKind::Ceil, UnaryKind::Floor,
                                    UnaryKind::Round, UnaryKind::Sign};
  Value x = graph.pick(graph.floatType());
  if (graph.isExact(x) && graph.random.chance(30))
    return unary(graph, graph.random.pick(ArrayRef<UnaryKind>(steps)), x);
  return unary(graph, graph.random.pick(ArrayRef<UnaryKind>(kinds)), x);
}

/// A function that needs an argument away from zero and not large: of
/// tanh(x) + 2.
Value makeSafeUnary(GraphBuilder &graph) {
  static const UnaryKind kinds[] = {UnaryKind::Exp, UnaryKind::Log,
                                    UnaryKind::Reciprocal, UnaryKind::Rsqrt,
                                    UnaryKind::Sqrt};
  Value x = graph.bounded(graph.pick(graph.floatType()));
  Value two = graph.splat(cast<RankedTensorType>(x.getType()), 2);
  Value safe = binary(graph, BinaryKind::Add, x, two);
  return unary(graph, graph.random.pick(ArrayRef<UnaryKind>(kinds)), safe);
}

Value makeBinary(GraphBuilder &graph) {
  static const BinaryKind kinds[] = {BinaryKind::Add, BinaryKind::Add,
                                     BinaryKind::Sub, BinaryKind::Mul,
                                     BinaryKind::Max, BinaryKind::Min};
  Value a = graph.pick(graph.floatType());
  Value b = graph.pickOf(cast<RankedTensorType>(a.getType()));
  BinaryKind kind = graph.random.pick(ArrayRef<BinaryKind>(kinds));
  Value result = binary(graph, kind, a, b);
  return kind == BinaryKind::Mul ? graph.bounded(result) : result;
}

/// Of values between 1 and 3, so that neither a root nor a quotient is large.
Value makeQuotient(GraphBuilder &graph) {
  static const BinaryKind kinds[] = {BinaryKind::Div, BinaryKind::Pow,
                                     BinaryKind::Mod, BinaryKind::FMod};
  auto safe = [&](Value x) {
    Value two = graph.splat(cast<RankedTensorType>(x.getType()), 2);
    return binary(graph, BinaryKind::Add, graph.bounded(x), two);
  };
  Value a = graph.pick(graph.floatType());
  auto type = cast<RankedTensorType>(a.getType());
  Value b =
      graph.random.chance(20) ? graph.splat(type, 2) : safe(graph.pickOf(type));
  return binary(graph, graph.random.pick(ArrayRef<BinaryKind>(kinds)), safe(a),
                b);
}

Value makeIntBinary(GraphBuilder &graph) {
  static const BinaryKind kinds[] = {
      BinaryKind::Add, BinaryKind::Sub, BinaryKind::Mul,  BinaryKind::Div,
      BinaryKind::Mod, BinaryKind::Max, BinaryKind::Min,  BinaryKind::And,
      BinaryKind::Or,  BinaryKind::Xor, BinaryKind::FMod, BinaryKind::Pow,
      BinaryKind::Shl, BinaryKind::Shr};
  Value a = graph.pick(graph.indexType());
  Value b = graph.pickOf(cast<RankedTensorType>(a.getType()));
  return binary(graph, graph.random.pick(ArrayRef<BinaryKind>(kinds)), a, b);
}

/// Bools of bools: not, and, or, xor, max, min.
Value makeLogical(GraphBuilder &graph) {
  static const BinaryKind kinds[] = {BinaryKind::And, BinaryKind::Or,
                                     BinaryKind::Xor, BinaryKind::Max,
                                     BinaryKind::Min};
  Value a = graph.pick(graph.builder.getI1Type());
  if (graph.random.chance(30))
    return unary(graph, UnaryKind::Not, a);
  Value b = graph.pickOf(cast<RankedTensorType>(a.getType()));
  return binary(graph, graph.random.pick(ArrayRef<BinaryKind>(kinds)), a, b);
}

/// is_inf of log(relu(x)), or is_nan of log(x): of exact values some are.
Value makeTest(GraphBuilder &graph) {
  Value x = graph.pick(graph.floatType());
  if (!graph.isExact(x))
    return {};
  bool infinite = graph.random.chance(50);
  Value from = infinite ? unary(graph, UnaryKind::Relu, x) : x;
  auto type = cast<RankedTensorType>(x.getType());
  return UnaryOp::create(graph.builder, graph.loc,
                         type.clone(graph.builder.getI1Type()),
                         infinite ? UnaryKind::IsInf : UnaryKind::IsNan,
                         unary(graph, UnaryKind::Log, from));
}

Value makeCompare(GraphBuilder &graph) {
  Value a = graph.pick(graph.indexType());
  if (graph.random.chance(50)) {
    Value x = graph.pick(graph.floatType());
    a = graph.isExact(x) ? x : a;
  }
  auto type = cast<RankedTensorType>(a.getType());
  Value b = graph.newArgument(type);
  static const ComparePredicate predicates[] = {
      ComparePredicate::Eq, ComparePredicate::Lt, ComparePredicate::Ge};
  return CompareOp::create(
      graph.builder, graph.loc,
      graph.type(type.getShape(), graph.builder.getI1Type()),
      graph.random.pick(ArrayRef<ComparePredicate>(predicates)), a, b);
}

Value makeSelect(GraphBuilder &graph) {
  Value condition = graph.pick(graph.builder.getI1Type());
  auto type = graph.type(shapeOf(condition), graph.floatType());
  Value a = graph.pickOf(type), b = graph.pickOf(type);
  return SelectOp::create(graph.builder, graph.loc, condition, a, b);
}

Value makeConvert(GraphBuilder &graph) {
  Type i1 = graph.builder.getI1Type(), i64 = graph.indexType();
  Value x = graph.pick(graph.random.chance(50) ? i64 : i1);
  Type to = graph.floatType();
  if (graph.random.chance(30))
    to = x.getType() == graph.type(shapeOf(x), i1) ? i64 : i1;
  Value result = ConvertOp::create(graph.builder, graph.loc,
                                   graph.type(shapeOf(x), to), x);
  return to == graph.floatType() ? graph.bounded(result) : result;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

Value makeConstant(GraphBuilder &graph) {
  SmallVector<int64_t> shape = graph.randomShape(1, 2);
  auto type = graph.type(shape, graph.indexType());
  if (graph.random.chance(50))
    return graph.splat(graph.type(shape, graph.floatType()), 0.5);
  SmallVector<int64_t> elements(elementCount(shape));
  for (int64_t &element : elements)
    element = graph.random.between(-6, 6);
  return ConstantOp::create(
      graph.builder, graph.loc,
      DenseElementsAttr::get(type, ArrayRef<int64_t>(elements)));
}

Value makeIota(GraphBuilder &graph) {
  SmallVector<int64_t> shape = graph.randomShape(1, 3);
  return IotaOp::create(graph.builder, graph.loc,
                        graph.type(shape, graph.indexType()),
                        graph.random.below(shape.size()), Value());
}

//===----------------------------------------------------------------------===//
// Contraction and windows
//===----------------------------------------------------------------------===//

/// Every dimension of a value gets a role: batch, contracted or free.
Value makeEinsum(GraphBuilder &graph) {
  Value lhs = graph.pick(graph.floatType(), 1);
  std::string left, right, kept;
  SmallVector<int64_t> rightShape, shape;
  int64_t product = 1;
  for (auto [dim, size] : llvm::enumerate(shapeOf(lhs))) {
    char letter = 'a' + dim;
    left += letter;
    int64_t role = graph.random.below(3);
    if (role != 2) { // in the other operand
      right += letter;
      rightShape.push_back(size);
    }
    if (role != 1) { // in the result
      kept += letter;
      shape.push_back(size);
    }
    product *= size;
  }
  if (graph.random.chance(70) && right.size() < kMaxRank) {
    int64_t size = graph.random.between(2, 6);
    right += 'z';
    rightShape.push_back(size);
    kept += 'z';
    shape.push_back(size);
    product *= size;
  }
  if (product > 8 * kMaxElements || elementCount(shape) > kMaxElements ||
      shape.size() > kMaxRank)
    return {};
  Value rhs = graph.pickOf(graph.type(rightShape, graph.floatType()));
  Value result = EinsumOp::create(
      graph.builder, graph.loc, graph.type(shape, graph.floatType()),
      graph.builder.getStringAttr(left + "," + right + "->" + kept), lhs, rhs);
  return graph.random.chance(50) ? graph.bounded(result) : result;
}

namespace {
/// Random windows over spatial dimensions, with their result sizes.
struct RandomWindows {
  SmallVector<int64_t> sizes, strides, dilations, low, high, results;
  bool fit = true;

  RandomWindows(Random &random, ArrayRef<int64_t> spatial) {
    for (int64_t size : spatial) {
      sizes.push_back(random.between(1, 3));
      strides.push_back(random.between(1, 3));
      dilations.push_back(random.chance(20) ? 2 : 1);
      low.push_back(random.below(2));
      high.push_back(random.below(2));
      int64_t room = size + low.back() + high.back() -
                     ((sizes.back() - 1) * dilations.back() + 1);
      fit &= room >= 0;
      results.push_back(room / strides.back() + 1);
    }
  }
};
} // namespace

/// An image, mostly of two spatial dimensions: a value or a new argument.
static Value pickImage(GraphBuilder &graph) {
  int64_t spatial = graph.random.chance(70) ? 2 : graph.random.between(1, 3);
  if (graph.random.chance(60))
    return graph.pick(graph.floatType(), 2 + spatial, 2 + spatial);
  static const int64_t channels[] = {2, 3, 4, 6, 8, 9};
  SmallVector<int64_t> shape{graph.random.between(1, 3),
                             graph.random.pick(ArrayRef<int64_t>(channels))};
  for (int64_t dim = 0; dim < spatial; ++dim)
    shape.push_back(graph.random.between(spatial == 3 ? 2 : 3, 6));
  return graph.newArgument(graph.type(shape, graph.floatType()));
}

Value makeConvolution(GraphBuilder &graph) {
  Value x = pickImage(graph);
  ArrayRef<int64_t> from = shapeOf(x);
  RandomWindows windows(graph.random, from.drop_front(2));
  int64_t groups = from[1] % 2 == 0 && graph.random.chance(30) ? 2 : 1;
  SmallVector<int64_t> filter{groups * graph.random.between(1, 4),
                              from[1] / groups};
  SmallVector<int64_t> shape{from[0], filter[0]};
  llvm::append_range(filter, windows.sizes);
  llvm::append_range(shape, windows.results);
  if (!windows.fit || elementCount(shape) > kMaxElements)
    return {};
  Value w = graph.pickOf(graph.type(filter, graph.floatType()));
  return graph.bounded(ConvolutionOp::create(
      graph.builder, graph.loc, like(x, shape), x, w, windows.strides,
      windows.dilations, windows.low, windows.high, groups));
}

Value makePool(GraphBuilder &graph) {
  Value x = pickImage(graph);
  ArrayRef<int64_t> from = shapeOf(x);
  RandomWindows windows(graph.random, from.drop_front(2));
  SmallVector<int64_t> shape(from.take_front(2));
  llvm::append_range(shape, windows.results);
  if (!windows.fit)
    return {};
  // A window that is in the padding alone is the neutral element: infinite.
  for (size_t i = 0; i < windows.sizes.size(); ++i)
    if (windows.low[i] >= windows.sizes[i] ||
        windows.high[i] >= windows.sizes[i])
      return {};
  ReduceKind kind = graph.random.chance(50) ? ReduceKind::Max : ReduceKind::Sum;
  return graph.bounded(PoolOp::create(
      graph.builder, graph.loc, like(x, shape), kind, x, windows.sizes,
      windows.strides, windows.dilations, windows.low, windows.high));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// At least one dimension, in order.
static SmallVector<int64_t> someDims(Random &random, int64_t rank) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (random.chance(40))
      dims.push_back(dim);
  if (dims.empty())
    dims.push_back(random.below(rank));
  return dims;
}

static ReduceKind someKind(Random &random) {
  static const ReduceKind kinds[] = {ReduceKind::Sum, ReduceKind::Sum,
                                     ReduceKind::Max, ReduceKind::Min,
                                     ReduceKind::Prod};
  return random.pick(ArrayRef<ReduceKind>(kinds));
}

Value makeReduce(GraphBuilder &graph) {
  bool ints = graph.random.chance(20);
  Value x = graph.pick(ints ? graph.indexType() : graph.floatType(), 1);
  SmallVector<int64_t> dims = someDims(graph.random, shapeOf(x).size()), shape;
  for (auto [dim, size] : llvm::enumerate(shapeOf(x)))
    if (!llvm::is_contained(dims, int64_t(dim)))
      shape.push_back(size);
  Value result = ReduceOp::create(graph.builder, graph.loc, like(x, shape),
                                  someKind(graph.random),
                                  ints ? x : graph.bounded(x), dims);
  return ints ? result : graph.bounded(result);
}

Value makeScan(GraphBuilder &graph) {
  bool ints = graph.random.chance(30);
  Value x = graph.pick(ints ? graph.indexType() : graph.floatType(), 1);
  ReduceKind kind = graph.random.chance(70) ? ReduceKind::Sum : ReduceKind::Max;
  bool exclusive = kind == ReduceKind::Sum && graph.random.chance(40);
  // One after the other: compilers differ in the order of arguments.
  bool reverse = graph.random.chance(40);
  int64_t dim = graph.random.below(shapeOf(x).size());
  Value result = ScanOp::create(graph.builder, graph.loc, x.getType(), kind, x,
                                dim, exclusive, reverse);
  return ints ? result : graph.bounded(result);
}

Value makeSoftmax(GraphBuilder &graph) {
  Value x = graph.pick(graph.floatType(), 1);
  bool log = graph.random.chance(20); // see makeScan
  int64_t dim = graph.random.below(shapeOf(x).size());
  return SoftmaxOp::create(graph.builder, graph.loc, x.getType(), x, dim, log);
}

Value makeNormalize(GraphBuilder &graph) {
  Value x = graph.pick(graph.floatType(), 1);
  NormKind kind = graph.random.chance(50) ? NormKind::Layer : NormKind::Rms;
  return NormalizeOp::create(graph.builder, graph.loc, x.getType(), kind, x,
                             someDims(graph.random, shapeOf(x).size()),
                             llvm::APFloat(0.01));
}

} // namespace autopar::property
