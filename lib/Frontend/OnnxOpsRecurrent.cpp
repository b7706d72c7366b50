//===- OnnxOpsRecurrent.cpp - ONNX LSTM, GRU and RNN ----------------------===//
//
// Unrolled: all inputs are multiplied with W by one einsum over all steps; then
// each step is a matrix multiplication with R and elementwise ops
// (RecurrentCells.h). T steps, B sequences, I inputs, H hidden units, G gates.
// If the node's type is a 16-bit float, the einsums and the hidden state that
// they read have that type, and all else is in f32.
//
//===----------------------------------------------------------------------===//

#include "ElementTypes.h"
#include "RecurrentCells.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

using namespace recurrent;

namespace {

/// The differences between the three operators.
struct Kind {
  int64_t gates;
  bool hasCell;
  SmallVector<StringRef> functions; // defaults, of one direction
  Cell cell;
};

class Recurrence {
public:
  Recurrence(OnnxNode &node, const Kind &kind) : node(node), kind(kind) {}
  LogicalResult import();

private:
  LogicalResult readShapes();
  LogicalResult checkShape(unsigned input, ArrayRef<int64_t> expected);
  LogicalResult readLengths();
  Direction direction(int64_t d);
  State initial(int64_t d);
  Value keep(Value fresh, Value old, int64_t step);
  State unroll(int64_t d, SmallVector<Value> &outputs);
  void finish(ArrayRef<SmallVector<Value>> outputs, ArrayRef<State> last);
  /// The initial value of a state: direction d of input i, or zeros.
  Value initialOf(unsigned i, int64_t d);
  Value stackStates(ArrayRef<Value> states);

