//===- OnnxOpsAttention.cpp - ONNX attention and rotary embedding ---------===//
//
// Written in parts: matrix multiplications, mask, softmax. Heads that share a
// key stay apart as a dimension of their own (g), so that keys and values are
// never repeated.
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"
#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

/// Sizes of one attention: batch b, heads of keys h, queries per key head g,
/// query positions m, key positions n (with the past), head sizes d and e.
struct AttentionSizes {
  int64_t b, h, g, m, n, d, e;
  bool flat; // inputs are [b, positions, heads * size]
};

LogicalResult checkSupported(OnnxNode &node) {
  if (node.has(6) && node.has(4))
    return node.error("nonpad_kv_seqlen and past_key exclude each other");
  if (node.has(6) && (node.shape(6) != node.shape(0).take_front(1) ||
                      !isa<IntegerType>(OnnxNode::elementOf(node.input(6)))))
    return node.error("it needs one nonpad_kv_seqlen per sample");
  if (node.has(4) != node.has(5))
    return node.error("past_key and past_value must come together");
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 4)))
    return failure();
  for (unsigned i : {1u, 2u}) {
    if (failed(node.requireRank(i, node.rank(0), node.rank(0))))
      return failure();
    if (node.shape(i)[0] != node.shape(0)[0])
      return node.error("its inputs differ in batch size");
  }
  for (unsigned i : {1u, 2u, 4u, 5u})
    if (node.has(i) && OnnxNode::elementOf(node.input(i)) !=
                           OnnxNode::elementOf(node.input(0)))
      return differentElements(node, 0, i);
  return success();
}

FailureOr<AttentionSizes> attentionSizes(OnnxNode &node) {
  ArrayRef<int64_t> q = node.shape(0), k = node.shape(1), v = node.shape(2);
  bool flat = q.size() == 3;
  int64_t heads = flat ? node.getInt("q_num_heads", 0) : q[1];
  int64_t keyHeads = flat ? node.getInt("kv_num_heads", 0) : k[1];
  if (heads < 1 || keyHeads < 1 || heads % keyHeads ||
      (flat && (q[2] % heads || k[2] % keyHeads || v[2] % keyHeads)) ||
      (!flat && v[1] != keyHeads))
    return node.error("its heads (" + Twine(heads) + " of queries, " +
                      Twine(keyHeads) + " of keys) do not fit the shapes");
  AttentionSizes s;
  s.flat = flat;
  s.b = q[0];
  s.h = keyHeads;
  s.g = heads / keyHeads;
  s.m = flat ? q[1] : q[2];
  s.n = flat ? k[1] : k[2];
  s.d = flat ? q[2] / heads : q[3];
  s.e = flat ? v[2] / keyHeads : v[3];
  if ((flat ? k[2] / keyHeads : k[3]) != s.d || (flat ? v[1] : v[2]) != s.n)
    return node.error("its queries, keys and values do not fit together");
  return s;
}

/// Keys or values with the past before them, as [b, h, n, size].
FailureOr<Value> withPast(OnnxNode &node, unsigned present, unsigned past,
                          const AttentionSizes &s, int64_t size) {
  Value x = node.input(present);
  if (s.flat)
    x = node.transpose(node.reshape(x, {s.b, s.n, s.h, size}), {0, 2, 1, 3});
  if (!node.has(past))
    return x;
  ArrayRef<int64_t> shape = node.shape(past);
  if (shape.size() != 4 || shape[0] != s.b || shape[1] != s.h ||
      shape[3] != size)
    return node.error("its input " + Twine(past) + " does not fit the others");
  return node.concat({node.input(past), x}, 2);
}

Value minusInfinity(OnnxNode &node, Value like) {
  return node.splatLike(like, -std::numeric_limits<double>::infinity());
}

