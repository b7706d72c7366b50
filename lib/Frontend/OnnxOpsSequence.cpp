//===- OnnxOpsSequence.cpp - ONNX joins, splits, sequences of tensors -----===//
//
// The number of tensors of a sequence is known while compiling, so operators on
// sequences leave no ops behind.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

using Values = SmallVector<Value>;

//===----------------------------------------------------------------------===//
// Joins and splits
//===----------------------------------------------------------------------===//

/// `what` names one of the values in messages.
LogicalResult join(OnnxNode &node, ArrayRef<Value> values, int64_t axis,
                   StringRef what) {
  RankedTensorType first = OnnxNode::typeOf(values.front());
  Values parts;
  for (auto [i, value] : llvm::enumerate(values)) {
    RankedTensorType type = OnnxNode::typeOf(value);
    if (type.getRank() != first.getRank() ||
        type.getElementType() != first.getElementType())
      return node.error("its " + what + "s 0 and " + Twine(i) +
                        " differ in rank or element type");
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (d != axis && type.getDimSize(d) != first.getDimSize(d))
        return node.error("its " + what + "s 0 and " + Twine(i) +
                          " differ in dimension " + Twine(d));
    if (type.getDimSize(axis) != 0)
      parts.push_back(value);
  }
  return node.finish(parts.empty() ? values.front() : node.concat(parts, axis));
}

LogicalResult concat(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 1), node.rank(0));
  if (failed(axis))
    return failure();
  Values values;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error("its input " + Twine(i) + " is missing");
    values.push_back(node.input(i));
  }
  return join(node, values, *axis, "input");
}

/// Input 0 in parts of these sizes along an axis.
FailureOr<Values> cut(OnnxNode &node, int64_t axis, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> starts(node.rank(0), 0), shape(node.shape(0));
  int64_t whole = shape[axis];
  Values parts;
  for (int64_t size : sizes) {
    if (size < 0 || size > whole - starts[axis])
      return node.error("its sizes are negative or do not add up to " +
                        Twine(whole));
    shape[axis] = size;
    parts.push_back(node.slice(node.input(0), starts, shape));
    starts[axis] += size;
  }
  if (starts[axis] != whole)
    return node.error("its sizes do not add up to " + Twine(whole));
  return parts;
}

FailureOr<SmallVector<int64_t>> splitSizes(OnnxNode &node, int64_t size) {
  if (node.has(1))
    return node.ints(1);
  if (node.hasAttribute("split"))
    return node.getInts("split");
  int64_t count = node.numOutputs();
  if (node.getInt("num_outputs", count) != count)
    return node.error("num_outputs is " + Twine(node.getInt("num_outputs", 0)) +
                      ", but it has " + Twine(count) + " outputs");
  int64_t block = (size + count - 1) / count;
  if (node.version < 18 && size % count)
    return node.error("size " + Twine(size) + " does not split evenly into " +
                      Twine(count));
  SmallVector<int64_t> sizes;
  for (int64_t left = size; int64_t(sizes.size()) < count; left -= block)
    sizes.push_back(std::clamp<int64_t>(left, 0, block));
  return sizes;
}

LogicalResult split(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis))
    return failure();
  FailureOr<SmallVector<int64_t>> sizes =
      splitSizes(node, node.shape(0)[*axis]);
  if (failed(sizes))
    return failure();
  if (sizes->size() != node.numOutputs())
    return node.error("it names " + Twine(sizes->size()) + " sizes for " +
                      Twine(node.numOutputs()) + " outputs");
  FailureOr<Values> parts = cut(node, *axis, *sizes);
  if (failed(parts))
    return failure();
  for (auto [i, part] : llvm::enumerate(*parts))
    node.setOutput(i, part);
  return success();
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

LogicalResult requireSequence(OnnxNode &node, unsigned i) {
  if (OnnxNode::isSequence(node.input(i)))
    return success();
  return node.error("its input " + Twine(i) + " must be a sequence of tensors");
}

LogicalResult requireTensor(OnnxNode &node, unsigned i) {
  if (!OnnxNode::isSequence(node.input(i)))
    return success();
  return node.error("its input " + Twine(i) + " must be a tensor");
}