  OnnxNode &node;
  const Kind &kind;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batchFirst = false, firstIsReverse = false;
  Value sequence; // [T, B, I]
  Value lengths;  // [B] or null if all are T
  SmallVector<RecurrentActivation> functions;
};

LogicalResult Recurrence::checkShape(unsigned i, ArrayRef<int64_t> expected) {
  if (!node.has(i) || node.shape(i) == expected)
    return success();
  auto type =
      RankedTensorType::get(expected, OnnxNode::elementOf(node.input(i)));
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return node.error("its input " + Twine(i) + " is " +
                    OnnxNode::typeText(node.input(i)) + "; it must be " + text);
}

LogicalResult Recurrence::readShapes() {
  if (failed(node.requireFloat(0)) || failed(node.requireRank(0, 3, 3)) ||
      failed(node.requireRank(1, 3, 3)) || failed(node.requireRank(2, 3, 3)))
    return failure();
  StringRef name = node.getString("direction", "forward");
  if (name != "forward" && name != "reverse" && name != "bidirectional")
    return node.error("unknown value '" + name +
                      "' of direction (known: forward, reverse, "
                      "bidirectional)");
  directions = name == "bidirectional" ? 2 : 1;
  firstIsReverse = name == "reverse";
  batchFirst = node.getInt("layout", 0) != 0;
  steps = node.shape(0)[batchFirst ? 1 : 0];
  batch = node.shape(0)[batchFirst ? 0 : 1];
  inputs = node.shape(0)[2];
  hidden = node.shape(2)[2];
  if (node.getInt("hidden_size", hidden) != hidden)
    return node.error("hidden_size is " + Twine(node.getInt("hidden_size", 0)) +
                      ", but its input 2 has " + Twine(hidden) + " columns");
  int64_t rows = kind.gates * hidden;
  SmallVector<int64_t> state{directions, batch, hidden};
  if (batchFirst)
    std::swap(state[0], state[1]);
  if (failed(checkShape(1, {directions, rows, inputs})) ||
      failed(checkShape(2, {directions, rows, hidden})) ||
      failed(checkShape(3, {directions, 2 * rows})) ||
      failed(checkShape(4, {batch})) || failed(checkShape(5, state)))
    return failure();
  if (kind.hasCell && (failed(checkShape(6, state)) ||
                       failed(checkShape(7, {directions, 3 * hidden}))))
    return failure();
  for (unsigned i : {1, 2, 3, 5, 6, 7})
    if (node.has(i) && OnnxNode::elementOf(node.input(i)) !=
                           OnnxNode::elementOf(node.input(0)))
      return differentElements(node, 0, i);
  return success();
}

LogicalResult Recurrence::readLengths() {
  if (!node.has(4))
    return success();
  std::optional<SmallVector<double>> known = node.knownNumbers(4);
  if (known &&
      llvm::all_of(*known, [&](double length) { return length == steps; }))
    return success();
  lengths = node.convert(node.input(4), node.builder.getI64Type());
  return success();
}

Direction Recurrence::direction(int64_t d) {
  int64_t gates = kind.gates;
  Direction out;
  Value weights =
      node.reshape(node.take(node.input(1), 0, d), {gates, hidden, inputs});
  out.weights =
      node.reshape(node.take(node.input(2), 0, d), {gates, hidden, hidden});
  out.projected = node.einsum("tbi", "ghi", "tbgh", sequence, weights);
  out.functions = ArrayRef(functions).slice(d * kind.functions.size(),
                                            kind.functions.size());
  if (node.has(7))
    out.peepholes =
        node.widened(node.reshape(node.take(node.input(7), 0, d), {3, hidden}));
  if (!node.has(3))
    return out;
  Value both = node.reshape(node.take(node.input(3), 0, d), {2, gates, hidden});
  Value bias = node.take(both, 0, 0);
  out.bias = node.take(both, 0, 1);
  // The bias of a gate that the reset gate scales is not part of the sum.
  bool scaled = node.getInt("linear_before_reset", 0);
  Value other = out.bias;
  if (scaled) {
    auto element = OnnxNode::elementOf(bias);
    other = node.concat(
        {node.slice(other, {0, 0}, {gates - 1, hidden}),
         node.splat(RankedTensorType::get({1, hidden}, element), 0)},
        0);
  }
  bias = node.binary(BinaryKind::Add, bias, other);
  out.projected = node.binary(
      BinaryKind::Add, out.projected,
      node.broadcastDims(bias, {steps, batch, gates, hidden}, {2, 3}));
  return out;
}

Value Recurrence::initialOf(unsigned i, int64_t d) {
  auto type = RankedTensorType::get({batch, hidden},
                                    OnnxNode::elementOf(node.input(0)));
  if (!node.has(i))
    return node.splat(type, 0);
  return node.take(node.input(i), batchFirst ? 1 : 0, d);
}

State Recurrence::initial(int64_t d) {
  return {initialOf(5, d),
          kind.hasCell ? node.widened(initialOf(6, d)) : Value()};
}

/// `fresh` for the sequences that have a step of that number, else `old`.
Value Recurrence::keep(Value fresh, Value old, int64_t step) {
  if (!lengths || !fresh)
    return fresh;
  Value within = node.compare(ComparePredicate::Gt, lengths,
                              node.splatLike(lengths, step));
  return node.select(node.broadcastDims(within, {batch, hidden}, {0}), fresh,
                     old);
}

/// Unrolls all steps of direction d. `outputs` gets the hidden state [B, H] of
/// each step. Backward, a sequence begins at its own last step.
State Recurrence::unroll(int64_t d, SmallVector<Value> &outputs) {
  Direction with = direction(d);
  bool backward = d == 1 || firstIsReverse;
  State state = initial(d);
  outputs.resize(steps);
  for (int64_t i = 0; i < steps; ++i) {
    int64_t step = backward ? steps - 1 - i : i;
    Value x = node.widened(node.take(with.projected, 0, step));
    State next = kind.cell(node, with, x, state);
    next.hidden = node.convert(next.hidden, OnnxNode::elementOf(state.hidden));
    outputs[step] = keep(next.hidden, node.splatLike(next.hidden, 0), step);
    state = {keep(next.hidden, state.hidden, step),
             keep(next.cell, state.cell, step)};
  }
  return state;
}

/// [directions, B, H], or [B, directions, H] of layout 1.
Value Recurrence::stackStates(ArrayRef<Value> states) {
  SmallVector<Value> parts;
  for (Value state : states)
    parts.push_back(batchFirst ? node.reshape(state, {batch, 1, hidden})
                               : node.reshape(state, {1, batch, hidden}));
  return node.concat(parts, batchFirst ? 1 : 0);
}

void Recurrence::finish(ArrayRef<SmallVector<Value>> outputs,
                        ArrayRef<State> last) {
  if (node.wantsOutput(0)) {
    SmallVector<Value> byDirection;
    for (ArrayRef<Value> list : outputs) {
      SmallVector<Value> rows;
      for (Value value : list)
        rows.push_back(node.reshape(value, {1, batch, hidden}));
      Type element = OnnxNode::elementOf(node.input(0));
      Value none =
          node.splat(RankedTensorType::get({0, batch, hidden}, element), 0);
      byDirection.push_back(
          node.reshape(rows.empty() ? none : node.concat(rows, 0),
                       {steps, 1, batch, hidden}));
    }
    Value all = node.concat(byDirection, 1);
    node.setOutput(0, batchFirst ? node.transpose(all, {2, 0, 1, 3}) : all);
  }
  SmallVector<Value> hiddens, cells;
  Type element = OnnxNode::elementOf(node.input(0));
  for (const State &state : last) {
    hiddens.push_back(state.hidden);
    cells.push_back(state.cell ? node.convert(state.cell, element) : Value());
  }
  if (node.wantsOutput(1))
    node.setOutput(1, stackStates(hiddens));
  if (node.wantsOutput(2) && kind.hasCell)
    node.setOutput(2, stackStates(cells));
}

LogicalResult Recurrence::import() {
  /// Ops of one step, about.
  constexpr uint64_t kOpsOfStep = 30;
  if (failed(readShapes()) || failed(readLengths()) ||
      failed(node.unroll(
          llvm::SaturatingMultiply(uint64_t(steps), directions * kOpsOfStep))))
    return failure();
  FailureOr<SmallVector<RecurrentActivation>> read =
      readActivations(node, kind.functions, directions);
  if (failed(read))
    return failure();
  functions = *read;
  sequence =
      batchFirst ? node.transpose(node.input(0), {1, 0, 2}) : node.input(0);
  SmallVector<SmallVector<Value>> outputs(directions);
  SmallVector<State> last;
  for (int64_t d = 0; d < directions; ++d)
    last.push_back(unroll(d, outputs[d]));
  finish(outputs, last);
  return success();
}

LogicalResult lstm(OnnxNode &node) {
  return Recurrence(node, {4, true, {"Sigmoid", "Tanh", "Tanh"}, lstmCell})
      .import();
}
LogicalResult gru(OnnxNode &node) {
  return Recurrence(node, {3, false, {"Sigmoid", "Tanh"}, gruCell}).import();
}
LogicalResult rnn(OnnxNode &node) {
  return Recurrence(node, {1, false, {"Tanh"}, rnnCell}).import();
}

#define COMMON                                                                 \
  "activation_alpha:floats activation_beta:floats activations:strings "        \
  "clip:float direction:string hidden_size:int "

const OnnxOp kOps[] = {
    {"RNN", "1", 3, 6, COMMON "output_sequence:int", rnn},
    {"RNN", "7", 3, 6, COMMON, rnn},
    {"RNN", "14 22", 3, 6, COMMON "layout:int", rnn},
    {"GRU", "3", 3, 6, COMMON "linear_before_reset:int output_sequence:int",
     gru},
    {"GRU", "7", 3, 6, COMMON "linear_before_reset:int", gru},
    {"GRU", "14 22", 3, 6, COMMON "layout:int linear_before_reset:int", gru},
    {"LSTM", "1", 3, 8, COMMON "input_forget:int output_sequence:int", lstm},
    {"LSTM", "7", 3, 8, COMMON "input_forget:int", lstm},
    {"LSTM", "14 22", 3, 8, COMMON "input_forget:int layout:int", lstm},
};
#undef COMMON
} // namespace

ArrayRef<OnnxOp> recurrentOps() { return kOps; }

} // namespace autopar
