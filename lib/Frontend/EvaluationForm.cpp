//===- EvaluationForm.cpp - An export for training, for inference ---------===//

#include "EvaluationForm.h"
#include "OnnxMessage.h"
#include "OnnxScope.h"

using namespace llvm;

namespace autopar {

/// The mask of Dropout has the type of its input before this version.
static constexpr int64_t kBooleanMasks = 10;
/// BatchNormalization has `is_test` before this version.
static constexpr int64_t kWithoutIsTest = 7;

namespace {

/// Nodes while they are converted: of the model's graph, a graph in it, or a
/// function.
struct Body {
  OnnxNodes *nodes = nullptr;
  int64_t opset = 0;
  StringSet<> outputs;
  /// A value that is gone has here the one that is read in its place.
  StringMap<std::string> renamed;
};

class Converter {
public:
  explicit Converter(onnx::ModelProto &model);
  EvaluationChanges run();

private:
  bool isStandard(const onnx::NodeProto &node, StringRef op) const;
  void convertGraph(onnx::GraphProto &graph, const Body *around, int64_t opset);
  void convertFunction(onnx::FunctionProto &function);
  void convertNodes(Body &body);
  void convertNode(onnx::NodeProto &node, Body &body);
  void convertNorm(onnx::NodeProto &node, Body &body);
  void convertDropout(onnx::NodeProto &node, Body &body);
  void addMask(const onnx::NodeProto &dropout, Body &body);
  void replace(const std::string &value, const std::string &by, Body &body);
  void collectReads();
  void dropUnread();

  onnx::ModelProto &model;
  EvaluationChanges changes;
  /// Operators that are functions of the model.
  StringSet<> functions;
  /// Names that any node reads or any graph returns.
  StringSet<> reads;
  /// Ratios and modes of Dropout nodes that are out.
  StringSet<> modes;
};

} // namespace

Converter::Converter(onnx::ModelProto &model) : model(model) {
  for (const onnx::FunctionProto &function : model.functions())
    if (isStandardDomain(function.domain()))
      functions.insert(function.name());
}

bool Converter::isStandard(const onnx::NodeProto &node, StringRef op) const {
  return node.op_type() == op && isStandardDomain(node.domain()) &&
         !functions.contains(op);
}

void Converter::collectReads() {
  reads.clear();
  visitBodies(model, [&](OnnxNodes &nodes, onnx::GraphProto *graph) {
    for (const onnx::NodeProto &node : nodes)
      for (const std::string &name : node.input())
        reads.insert(name);
    if (graph)
      for (const onnx::ValueInfoProto &output : graph->output())
        reads.insert(output.name());
  });
  for (const onnx::FunctionProto &function : model.functions())
    for (const std::string &name : function.output())
      reads.insert(name);
}

EvaluationChanges Converter::run() {
  collectReads();
  convertGraph(*model.mutable_graph(), nullptr,
               standardOpset(model.opset_import()));
  for (onnx::FunctionProto &function : *model.mutable_functions())
    convertFunction(function);
  collectReads();
  dropUnread();
  return changes;
}

/// Removes messages; the others stay where they are in memory. Returns how many
/// are removed.
template <typename List, typename IsGone>
static unsigned removeIf(List &list, IsGone isGone) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i)
    if (!isGone(list.Get(i)))
      list.SwapElements(kept++, i);
  int removed = list.size() - kept;
  list.DeleteSubrange(kept, removed);
  return unsigned(removed);
}

static onnx::NodeProto &addNode(Body &body, StringRef op,
                                const std::string &from,
                                const std::string &to) {
  onnx::NodeProto &node = *body.nodes->Add();
  node.set_op_type(op.str());
  node.add_input(from);
  node.add_output(to);
  return node;
}

//===----------------------------------------------------------------------===//
// Graphs and functions
//===----------------------------------------------------------------------===//

/// Values of a graph hide those around it that have their names.
static void hideNames(const onnx::GraphProto &graph,
                      StringMap<std::string> &renamed) {
  for (const onnx::ValueInfoProto &input : graph.input())
    renamed.erase(input.name());
  for (const onnx::TensorProto &tensor : graph.initializer())
    renamed.erase(tensor.name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      renamed.erase(output);
}

void Converter::convertGraph(onnx::GraphProto &graph, const Body *around,
                             int64_t opset) {
  Body body;
  body.nodes = graph.mutable_node();
  body.opset = opset;
  if (around)
    body.renamed = around->renamed;
  hideNames(graph, body.renamed);
  for (const onnx::ValueInfoProto &output : graph.output()) {
    body.outputs.insert(output.name());
    // A value from around that is gone and that the graph returns as it is.
    if (auto found = body.renamed.find(output.name());
        found != body.renamed.end()) {
      addNode(body, "Identity", found->second, output.name());
      body.renamed.erase(found);
    }
  }
  convertNodes(body);
  removeIf(*graph.mutable_value_info(), [&](const onnx::ValueInfoProto &info) {
    return body.renamed.contains(info.name());
  });
}

void Converter::convertFunction(onnx::FunctionProto &function) {
  Body body;
  body.nodes = function.mutable_node();
  body.opset = standardOpset(function.opset_import());
  if (body.opset == 0)
    body.opset = standardOpset(model.opset_import());
  for (const std::string &output : function.output())
    body.outputs.insert(output);
  convertNodes(body);
}

void Converter::convertNodes(Body &body) {
  OnnxNodes old;
  old.Swap(body.nodes);
  for (onnx::NodeProto &node : old)
    convertNode(node, body);
}

void Converter::convertNode(onnx::NodeProto &node, Body &body) {
  for (std::string &input : *node.mutable_input())
    if (auto found = body.renamed.find(input); found != body.renamed.end())
      input = found->second;
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g())
      convertGraph(*attribute.mutable_g(), &body, body.opset);
    for (onnx::GraphProto &graph : *attribute.mutable_graphs())
      convertGraph(graph, &body, body.opset);
  }
  if (isStandard(node, "Dropout") && node.input_size() && node.output_size())
    return convertDropout(node, body);
  if (isStandard(node, "BatchNormalization") && node.input_size() == 5)
    return convertNorm(node, body);
  body.nodes->Add(std::move(node));
}

