//===- OnnxOpsControl.cpp - ONNX control flow that folds ------------------===//
//
// If, Loop and Scan are imported in place, so their conditions and numbers of
// iterations must be known while compiling. A Loop or Scan becomes a copy of
// its body for each iteration.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

LogicalResult requireCondition(OnnxNode &node, unsigned i) {
  if (node.type(i).getNumElements() == 1 &&
      OnnxNode::elementOf(node.input(i)).isInteger(1))
    return success();
  return node.error("its condition must be one boolean");
}

/// The outputs of one branch, where the other one cannot be imported for these
/// sizes; a run that takes the other one ends with an error.
FailureOr<Values> onlyBranch(OnnxNode &node, Value condition,
                             FailureOr<Values> kept, bool isThen,
                             StringRef problem) {
  if (failed(kept))
    return node.error("neither of its branches can be compiled; its " +
                      Twine(isThen ? "else" : "then") + "_branch: " + problem);
  std::string message = ("node '" + nodeName(node.loc) + "' (If): its " +
                         (isThen ? "else" : "then") +
                         "_branch is taken, which could not be compiled for "
                         "these sizes: " +
                         problem)
                            .str();
  mlir::emitWarning(node.loc)
      << "its condition is not known while compiling, and its "
      << (isThen ? "else" : "then")
      << "_branch cannot be compiled for these sizes; a run that takes it ends "
         "with an error: "
      << problem;
  node.requireAtRun(condition, isThen, message);
  return kept;
}

/// Both branches, and of each output the one that the condition chooses:
/// nothing in a graph has side effects.
FailureOr<Values> selectBranch(OnnxNode &node) {
  Value condition = node.reshape(node.input(0), {});
  std::string problems[2];
  FailureOr<Values> onTrue =
      node.tryBranch("then_branch", condition, true, "then/", problems[0]);
  FailureOr<Values> onFalse =
      node.tryBranch("else_branch", condition, false, "else/", problems[1]);
  if (failed(onFalse))
    return onlyBranch(node, condition, onTrue, true, problems[1]);
  if (failed(onTrue))
    return onlyBranch(node, condition, onFalse, false, problems[0]);
  if (onTrue->size() != onFalse->size())
    return node.error("its branches have " + Twine(onTrue->size()) + " and " +
                      Twine(onFalse->size()) + " outputs");
  Values outputs;
  for (auto [a, b] : llvm::zip_equal(*onTrue, *onFalse)) {
    if (OnnxNode::isSequence(a) || OnnxNode::isSequence(b))
      return node.error("its condition is not known while compiling, and its "
                        "branches give sequences of tensors" +
                        node.howToBind(0));
    if (a.getType() != b.getType())
      return node.error("its condition is not known while compiling, and its "
                        "branches give different types: " +
                        Twine(OnnxNode::typeText(a)) + " and " +
                        OnnxNode::typeText(b) + node.howToBind(0));
    outputs.push_back(
        node.select(node.broadcastTo(condition, OnnxNode::shapeOf(a)), a, b));
  }
  return outputs;
}

LogicalResult finishAll(OnnxNode &node, ArrayRef<Value> outputs) {
  if (outputs.size() < node.numOutputs())
    return node.error("its body has " + Twine(outputs.size()) +
                      " outputs, the node " + Twine(node.numOutputs()));
  for (unsigned i = 0; i < node.numOutputs(); ++i)
    node.setOutput(i, outputs[i]);
  return success();
}

LogicalResult ifOp(OnnxNode &node) {
  if (failed(requireCondition(node, 0)))
    return failure();
  std::optional<SmallVector<double>> condition = node.knownNumbers(0);
  FailureOr<Values> outputs =
      !condition           ? selectBranch(node)
      : condition->front() ? node.importGraph("then_branch", {}, "then/")
                           : node.importGraph("else_branch", {}, "else/");
  if (failed(outputs))
    return failure();
  if (condition)
    node.requireKnown(node.reshape(node.input(0), {}), condition->front() != 0,
                      "node '" + nodeName(node.loc) +
                          "': its other branch is taken at this size");
  return finishAll(node, *outputs);
}

//===----------------------------------------------------------------------===//
// What Loop and Scan share
//===----------------------------------------------------------------------===//

