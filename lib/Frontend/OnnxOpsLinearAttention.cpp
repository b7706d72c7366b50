//===- OnnxOpsLinearAttention.cpp - ONNX attention by a running state -----===//
//
// Linear attention keeps, instead of all keys and values, one matrix per head
// that every position updates. The positions are unrolled, as the steps of
// LSTM are. CausalConvWithState is the convolution that stands before it.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "WindowAttributes.h"
#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

//===----------------------------------------------------------------------===//
// LinearAttention
//===----------------------------------------------------------------------===//

/// Batch b, positions t, heads of keys h, queries per key head g, sizes of keys
/// d and of values m.
class LinearAttention {
public:
  explicit LinearAttention(OnnxNode &node)
      : node(node), rule(node.getString("update_rule", "gated_delta")),
        decays(rule == "gated" || rule == "gated_delta"),
        corrects(rule == "delta" || rule == "gated_delta") {}

  LogicalResult import();

private:
  LogicalResult readRule();
  LogicalResult readSizes();
  LogicalResult readGates();
  Value initialState();
  Value at(Value sequence, int64_t position);
  Value decayed(Value state, int64_t position);
  Value corrected(Value value, Value state, Value key, int64_t position);
  Value read(Value state, int64_t position);

  OnnxNode &node;
  StringRef rule;
  bool decays, corrects;
  int64_t b = 0, t = 0, h = 0, g = 0, d = 0, m = 0;
  Type element;                            // that the state is computed in
  Value queries, keys, values, gate, beta; // [b, t, ...], of `element`
};

} // namespace

LogicalResult LinearAttention::readRule() {
  if (rule != "linear" && !decays && !corrects)
    return node.error("unknown update_rule '" + rule +
                      "' (known: linear, gated, delta, gated_delta)");
  if (node.has(4) != decays)
    return node.error("update_rule '" + rule + "' " +
                      (decays ? "needs" : "takes no") + " input decay");
  if (node.has(5) != corrects)
    return node.error("update_rule '" + rule + "' " +
                      (corrects ? "needs" : "takes no") + " input beta");
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      continue;
    int64_t rank = i == 3 ? 4 : 3;
    if (failed(node.requireFloat(i)) || failed(node.requireRank(i, rank, rank)))
      return failure();
    if (i != 3 && node.shape(i).take_front(2) != node.shape(0).take_front(2))
      return node.error("its inputs differ in batch or positions");
  }
  return success();
}

LogicalResult LinearAttention::readSizes() {
  int64_t heads = node.getInt("q_num_heads", 0);
  h = node.getInt("kv_num_heads", 0);
  b = node.shape(0)[0];
  t = node.shape(0)[1];
  int64_t q = node.shape(0)[2], k = node.shape(1)[2], v = node.shape(2)[2];
  if (heads < 1 || h < 1 || heads % h || q % heads || k % h || v % h ||
      q / heads != k / h)
    return node.error("its heads (" + Twine(heads) + " of queries, " +
                      Twine(h) + " of keys) do not fit the shapes");
  g = heads / h;
  d = k / h;
  m = v / h;
  if (node.has(3) && node.shape(3) != ArrayRef<int64_t>({b, h, d, m}))
    return node.error("past_state must be batch x kv_num_heads x key size x "
                      "value size");
  element = node.widened(OnnxNode::elementOf(node.input(0)));
  auto split = [&](unsigned i, ArrayRef<int64_t> shape) {
    return node.convert(node.reshape(node.input(i), shape), element);
  };
  queries = split(0, {b, t, h, g, d});
  keys = split(1, {b, t, h, d});
  values = split(2, {b, t, h, m});
  return readGates();
}

LogicalResult LinearAttention::readGates() {
  if (decays) {
    int64_t count = node.shape(4)[2];
    if (count != h && count != h * d)
      return node.error("decay must have one number per head of keys, or one "
                        "per element of a key");
    Value numbers = node.convert(node.input(4), element);
    Value factors = node.unary(UnaryKind::Exp, numbers);
    gate = count == h ? factors : node.reshape(factors, {b, t, h, d});
  }
  if (!corrects)
    return success();
  if (node.shape(5)[2] != h && node.shape(5)[2] != 1)
    return node.error("beta must have one number per head of keys, or one");
  beta = node.broadcastTo(node.convert(node.input(5), element), {b, t, h});
  return success();
}

Value LinearAttention::initialState() {
  if (node.has(3))
    return node.convert(node.input(3), element);
  return node.splat(RankedTensorType::get({b, h, d, m}, element), 0);
}

Value LinearAttention::at(Value sequence, int64_t position) {
  return node.take(sequence, 1, position);
}

/// The state times the decay of its heads, or of its rows.
Value LinearAttention::decayed(Value state, int64_t position) {
  if (!decays)
    return state;
  Value factor = at(gate, position);
  SmallVector<int64_t> dims = {0, 1, 2};
  dims.resize(OnnxNode::rankOf(factor));
  return node.binary(BinaryKind::Mul, state,
                     node.broadcastDims(factor, {b, h, d, m}, dims));
}

