//===- RecurrentCells.cpp - One step of LSTM, GRU, RNN --------------------===//

#include "RecurrentCells.h"

using namespace mlir;

namespace autopar::recurrent {

/// Sum of two values, of which one may be null.
static Value sum(OnnxNode &node, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return node.binary(BinaryKind::Add, a, b);
}

static Value times(OnnxNode &node, Value a, Value b) {
  return node.binary(BinaryKind::Mul, a, b);
}

/// v [H] times x [B, H].
static Value scale(OnnxNode &node, Value x, Value v) {
  return node.binaryAlong(BinaryKind::Mul, x, v, 1);
}

/// 1 - x
static Value complement(OnnxNode &node, Value x) {
  return node.binary(BinaryKind::Sub, node.splatLike(x, 1), x);
}

Value Direction::recurrent(OnnxNode &node, Value hidden, int64_t first,
                           int64_t count) const {
  ArrayRef<int64_t> shape = OnnxNode::shapeOf(weights);
  Value part = node.slice(weights, {first, 0, 0}, {count, shape[1], shape[2]});
  return node.widened(node.einsum("bk", "ghk", "bgh", hidden, part));
}

State lstmCell(OnnxNode &node, const Direction &direction, Value x,
               State state) {
  const auto &[f, g, h] = std::tie(
      direction.functions[0], direction.functions[1], direction.functions[2]);
  Value sums = sum(node, x, direction.recurrent(node, state.hidden, 0, 4));
  auto gate = [&](int64_t i) { return node.take(sums, 1, i); };
  auto peep = [&](Value x, int64_t i, Value cell) {
    if (!direction.peepholes)
      return x;
    return sum(node, x,
               scale(node, cell, node.take(direction.peepholes, 0, i)));
  };
  bool coupled = node.getInt("input_forget", 0);
  Value input = f(node, peep(gate(0), 0, state.cell));
  Value forget =
      coupled ? complement(node, input) : f(node, peep(gate(2), 2, state.cell));
  Value cell = sum(node, times(node, forget, state.cell),
                   times(node, input, g(node, gate(3))));
  Value output = f(node, peep(gate(1), 1, cell));
  // The clip bounds what gates get, not the cell.
  RecurrentActivation unbounded{h.kind, h.alpha, h.beta, 0};
  return {times(node, output, unbounded(node, cell)), cell};
}

State gruCell(OnnxNode &node, const Direction &direction, Value x,
              State state) {
  const RecurrentActivation &f = direction.functions[0],
                            &g = direction.functions[1];
  bool linearFirst = node.getInt("linear_before_reset", 0);
  Value multiplied =
      direction.recurrent(node, state.hidden, 0, linearFirst ? 3 : 2);
  // Gates are taken from sums: one product stays one.
  SmallVector<int64_t> shape(OnnxNode::shapeOf(multiplied)),
      starts(shape.size(), 0);
  Value sums = sum(node, node.slice(x, starts, shape), multiplied);
  auto gate = [&](int64_t i) { return f(node, node.take(sums, 1, i)); };
  Value update = gate(0), reset = gate(1), candidate;
  if (linearFirst) {
    Value candidateSum = node.take(multiplied, 1, 2);
    if (direction.bias)
      candidateSum =
          node.binaryAlong(BinaryKind::Add, candidateSum,
                           node.widened(node.take(direction.bias, 0, 2)), 1);
    candidate = times(node, reset, candidateSum);
  } else {
    Value held = times(node, reset, node.widened(state.hidden));
    held = node.convert(held, OnnxNode::elementOf(state.hidden));
    candidate = node.take(direction.recurrent(node, held, 2, 1), 1, 0);
  }
  candidate = g(node, sum(node, node.take(x, 1, 2), candidate));
  return {sum(node, times(node, complement(node, update), candidate),
              times(node, update, node.widened(state.hidden))),
          Value()};
}

State rnnCell(OnnxNode &node, const Direction &direction, Value x,
              State state) {
  Value sums = sum(node, x, direction.recurrent(node, state.hidden, 0, 1));
  return {direction.functions[0](node, node.take(sums, 1, 0)), Value()};
}

} // namespace autopar::recurrent