LogicalResult finish(OnnxNode &node, ArrayRef<Value> tensors) {
  FailureOr<Value> sequence = node.sequence(tensors);
  return failed(sequence) ? failure() : node.finish(*sequence);
}

/// The position that input i is, counted from the front, before `end`.
FailureOr<int64_t> position(OnnxNode &node, unsigned i, int64_t count,
                            int64_t end) {
  if (failed(requireTensor(node, i)))
    return failure();
  FailureOr<int64_t> at = node.scalarInt(i);
  if (failed(at))
    return failure();
  if (*at < -count || *at >= end)
    return node.error("position " + Twine(*at) + " is outside of a sequence " +
                      "of " + Twine(count));
  return *at < 0 ? *at + count : *at;
}

LogicalResult sequenceConstruct(OnnxNode &node) {
  Values tensors;
  for (unsigned i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.error("its input " + Twine(i) + " is missing");
    if (failed(requireTensor(node, i)))
      return failure();
    tensors.push_back(node.input(i));
  }
  return finish(node, tensors);
}

LogicalResult sequenceEmpty(OnnxNode &node) { return finish(node, {}); }

LogicalResult sequenceLength(OnnxNode &node) {
  if (failed(requireSequence(node, 0)))
    return failure();
  int64_t count = OnnxNode::tensorsOf(node.input(0)).size();
  return node.finish(node.scalarInts({count}, {}));
}

LogicalResult sequenceAt(OnnxNode &node) {
  if (failed(requireSequence(node, 0)))
    return failure();
  Values tensors = OnnxNode::tensorsOf(node.input(0));
  FailureOr<int64_t> at = position(node, 1, tensors.size(), tensors.size());
  if (failed(at))
    return failure();
  return node.finish(tensors[*at]);
}

LogicalResult sequenceInsert(OnnxNode &node) {
  if (failed(requireSequence(node, 0)) || failed(requireTensor(node, 1)))
    return failure();
  Values tensors = OnnxNode::tensorsOf(node.input(0));
  int64_t count = tensors.size();
  FailureOr<int64_t> at = node.has(2) ? position(node, 2, count, count + 1)
                                      : FailureOr<int64_t>(count);
  if (failed(at))
    return failure();
  tensors.insert(tensors.begin() + *at, node.input(1));
  return finish(node, tensors);
}

LogicalResult sequenceErase(OnnxNode &node) {
  if (failed(requireSequence(node, 0)))
    return failure();
  Values tensors = OnnxNode::tensorsOf(node.input(0));
  int64_t count = tensors.size();
  FailureOr<int64_t> at = node.has(1) ? position(node, 1, count, count)
                                      : FailureOr<int64_t>(count - 1);
  if (failed(at))
    return failure();
  if (*at < 0)
    return node.error("its sequence is empty");
  tensors.erase(tensors.begin() + *at);
  return finish(node, tensors);
}

/// The sizes of the parts: one size for all parts but the last, or a size for
/// each.
FailureOr<SmallVector<int64_t>> sequenceSizes(OnnxNode &node, int64_t size) {
  if (node.has(1) && node.rank(1) > 0)
    return node.ints(1);
  FailureOr<int64_t> block =
      node.has(1) ? node.scalarInt(1) : FailureOr<int64_t>(1);
  if (failed(block))
    return failure();
  if (*block < 1)
    return node.error("its parts have " + Twine(*block) + " elements");
  if (failed(node.unroll(llvm::divideCeil(size, *block))))
    return failure();
  SmallVector<int64_t> sizes;
  for (int64_t left = size; left > 0; left -= sizes.back())
    sizes.push_back(std::min(left, *block));
  return sizes;
}

LogicalResult splitToSequence(OnnxNode &node) {
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis))
    return failure();
  FailureOr<SmallVector<int64_t>> sizes =
      sequenceSizes(node, node.shape(0)[*axis]);
  if (failed(sizes))
    return failure();
  FailureOr<Values> parts = cut(node, *axis, *sizes);
  if (failed(parts))
    return failure();
  if (!node.has(1) && !node.getInt("keepdims", 1))
    for (Value &part : *parts)
      part = node.dropDim(part, *axis);
  return finish(node, *parts);
}