/// Rows of all iterations, one after the other along `axis`; null without any.
FailureOr<Value> stack(OnnxNode &node, ArrayRef<Value> rows, int64_t axis) {
  if (rows.empty())
    return Value();
  Values parts;
  for (Value row : rows) {
    if (OnnxNode::isSequence(row))
      return node.error("a scan output is a sequence of tensors");
    if (row.getType() != rows.front().getType())
      return node.error("a scan output changes its type between iterations: " +
                        Twine(OnnxNode::typeText(rows.front())) + " and " +
                        OnnxNode::typeText(row));
    parts.push_back(node.insertDim(row, axis));
  }
  return node.concat(parts, axis);
}

/// Values that flow from iteration to iteration, and those that each one adds.
struct Iterations {
  Values carried;
  SmallVector<Values> scanned; // per scan output
  int64_t count = 0;

  /// `outputs`: the carried values, then one row of each scan output.
  LogicalResult add(OnnxNode &node, ArrayRef<Value> outputs) {
    size_t rows =
        node.numOutputs() - std::min<size_t>(node.numOutputs(), carried.size());
    if (outputs.size() < carried.size() + rows)
      return node.error("its body has too few outputs");
    scanned.resize(outputs.size() - carried.size());
    for (auto [i, list] : llvm::enumerate(scanned))
      list.push_back(outputs[carried.size() + i]);
    carried.assign(outputs.begin(), outputs.begin() + carried.size());
    ++count;
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// The value of a condition, or none if it is absent (then it holds).
FailureOr<bool> holds(OnnxNode &node, Value condition, StringRef what) {
  std::optional<SmallVector<double>> known = node.knownNumbersOf(condition);
  if (!known || known->size() != 1)
    return node.error(what +
                      " must be known while compiling: a constant, or "
                      "computed from shapes, constants and the iteration" +
                      node.howToBind(condition));
  return known->front() != 0;
}

LogicalResult loop(OnnxNode &node) {
  for (unsigned i : {0, 1})
    if (node.has(i) && OnnxNode::isSequence(node.input(i)))
      return node.error("its input " + Twine(i) + " must be a tensor");
  FailureOr<int64_t> trips =
      node.has(0) ? node.scalarInt(0) : FailureOr<int64_t>(INT64_MAX);
  FailureOr<bool> go = node.has(1) ? holds(node, node.input(1), "its condition")
                                   : FailureOr<bool>(true);
  if (failed(trips) || failed(go))
    return failure();
  Iterations state;
  for (unsigned i = 2; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error("its input " + Twine(i) + " is missing");
    state.carried.push_back(node.input(i));
  }
  Type i1 = node.builder.getI1Type();
  while (*go && state.count < *trips) {
    Values inputs{node.scalarInts({state.count}, {}),
                  node.splat(RankedTensorType::get({}, i1), 1)};
    llvm::append_range(inputs, state.carried);
    FailureOr<Values> outputs =
        node.importGraph("body", inputs, Twine(state.count) + "/");
    if (failed(outputs))
      return failure();
    if (outputs->empty())
      return node.error("its body has no outputs");
    go = holds(node, outputs->front(), "its body's condition");
    if (failed(go) || failed(state.add(node, ArrayRef(*outputs).drop_front())))
      return failure();
  }
  Values outputs = state.carried;
  for (ArrayRef<Value> rows : state.scanned) {
    FailureOr<Value> stacked = stack(node, rows, 0);
    if (failed(stacked))
      return failure();
    outputs.push_back(*stacked);
  }
  // The shape of a scan output is not known if there is no iteration.
  outputs.resize(std::max<size_t>(outputs.size(), node.numOutputs()));
  return finishAll(node, outputs);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// An input that is cut, or an output that is made, along one axis.
struct ScanAxis {
  int64_t axis;
  bool backward;
};

/// `rankOf(i)` counts the dimensions of the whole tensor.
FailureOr<SmallVector<ScanAxis>>
scanAxes(OnnxNode &node, size_t count, StringRef kind,
         llvm::function_ref<int64_t(size_t)> rankOf) {
  SmallVector<int64_t> axes = node.getInts(("scan_" + kind + "_axes").str());
  SmallVector<int64_t> directions =
      node.getInts(("scan_" + kind + "_directions").str());
  if ((!axes.empty() && axes.size() != count) ||
      (!directions.empty() && directions.size() != count))
    return node.error("its scan_" + kind + "_axes and scan_" + kind +
                      "_directions must name all " + Twine(count));
  SmallVector<ScanAxis> out;
  for (size_t i = 0; i < count; ++i) {
    FailureOr<int64_t> axis =
        node.normalizeAxis(axes.empty() ? 0 : axes[i], rankOf(i));
    if (failed(axis))
      return failure();
    out.push_back({*axis, !directions.empty() && directions[i] != 0});
  }
  return out;
}

/// Element `at` of x along an axis, which disappears.
Value takeRow(OnnxNode &node, Value x, ScanAxis along, int64_t at) {
  int64_t size = OnnxNode::shapeOf(x)[along.axis];
  return node.take(x, along.axis, along.backward ? size - 1 - at : at);
}

/// The number of iterations: the size of all cut dimensions.
FailureOr<int64_t> scanLength(OnnxNode &node, ArrayRef<Value> inputs,
                              ArrayRef<ScanAxis> axes) {
  int64_t length = OnnxNode::shapeOf(inputs[0])[axes[0].axis];
  for (auto [input, along] : llvm::zip_equal(inputs, axes))
    if (OnnxNode::shapeOf(input)[along.axis] != length)
      return node.error("its scan inputs have different lengths");
  return length;
}

LogicalResult scan(OnnxNode &node) {
  int64_t count = node.getInt("num_scan_inputs", 0);
  for (unsigned i = 0; i < node.numInputs(); ++i)
    if (!node.has(i))
      return node.error("its input " + Twine(i) + " is missing");
  if (count < 1 || count > int64_t(node.numInputs()))
    return node.error("num_scan_inputs is " + Twine(count) + " of " +
                      Twine(node.numInputs()) + " inputs");
  Iterations state;
  Values cut;
  for (unsigned i = 0; i < node.numInputs(); ++i)
    (i + count < node.numInputs() ? state.carried : cut)
        .push_back(node.input(i));
  auto rankOfInput = [&](size_t i) { return OnnxNode::rankOf(cut[i]); };
  FailureOr<SmallVector<ScanAxis>> axes =
      scanAxes(node, count, "input", rankOfInput);
  if (failed(axes))
    return failure();
  FailureOr<int64_t> length = scanLength(node, cut, *axes);
  if (failed(length))
    return failure();
  for (int64_t at = 0; at < *length; ++at) {
    Values inputs = state.carried;
    for (auto [value, along] : llvm::zip_equal(cut, *axes))
      inputs.push_back(takeRow(node, value, along, at));
    FailureOr<Values> outputs =
        node.importGraph("body", inputs, Twine(at) + "/");
    if (failed(outputs) || failed(state.add(node, *outputs)))
      return failure();
  }
  auto rankOfOutput = [&](size_t i) {
    return OnnxNode::rankOf(state.scanned[i].front()) + 1;
  };
  FailureOr<SmallVector<ScanAxis>> outputAxes =
      scanAxes(node, state.scanned.size(), "output", rankOfOutput);
  if (failed(outputAxes))
    return failure();
  Values outputs = state.carried;
  for (auto [rows, along] : llvm::zip_equal(state.scanned, *outputAxes)) {
    if (along.backward)
      std::reverse(rows.begin(), rows.end());
    FailureOr<Value> stacked = stack(node, rows, along.axis);
    if (failed(stacked))
      return failure();
    outputs.push_back(*stacked);
  }
  return finishAll(node, outputs);
}

/// Version 8 had a batch dimension in front and lengths of sequences.
LogicalResult scanOfBatches(OnnxNode &node) {
  return node.error("Scan with a batch dimension (version 8) is not supported; "
                    "convert the model to opset 9 or later");
}

constexpr StringLiteral kIf = "then_branch:graph! else_branch:graph!";

const OnnxOp kOps[] = {
    {"If", "1 11 13 16 19 21 23 24 25", 1, 1, kIf, ifOp},
    {"Loop", "1", 3, kVariadic, "body:graph!", loop, 2, true},
    {"Loop", "11 13 16 19 21 23 24 25", 2, kVariadic, "body:graph!", loop, 2,
     true},
    {"Scan", "8", 2, kVariadic,
     "body:graph! directions:ints num_scan_inputs:int!", scanOfBatches, 1},
    {"Scan", "9 11 16 19 21 23 24 25", 1, kVariadic,
     "body:graph! num_scan_inputs:int! scan_input_axes:ints "
     "scan_input_directions:ints scan_output_axes:ints "
     "scan_output_directions:ints",
     scan},
};
} // namespace

ArrayRef<OnnxOp> controlOps() { return kOps; }

} // namespace autopar
