//===- OnnxMessage.h - All graphs and tensors of a message ------*- C++ -*-===//

#ifndef AUTOPAR_LIB_FRONTEND_ONNXMESSAGE_H
#define AUTOPAR_LIB_FRONTEND_ONNXMESSAGE_H

#include "onnx-ml.pb.h"

namespace autopar {

using OnnxNodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

template <typename Visit> void visitGraphs(OnnxNodes &nodes, Visit visit);

/// visit(nodes, graph) of the graph and those in it. Recursion is as deep as
/// the message, which the parser limits.
template <typename Visit>
void visitGraph(onnx::GraphProto &graph, Visit visit) {
  visit(*graph.mutable_node(), &graph);
  visitGraphs<Visit &>(*graph.mutable_node(), visit);
}

/// Visits all graphs that nodes have as attributes.
template <typename Visit> void visitGraphs(OnnxNodes &nodes, Visit visit) {
  for (onnx::NodeProto &node : nodes)
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        visitGraph<Visit &>(*attribute.mutable_g(), visit);
      for (onnx::GraphProto &graph : *attribute.mutable_graphs())
        visitGraph<Visit &>(graph, visit);
    }
}

/// Visits all graphs of the model; for a function the graph is null.
template <typename Visit>
void visitBodies(onnx::ModelProto &model, Visit visit) {
  visitGraph<Visit &>(*model.mutable_graph(), visit);
  for (onnx::FunctionProto &function : *model.mutable_functions()) {
    visit(*function.mutable_node(), static_cast<onnx::GraphProto *>(nullptr));
    visitGraphs<Visit &>(*function.mutable_node(), visit);
  }
  for (onnx::TrainingInfoProto &info : *model.mutable_training_info()) {
    if (info.has_initialization())
      visitGraph<Visit &>(*info.mutable_initialization(), visit);
    if (info.has_algorithm())
      visitGraph<Visit &>(*info.mutable_algorithm(), visit);
  }
}

template <typename Visit>
void visitSparse(onnx::SparseTensorProto &tensor, Visit visit) {
  if (tensor.has_values())
    visit(*tensor.mutable_values());
  if (tensor.has_indices())
    visit(*tensor.mutable_indices());
}

/// visit(tensor) of those of an attribute itself.
template <typename Visit>
void visitTensors(onnx::AttributeProto &attribute, Visit visit) {
  if (attribute.has_t())
    visit(*attribute.mutable_t());
  if (attribute.has_sparse_tensor())
    visitSparse<Visit &>(*attribute.mutable_sparse_tensor(), visit);
  for (onnx::TensorProto &tensor : *attribute.mutable_tensors())
    visit(tensor);
  for (onnx::SparseTensorProto &tensor : *attribute.mutable_sparse_tensors())
    visitSparse<Visit &>(tensor, visit);
}

/// visit(tensor) of each tensor of the model, wherever it is.
template <typename Visit>
void visitTensors(onnx::ModelProto &model, Visit visit) {
  visitBodies(model, [&](OnnxNodes &nodes, onnx::GraphProto *graph) {
    for (onnx::NodeProto &node : nodes)
      for (onnx::AttributeProto &attribute : *node.mutable_attribute())
        visitTensors<Visit &>(attribute, visit);
    if (!graph)
      return;
    for (onnx::TensorProto &tensor : *graph->mutable_initializer())
      visit(tensor);
    for (onnx::SparseTensorProto &tensor : *graph->mutable_sparse_initializer())
      visitSparse<Visit &>(tensor, visit);
  });
  for (onnx::FunctionProto &function : *model.mutable_functions())
    for (onnx::AttributeProto &byDefault : *function.mutable_attribute_proto())
      visitTensors<Visit &>(byDefault, visit);
}

} // namespace autopar

#endif // AUTOPAR_LIB_FRONTEND_ONNXMESSAGE_H