LogicalResult concatFromSequence(OnnxNode &node) {
  if (failed(requireSequence(node, 0)))
    return failure();
  Values tensors = OnnxNode::tensorsOf(node.input(0));
  if (tensors.empty())
    return node.error("its sequence is empty");
  bool isNew = node.getInt("new_axis", 0);
  FailureOr<int64_t> axis =
      node.normalizeAxis(node.getInt("axis", 0),
                         OnnxNode::rankOf(tensors.front()) + int64_t(isNew));
  if (failed(axis))
    return failure();
  if (isNew)
    for (Value &tensor : tensors) {
      if (OnnxNode::rankOf(tensor) < *axis)
        return node.error("its tensors differ in rank");
      tensor = node.insertDim(tensor, *axis);
    }
  return join(node, tensors, *axis, "tensor");
}

/// The body of each step, whose inputs are that step's tensors and those that
/// are no sequence.
LogicalResult sequenceMap(OnnxNode &node) {
  if (failed(requireSequence(node, 0)))
    return failure();
  size_t count = OnnxNode::tensorsOf(node.input(0)).size();
  SmallVector<Values> outputs(node.numOutputs());
  for (size_t step = 0; step < count; ++step) {
    Values inputs;
    for (unsigned i = 0; i < node.numInputs(); ++i) {
      if (!node.has(i))
        return node.error("its input " + Twine(i) + " is missing");
      Value input = node.input(i);
      if (!OnnxNode::isSequence(input)) {
        inputs.push_back(input);
        continue;
      }
      Values tensors = OnnxNode::tensorsOf(input);
      if (tensors.size() != count)
        return node.error("its sequences have different lengths");
      inputs.push_back(tensors[step]);
    }
    FailureOr<Values> made =
        node.importGraph("body", inputs, Twine(step) + "/");
    if (failed(made))
      return failure();
    if (made->size() < outputs.size() ||
        llvm::any_of(*made, OnnxNode::isSequence))
      return node.error("its body must give one tensor for each output");
    for (auto [i, list] : llvm::enumerate(outputs))
      list.push_back((*made)[i]);
  }
  for (auto [i, list] : llvm::enumerate(outputs)) {
    FailureOr<Value> sequence = node.sequence(list);
    if (failed(sequence))
      return failure();
    node.setOutput(i, *sequence);
  }
  return success();
}

constexpr StringLiteral kOldSplit = "axis:int split:ints";
constexpr bool kSequences = true;

const OnnxOp kOps[] = {
    {"Concat", "4 11 13", 1, kVariadic, "axis:int!", concat},
    {"Split", "2 11", 1, 1, kOldSplit, split},
    {"Split", "13", 1, 2, "axis:int", split},
    {"Split", "18", 1, 2, "axis:int num_outputs:int", split},
    {"SplitToSequence", "11 24", 1, 2, "axis:int keepdims:int",
     splitToSequence},
    {"ConcatFromSequence", "11", 1, 1, "axis:int! new_axis:int",
     concatFromSequence, 0, kSequences},
    {"SequenceConstruct", "11", 1, kVariadic, "", sequenceConstruct, 0,
     kSequences},
    {"SequenceEmpty", "11", 0, 0, "dtype:int", sequenceEmpty},
    {"SequenceLength", "11", 1, 1, "", sequenceLength, 0, kSequences},
    {"SequenceAt", "11", 2, 2, "", sequenceAt, 0, kSequences},
    {"SequenceInsert", "11", 2, 3, "", sequenceInsert, 0, kSequences},
    {"SequenceErase", "11", 1, 2, "", sequenceErase, 0, kSequences},
    {"SequenceMap", "17", 1, kVariadic, "body:graph!", sequenceMap, 0,
     kSequences},
};
} // namespace

ArrayRef<OnnxOp> sequenceOps() { return kOps; }

} // namespace autopar