/// The mask as [b, h, g, m, n], broadcast; missing keys at its end are masked.
FailureOr<Value> spreadMask(OnnxNode &node, const AttentionSizes &s) {
  Value mask = node.input(3);
  SmallVector<int64_t> shape(OnnxNode::shapeOf(mask));
  bool isBool = OnnxNode::elementOf(mask).isInteger(1);
  if (!isBool &&
      OnnxNode::elementOf(mask) != OnnxNode::elementOf(node.input(0)))
    return wrongElement(node, 3,
                        "must be BOOL or of the queries' type, " +
                            elementText(node, 0));
  if (shape.empty() || shape.size() > 4 || shape.back() > s.n)
    return node.error("the mask does not fit the keys");
  if (shape.back() < s.n) {
    SmallVector<int64_t> low(shape.size(), 0), high = low;
    high.back() = s.n - shape.back();
    shape.back() = s.n;
    double fill = isBool ? 0 : -std::numeric_limits<double>::infinity();
    mask = node.create<PadOp>(OnnxNode::typeOf(mask).clone(shape), mask, low,
                              high, llvm::APFloat(fill));
  }
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  if ((shape[0] != 1 && shape[0] != s.b) ||
      (shape[1] != 1 && shape[1] != s.h * s.g) ||
      (shape[2] != 1 && shape[2] != s.m))
    return node.error("the mask does not broadcast to the scores");
  bool perHead = shape[1] != 1;
  mask = node.reshape(mask, {shape[0], perHead ? s.h : 1, perHead ? s.g : 1,
                             shape[2], shape[3]});
  return node.broadcastTo(mask, {s.b, s.h, s.g, s.m, s.n});
}

/// Tells whether a mask by position is asked for, and by which bounds: key j is
/// seen by the query at position p if p - left <= j <= p + right (-1: no
/// bound).
struct PositionMask {
  int64_t left, right;

  explicit PositionMask(OnnxNode &node)
      : left(node.getInt("left_window_size", -1)),
        right(node.getInt("right_window_size", -1)) {
    if (node.getInt("is_causal", 0))
      right = 0;
  }
  bool isThere() const { return left >= 0 || right >= 0; }
};

/// The keys before the first query, as a tensor of `type` (b, m, n): the past,
/// or all but the last queries of each sample's keys.
Value keysBefore(OnnxNode &node, RankedTensorType type,
                 const AttentionSizes &s) {
  if (!node.has(6))
    return node.splat(type, node.has(4) ? double(node.shape(4)[2]) : 0);
  Value counts = node.convert(node.input(6), type.getElementType());
  counts = node.binary(BinaryKind::Sub, counts, double(s.m));
  return node.broadcastDims(counts, type.getShape(), {0});
}

/// Masks keys by their distance from the query, and what is beyond a sample's
/// keys.
Value maskPositions(OnnxNode &node, Value scores, const AttentionSizes &s) {
  PositionMask mask(node);
  if (!mask.isThere() && !node.has(6))
    return scores;
  int64_t samples = node.has(6) ? s.b : 1;
  auto type =
      RankedTensorType::get({samples, s.m, s.n}, node.builder.getI64Type());
  Value key = node.iota(type, 2), allowed;
  auto restrict = [&](ComparePredicate predicate, Value bound) {
    Value here = node.compare(predicate, key, bound);
    allowed = allowed ? node.binary(BinaryKind::And, allowed, here) : here;
  };
  Value query = node.binary(BinaryKind::Add, node.iota(type, 1),
                            keysBefore(node, type, s));
  if (mask.right >= 0)
    restrict(ComparePredicate::Le,
             node.binary(BinaryKind::Add, query, double(mask.right)));
  if (mask.left >= 0)
    restrict(ComparePredicate::Ge,
             node.binary(BinaryKind::Sub, query, double(mask.left)));
  if (node.has(6)) {
    Value counts = node.convert(node.input(6), type.getElementType());
    restrict(ComparePredicate::Lt,
             node.broadcastDims(counts, type.getShape(), {0}));
  }
  if (samples == 1)
    allowed = node.reshape(allowed, {s.m, s.n});
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(scores);
  allowed = samples == 1 ? node.broadcastDims(allowed, shape, {3, 4})
                         : node.broadcastDims(allowed, shape, {0, 3, 4});
  return node.select(allowed, scores, minusInfinity(node, scores));
}

FailureOr<Value> maskScores(OnnxNode &node, Value scores,
                            const AttentionSizes &s) {
  if (node.has(3)) {
    FailureOr<Value> mask = spreadMask(node, s);
    if (failed(mask))
      return failure();
    scores =
        OnnxNode::elementOf(*mask).isInteger(1)
            ? node.select(*mask, scores, minusInfinity(node, scores))
            : node.binary(BinaryKind::Add, scores,
                          node.convert(*mask, OnnxNode::elementOf(scores)));
  }
  return maskPositions(node, scores, s);
}