/// beta * (value - what the state holds for the key).
Value LinearAttention::corrected(Value value, Value state, Value key,
                                 int64_t position) {
  if (!corrects)
    return value;
  Value held = node.einsum("bhdm", "bhd", "bhm", state, key);
  Value rate = node.broadcastDims(at(beta, position), {b, h, m}, {0, 1});
  return node.binary(BinaryKind::Mul, rate,
                     node.binary(BinaryKind::Sub, value, held));
}

/// scale * query * state, as [b, 1, heads * m].
Value LinearAttention::read(Value state, int64_t position) {
  double scale = node.getFloat("scale", 0);
  scale = scale == 0 ? 1 / std::sqrt(double(d)) : scale;
  Value y = node.einsum("bhgd", "bhdm", "bhgm", at(queries, position), state);
  return node.reshape(node.binary(BinaryKind::Mul, y, scale),
                      {b, 1, h * g * m});
}

LogicalResult LinearAttention::import() {
  constexpr uint64_t kOpsOfPosition = 20; // about
  if (failed(readRule()) || failed(readSizes()) ||
      failed(
          node.unroll(llvm::SaturatingMultiply(uint64_t(t), kOpsOfPosition))))
    return failure();
  Value state = initialState();
  SmallVector<Value> outputs;
  for (int64_t i = 0; i < t; ++i) {
    SmallVector<int64_t> shape = {b, h, d, m};
    state = decayed(state, i);
    Value key = at(keys, i);
    Value value = corrected(at(values, i), state, key, i);
    state = node.binary(
        BinaryKind::Add, state,
        node.binary(BinaryKind::Mul, node.broadcastDims(key, shape, {0, 1, 2}),
                    node.broadcastDims(value, shape, {0, 1, 3})));
    outputs.push_back(read(state, i));
  }
  Type type = OnnxNode::elementOf(node.input(0));
  Value none = node.splat(RankedTensorType::get({b, 0, h * g * m}, element), 0);
  node.setOutput(
      0, node.convert(outputs.empty() ? none : node.concat(outputs, 1), type));
  if (node.wantsOutput(1))
    node.setOutput(1, node.convert(state, OnnxNode::elementOf(node.input(
                                              node.has(3) ? 3 : 0))));
  return success();
}

namespace {

LogicalResult linearAttention(OnnxNode &node) {
  return LinearAttention(node).import();
}

//===----------------------------------------------------------------------===//
// CausalConvWithState
//===----------------------------------------------------------------------===//

LogicalResult checkCausal(OnnxNode &node) {
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (node.has(i) && OnnxNode::elementOf(node.input(i)) !=
                           OnnxNode::elementOf(node.input(0)))
      return node.error("its inputs have different element types");
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 3)) ||
      failed(node.requireRank(1, 3, 3)))
    return failure();
  int64_t batch = node.shape(0)[0], channels = node.shape(0)[1];
  int64_t size = node.shape(1)[2];
  if (node.shape(1) != ArrayRef<int64_t>({channels, 1, size}) || size < 1 ||
      size > kWindowLimit)
    return node.error("its weight must be channels x 1 x size");
  if (node.has(3) &&
      node.shape(3) != ArrayRef<int64_t>({batch, channels, size - 1}))
    return node.error("past_state must be batch x channels x (size - 1)");
  return checkBias(node, 2, channels);
}

/// x * sigmoid(x), or x.
FailureOr<Value> activate(OnnxNode &node, Value x) {
  StringRef name = node.getString("activation", "none");
  if (name == "none")
    return x;
  if (name != "silu" && name != "swish")
    return node.error("unknown activation '" + name +
                      "' (known: none, silu, swish)");
  Value wide = node.widened(x);
  Value y =
      node.binary(BinaryKind::Mul, wide, node.unary(UnaryKind::Sigmoid, wide));
  return node.convert(y, OnnxNode::elementOf(x));
}

/// A convolution per channel over what was before and the input; the state is
/// the end of that.
LogicalResult causalConvWithState(OnnxNode &node) {
  if (failed(checkCausal(node)))
    return failure();
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t past = node.shape(1)[2] - 1;
  SmallVector<int64_t> before = {shape[0], shape[1], past};
  Value zeros = node.splat(node.type(0).clone(before), 0);
  Value all =
      node.concat({node.has(3) ? node.input(3) : zeros, node.input(0)}, 2);
  WindowSpec window;
  window.size = {past + 1};
  window.strides = window.dilations = {1};
  window.low = window.high = {0};
  window.out = {shape[2]};
  Value y = convolve(node, all, node.input(1), window, shape[1]);
  if (node.has(2))
    y = node.binaryAlong(BinaryKind::Add, y, node.input(2), 1);
  FailureOr<Value> activated = activate(node, y);
  if (failed(activated))
    return failure();
  node.setOutput(0, *activated);
  if (node.wantsOutput(1))
    node.setOutput(1, node.slice(all, {0, 0, shape[2]}, before));
  return success();
}

const OnnxOp kOps[] = {
    {"LinearAttention", "27", 3, 6,
     "chunk_size:int kv_num_heads:int! q_num_heads:int! scale:float "
     "update_rule:string",
     linearAttention},
    {"CausalConvWithState", "27", 2, 4, "activation:string",
     causalConvWithState},
};
} // namespace

ArrayRef<OnnxOp> linearAttentionOps() { return kOps; }

} // namespace autopar
