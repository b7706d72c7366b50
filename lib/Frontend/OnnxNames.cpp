//===- OnnxNames.cpp - Names that the file may not have -------------------===//

#include "OnnxNames.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace autopar {

namespace {

/// Looks at names until one is no UTF-8.
class NameCheck {
public:
  void look(StringRef name) {
    if (!found && !json::isUTF8(name))
      found = name;
  }
  void lookAll(const google::protobuf::RepeatedPtrField<std::string> &names) {
    for (const std::string &name : names)
      look(name);
  }
  void look(const onnx::TensorProto &tensor);
  void look(const onnx::NodeProto &node);
  void look(const onnx::GraphProto &graph);
  void look(const onnx::FunctionProto &function);

  std::optional<StringRef> found;
};

} // namespace

/// Checks the tensor's name, and the name of the file of its data.
void NameCheck::look(const onnx::TensorProto &tensor) {
  look(tensor.name());
  for (const onnx::StringStringEntryProto &entry : tensor.external_data())
    look(entry.value());
}

void NameCheck::look(const onnx::NodeProto &node) {
  look(node.name());
  look(node.op_type());
  look(node.domain());
  lookAll(node.input());
  lookAll(node.output());
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    look(attribute.name());
    if (attribute.has_t())
      look(attribute.t());
    if (attribute.has_g())
      look(attribute.g());
  }
}

void NameCheck::look(const onnx::GraphProto &graph) {
  for (const auto *ports : {&graph.input(), &graph.output()})
    for (const onnx::ValueInfoProto &port : *ports)
      look(port.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    look(tensor);
  for (const onnx::NodeProto &node : graph.node())
    look(node);
}

void NameCheck::look(const onnx::FunctionProto &function) {
  look(function.name());
  look(function.domain());
  lookAll(function.input());
  lookAll(function.output());
  for (const onnx::NodeProto &node : function.node())
    look(node);
}

std::optional<StringRef> nameBeyondUtf8(const OnnxModel::Contents &contents) {
  NameCheck check;
  check.look(contents.fileName);
  check.look(contents.proto.graph());
  for (const onnx::FunctionProto &function : contents.proto.functions())
    check.look(function);
  return check.found;
}

} // namespace autopar
