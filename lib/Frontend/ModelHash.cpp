//===- ModelHash.cpp - Which graph a model file holds ---------------------===//

#include "autopar/Frontend/ModelHash.h"
#include "OnnxContents.h"
#include "files/ContentHash.h"

using namespace llvm;

namespace autopar {

namespace {

/// Leaves out what computes nothing: texts, and shapes that were inferred.
/// Recursion is as deep as the message, which the parser limits.
template <typename Owner> void dropTexts(Owner &owner) {
  owner.clear_doc_string();
  owner.clear_metadata_props();
}

void dropTextsOfNodes(
    google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes);

void dropTextsOfGraph(onnx::GraphProto &graph) {
  dropTexts(graph);
  graph.clear_value_info();
  for (auto *values : {graph.mutable_input(), graph.mutable_output()})
    for (onnx::ValueInfoProto &value : *values)
      dropTexts(value);
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    dropTexts(tensor);
  dropTextsOfNodes(*graph.mutable_node());
}

void dropTextsOfNodes(
    google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes) {
  for (onnx::NodeProto &node : nodes) {
    dropTexts(node);
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      attribute.clear_doc_string();
      if (attribute.has_g())
        dropTextsOfGraph(*attribute.mutable_g());
      for (onnx::GraphProto &graph : *attribute.mutable_graphs())
        dropTextsOfGraph(graph);
    }
  }
}

bool isWeight(const onnx::TensorProto &tensor) {
  switch (tensor.data_type()) {
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::DOUBLE:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return tensor.dims_size() > 0;
  default:
    return false;
  }
}

/// Leaves out the elements of a tensor, wherever they are.
void dropElements(onnx::TensorProto &tensor) {
  tensor.clear_raw_data();
  tensor.clear_float_data();
  tensor.clear_double_data();
  tensor.clear_int32_data();
  tensor.clear_external_data();
  tensor.clear_data_location();
}

} // namespace

uint64_t graphHash(const OnnxModel &of) {
  onnx::ModelProto model = of.contents().proto;
  dropTexts(model);
  model.clear_producer_name();
  model.clear_producer_version();
  dropTextsOfGraph(*model.mutable_graph());
  for (onnx::TensorProto &tensor :
       *model.mutable_graph()->mutable_initializer())
    if (isWeight(tensor))
      dropElements(tensor);
  for (onnx::FunctionProto &function : *model.mutable_functions()) {
    dropTexts(function);
    function.clear_value_info();
    dropTextsOfNodes(*function.mutable_node());
  }
  std::string bytes = model.SerializeAsString();
  runtime::ContentHash hash;
  hash.add(bytes.data(), bytes.size());
  return hash.value();
}

} // namespace autopar