/// A row whose keys are all masked gives zeros.
FailureOr<Value> weightsOf(OnnxNode &node, Value scores) {
  if (node.hasAttribute("softmax_precision")) {
    FailureOr<Type> precision =
        node.elementType(node.getInt("softmax_precision", 0));
    if (failed(precision))
      return failure();
    if (!isa<FloatType>(*precision))
      return node.error("softmax_precision is " + onnxElementText(*precision) +
                        "; it must be a floating-point type");
    scores = node.convert(scores, *precision);
  }
  Value weights =
      node.create<SoftmaxOp>(scores.getType(), scores, 4, /*log=*/false);
  if (node.has(3) || node.has(6) || PositionMask(node).isThere())
    weights = node.select(node.unary(UnaryKind::IsNan, weights),
                          node.splatLike(weights, 0), weights);
  return node.convert(weights, OnnxNode::elementOf(node.input(0)));
}

/// Which intermediate value output 3 shows.
void showScores(OnnxNode &node, int64_t mode, Value value,
                const AttentionSizes &s) {
  if (!node.wantsOutput(3) || node.getInt("qk_matmul_output_mode", 0) != mode)
    return;
  value = node.convert(value, OnnxNode::elementOf(node.input(0)));
  node.setOutput(3, node.reshape(value, {s.b, s.h * s.g, s.m, s.n}));
}

