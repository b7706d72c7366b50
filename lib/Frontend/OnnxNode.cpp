//===- OnnxNode.cpp - What a builder sees of a node -----------------------===//

#include "OnnxNode.h"
#include "ElementTypes.h"
#include "OnnxImporter.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

OnnxNode::OnnxNode(OnnxImporter &importer, const onnx::NodeProto &proto,
                   const OnnxOp &op, int64_t version, Location loc)
    : version(version), loc(loc), builder(importer.builder), importer(importer),
      proto(proto), op(op) {
  outputs.resize(proto.output_size());
}

LogicalResult OnnxNode::error(const Twine &message) {
  return importer.error(loc, "node '" + nodeName(loc) + "' (" + op.name +
                                 ", version " + Twine(version) +
                                 "): " + message);
}

void OnnxNode::warnOnce(StringRef message) { importer.warnOnce(loc, message); }

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool OnnxNode::isOnlyUse(unsigned i) const {
  return importer.isOnlyUse(proto.input(i), inputs[i]);
}

std::string OnnxNode::howToBind(Value value) const {
  return importer.howToBind(value);
}

FailureOr<SmallVector<int64_t>> OnnxNode::ints(unsigned i) {
  interpreter::TensorRef tensor = importer.known.get(inputs[i]);
  if (!tensor)
    return error("its input " + Twine(i) + " ('" + proto.input(i) +
                 "') must be known while compiling: a constant, or computed "
                 "from shapes and constants whose bytes are there" +
                 howToBind(i));
  if (tensor->isFloat())
    return wrongElement(*this, i, "must be of an integer type");
  return SmallVector<int64_t>(tensor->ints.begin(), tensor->ints.end());
}

FailureOr<int64_t> OnnxNode::scalarInt(unsigned i) {
  FailureOr<SmallVector<int64_t>> values = ints(i);
  if (failed(values))
    return failure();
  if (values->size() != 1)
    return error("its input " + Twine(i) + " ('" + proto.input(i) +
                 "') must hold one number");
  return values->front();
}

std::optional<SmallVector<double>> OnnxNode::knownNumbersOf(Value value) {
  interpreter::TensorRef tensor = importer.known.get(value);
  if (!tensor)
    return std::nullopt;
  SmallVector<double> out;
  for (int64_t j = 0; j < tensor->size(); ++j)
    out.push_back(tensor->getDouble(j));
  return out;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const onnx::AttributeProto *OnnxNode::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return importer.resolve(attribute);
  return nullptr;
}

int64_t OnnxNode::getInt(StringRef name, int64_t byDefault) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? found->i() : byDefault;
}

double OnnxNode::getFloat(StringRef name, double byDefault) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? double(found->f()) : byDefault;
}

StringRef OnnxNode::getString(StringRef name, StringRef byDefault) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? StringRef(found->s()) : byDefault;
}

SmallVector<int64_t> OnnxNode::getInts(StringRef name) const {
  const onnx::AttributeProto *found = attribute(name);
  if (!found)
    return {};
  return {found->ints().begin(), found->ints().end()};
}

SmallVector<float> OnnxNode::getFloats(StringRef name) const {
  const onnx::AttributeProto *found = attribute(name);
  if (!found)
    return {};
  return {found->floats().begin(), found->floats().end()};
}

FailureOr<int64_t> OnnxNode::normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return error("axis " + Twine(axis) + " is outside of rank " + Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

FailureOr<SmallVector<int64_t>> OnnxNode::normalizeAxes(ArrayRef<int64_t> axes,
                                                        int64_t rank) {
  SmallVector<int64_t> out;
  for (int64_t axis : axes) {
    FailureOr<int64_t> normal = normalizeAxis(axis, rank);
    if (failed(normal))
      return failure();
    if (llvm::is_contained(out, *normal))
      return error("axis " + Twine(axis) + " is there twice");
    out.push_back(*normal);
  }
  llvm::sort(out);
  return out;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::string OnnxNode::typeText(Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << value.getType();
  return text;
}

FailureOr<Type> OnnxNode::elementType(int64_t onnxDataType) {
  if (Type type = importer.elementType(onnxDataType))
    return type;
  return error("element type " + onnxElementName(onnxDataType) + " (" +
               Twine(onnxDataType) + ") is not supported");
}

LogicalResult OnnxNode::requireFloat(unsigned i) {
  if (isa<FloatType>(elementOf(inputs[i])))
    return success();
  return wrongElement(*this, i, "must be of a floating-point type");
}

LogicalResult OnnxNode::requireRank(unsigned i, int64_t low, int64_t high) {
  if (rank(i) >= low && rank(i) <= high)
    return success();
  return error("its input " + Twine(i) + " has rank " + Twine(rank(i)) +
               "; it must be " + Twine(low) +
               (low == high ? Twine() : " to " + Twine(high)));
}

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return text + "]";
}

FailureOr<SmallVector<int64_t>>
OnnxNode::broadcastShape(ArrayRef<Value> values) {
  SmallVector<int64_t> out;
  for (Value value : values)
    if (rankOf(value) > int64_t(out.size()))
      out.insert(out.begin(), rankOf(value) - out.size(), 1);
  for (Value value : values) {
    ArrayRef<int64_t> shape = shapeOf(value);
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t &size = out[out.size() - shape.size() + i];
      if (size != shape[i] && size != 1 && shape[i] != 1) {
        std::string shapes;
        for (Value other : values)
          shapes += " " + printShape(shapeOf(other));
        return error("shapes do not fit together:" + shapes);
      }
      size = size == 1 ? shape[i] : size;
    }
  }
  return out;
}

} // namespace autopar