/// `value` is gone: `by` is read in its place, or returned under its name.
void Converter::replace(const std::string &value, const std::string &by,
                        Body &body) {
  if (value.empty())
    return;
  if (body.outputs.contains(value))
    addNode(body, "Identity", by, value);
  else
    body.renamed[value] = by;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static void setInt(onnx::AttributeProto &attribute, int64_t value) {
  attribute.clear_ref_attr_name();
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

static onnx::AttributeProto *findAttribute(onnx::NodeProto &node,
                                           StringRef name) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

static void setIsTest(onnx::NodeProto &node, int64_t opset) {
  if (opset >= kWithoutIsTest)
    return;
  onnx::AttributeProto *attribute = findAttribute(node, "is_test");
  if (!attribute) {
    attribute = node.add_attribute();
    attribute->set_name("is_test");
  }
  setInt(*attribute, 1);
}

void Converter::convertNorm(onnx::NodeProto &node, Body &body) {
  bool trains = node.output_size() > 1;
  if (onnx::AttributeProto *mode = findAttribute(node, "training_mode")) {
    trains |= mode->i() != 0 || mode->has_ref_attr_name();
    setInt(*mode, 0);
  }
  changes.norms += trains;
  setIsTest(node, body.opset);
  onnx::NodeProto &norm = *body.nodes->Add();
  norm.Swap(&node);
  std::vector<std::string> outputs(norm.output().begin(), norm.output().end());
  if (trains)
    norm.mutable_output()->DeleteSubrange(1, norm.output_size() - 1);
  std::vector<std::string> inputs(norm.input().begin(), norm.input().end());
  for (size_t i = 1; i < outputs.size(); ++i)
    replace(outputs[i], inputs[runningStatistic(int(i))], body);
}

void Converter::convertDropout(onnx::NodeProto &node, Body &body) {
  ++changes.dropouts;
  for (const std::string &mode : drop_begin(node.input()))
    modes.insert(mode);
  if (node.output_size() > 1 && reads.contains(node.output(1)))
    addMask(node, body);
  replace(node.output(0), node.input(0), body);
}

/// The mask of a Dropout that drops nothing: true everywhere, or 1 of the
/// input's type, which no number but a NaN can leave.
void Converter::addMask(const onnx::NodeProto &dropout, Body &body) {
  const std::string &x = dropout.input(0), &mask = dropout.output(1);
  if (body.opset < kBooleanMasks) {
    onnx::NodeProto &clip = addNode(body, "Clip", x, mask);
    for (const char *bound : {"min", "max"}) {
      onnx::AttributeProto &attribute = *clip.add_attribute();
      attribute.set_name(bound);
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(1);
    }
    return;
  }
  std::string shape = mask + "_shape";
  while (!reads.insert(shape).second)
    shape += "_";
  addNode(body, "Shape", x, shape);
  onnx::AttributeProto &value =
      *addNode(body, "ConstantOfShape", shape, mask).add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(onnx::TensorProto::BOOL);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->set_raw_data(std::string(1, 1));
}

/// Takes out the ratios and modes that nothing else reads.
void Converter::dropUnread() {
  auto isUnread = [&](const std::string &name) {
    return modes.contains(name) && !reads.contains(name);
  };
  auto drop = [&](auto &list, auto isGone) {
    changes.dropoutTensors += removeIf(list, isGone);
  };
  visitBodies(model, [&](OnnxNodes &nodes, onnx::GraphProto *graph) {
    drop(nodes, [&](const onnx::NodeProto &node) {
      return isStandard(node, "Constant") && node.output_size() == 1 &&
             isUnread(node.output(0));
    });
    if (!graph)
      return;
    for (const onnx::ValueInfoProto &input : graph->input())
      modes.erase(input.name());
    drop(*graph->mutable_initializer(), [&](const onnx::TensorProto &tensor) {
      return isUnread(tensor.name());
    });
  });
}

EvaluationChanges toEvaluationForm(onnx::ModelProto &model) {
  return Converter(model).run();
}

} // namespace autopar