LogicalResult attention(OnnxNode &node) {
  if (failed(checkSupported(node)))
    return failure();
  FailureOr<AttentionSizes> sizes = attentionSizes(node);
  if (failed(sizes))
    return failure();
  AttentionSizes s = *sizes;
  FailureOr<Value> keys = withPast(node, 1, 4, s, s.d);
  FailureOr<Value> values = withPast(node, 2, 5, s, s.e);
  if (failed(keys) || failed(values))
    return failure();
  s.n = OnnxNode::shapeOf(*keys)[2];
  if (OnnxNode::shapeOf(*values)[2] != s.n)
    return node.error("past_key and past_value differ in length");
  Value queries = node.reshape(
      node.input(0), s.flat ? ArrayRef<int64_t>({s.b, s.m, s.h, s.g, s.d})
                            : ArrayRef<int64_t>({s.b, s.h, s.g, s.m, s.d}));
  StringRef queryLetters = s.flat ? "bmhgd" : "bhgmd";
  Value scores = node.einsum(queryLetters, "bhnd", "bhgmn", queries, *keys);
  // Between the einsums, which keep their type, nothing is rounded.
  scores = node.binary(BinaryKind::Mul, node.widened(scores),
                       node.getFloat("scale", 1 / std::sqrt(double(s.d))));
  showScores(node, 0, scores, s);
  if (double cap = node.getFloat("softcap", 0); cap > 0)
    scores =
        node.binary(BinaryKind::Mul,
                    node.unary(UnaryKind::Tanh,
                               node.binary(BinaryKind::Mul, scores, 1 / cap)),
                    cap);
  showScores(node, 1, scores, s);
  FailureOr<Value> masked = maskScores(node, scores, s);
  if (failed(masked))
    return failure();
  showScores(node, 2, *masked, s);
  FailureOr<Value> weights = weightsOf(node, *masked);
  if (failed(weights))
    return failure();
  showScores(node, 3, *weights, s);
  Value y = node.einsum("bhgmn", "bhne", s.flat ? "bmhge" : "bhgme", *weights,
                        *values);
  node.setOutput(
      0,
      node.reshape(y, s.flat ? ArrayRef<int64_t>({s.b, s.m, s.h * s.g * s.e})
                             : ArrayRef<int64_t>({s.b, s.h * s.g, s.m, s.e})));
  if (node.numOutputs() > 1)
    node.setOutput(1, *keys);
  if (node.numOutputs() > 2)
    node.setOutput(2, *values);
  return success();
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// x [b, s, h, d] with its first `2 * half` elements rotated in pairs (i, i +
/// half), or (2i, 2i + 1) if interleaved, by the angles of `cos` and `sin` [b,
/// s, half].
Value rotate(OnnxNode &node, Value x, Value cos, Value sin, int64_t half,
             bool interleaved) {
  SmallVector<int64_t> shape(OnnxNode::shapeOf(x)), zeros(4, 0), part = shape;
  part[3] = half;
  SmallVector<int64_t> second = {0, 0, 0, interleaved ? 1 : half};
  SmallVector<int64_t> steps = {1, 1, 1, interleaved ? 2 : 1};
  // Halves become f32 after they moved: what moves is stored as it is.
  Value a = node.widened(node.slice(x, zeros, part, steps));
  Value b = node.widened(node.slice(x, second, part, steps));
  cos = node.widened(node.broadcastDims(cos, part, {0, 1, 3}));
  sin = node.widened(node.broadcastDims(sin, part, {0, 1, 3}));
  Value real =
      node.binary(BinaryKind::Sub, node.binary(BinaryKind::Mul, cos, a),
                  node.binary(BinaryKind::Mul, sin, b));
  Value imaginary =
      node.binary(BinaryKind::Add, node.binary(BinaryKind::Mul, sin, a),
                  node.binary(BinaryKind::Mul, cos, b));
  real = node.convert(real, OnnxNode::elementOf(x));
  imaginary = node.convert(imaginary, OnnxNode::elementOf(x));
  SmallVector<int64_t> rotated = part;
  rotated[3] = 2 * half;
  if (interleaved) {
    SmallVector<int64_t> pairs = part;
    pairs.push_back(1);
    real = node.concat(
        {node.reshape(real, pairs), node.reshape(imaginary, pairs)}, 4);
    real = node.reshape(real, rotated);
  } else {
    real = node.concat({real, imaginary}, 3);
  }
  if (2 * half == shape[3])
    return real;
  part[3] = shape[3] - 2 * half;
  return node.concat({real, node.slice(x, {0, 0, 0, 2 * half}, part)}, 3);
}

/// A table of angles as [b, s, half]: looked up at the positions if they are
/// given.
FailureOr<Value> angles(OnnxNode &node, unsigned i, int64_t b, int64_t s,
                        int64_t half) {
  Value table = node.input(i);
  if (OnnxNode::elementOf(table) != OnnxNode::elementOf(node.input(0)))
    return differentElements(node, 0, i);
  if (node.has(3)) {
    if (node.rank(i) != 2 ||
        !isa<IntegerType>(OnnxNode::elementOf(node.input(3))))
      return node.error("with positions, its tables must have rank 2");
    table = node.gather(table, node.input(3), 0);
    node.recordIndices(table, i, 3, 0);
  }
  if (OnnxNode::shapeOf(table) != ArrayRef<int64_t>({b, s, half}))
    return node.error("its input " + Twine(i) + " does not fit the input");
  return table;
}

LogicalResult rotaryEmbedding(OnnxNode &node) {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 4)))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  Value x = node.input(0);
  bool flat = shape.size() == 3;
  if (flat) {
    int64_t heads = node.getInt("num_heads", 0);
    if (heads < 1 || shape[2] % heads)
      return node.error("num_heads " + Twine(heads) +
                        " does not fit the input");
    x = node.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  } else {
    x = node.transpose(x, {0, 2, 1, 3});
  }
  ArrayRef<int64_t> split = OnnxNode::shapeOf(x);
  int64_t size = node.getInt("rotary_embedding_dim", 0);
  size = size == 0 ? split[3] : size;
  if (size < 2 || size > split[3] || size % 2)
    return node.error("rotary_embedding_dim " + Twine(size) +
                      " does not fit heads of size " + Twine(split[3]));
  FailureOr<Value> cos = angles(node, 1, split[0], split[1], size / 2);
  FailureOr<Value> sin = angles(node, 2, split[0], split[1], size / 2);
  if (failed(cos) || failed(sin))
    return failure();
  Value y =
      rotate(node, x, *cos, *sin, size / 2, node.getInt("interleaved", 0));
  return node.finish(flat ? node.reshape(y, shape)
                          : node.transpose(y, {0, 2, 1, 3}));
}

constexpr StringLiteral kAttention =
    "is_causal:int kv_num_heads:int q_num_heads:int qk_matmul_output_mode:int "
    "scale:float softcap:float softmax_precision:int";
constexpr StringLiteral kAttentionWindow =
    "is_causal:int kv_num_heads:int left_window_size:int q_num_heads:int "
    "qk_matmul_output_mode:int right_window_size:int scale:float "
    "softcap:float softmax_precision:int";
constexpr StringLiteral kRotary =
    "interleaved:int num_heads:int rotary_embedding_dim:int";

const OnnxOp kOps[] = {
    {"Attention", "23", 3, 6, kAttention, attention},
    {"Attention", "24", 3, 7, kAttention, attention},
    {"Attention", "25", 3, 7, kAttentionWindow, attention},
    {"RotaryEmbedding", "23", 3, 4, kRotary, rotaryEmbedding},
};
} // namespace

ArrayRef<OnnxOp> attentionOps() { return kOps; }

} // namespace autopar
