//===- OnnxSubgraphs.cpp - Bodies of subgraphs and functions --------------===//
//
// Subgraphs and functions are imported in place: their nodes become ops of
// @step, once per iteration or call.
//
//===----------------------------------------------------------------------===//

#include "OnnxImporter.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

/// Calls within calls within ... calls.
static constexpr size_t kCallDepth = 100;

//===----------------------------------------------------------------------===//
// Bodies and scopes
//===----------------------------------------------------------------------===//

int64_t standardOpset(const OpsetImports &imports) {
  int64_t opset = 0;
  for (const onnx::OperatorSetIdProto &import : imports)
    if (isStandardDomain(import.domain()))
      opset = std::max<int64_t>(opset, import.version());
  return opset;
}

OnnxBody::OnnxBody(const onnx::GraphProto &graph)
    : nodes(&graph.node()), tensors(&graph.initializer()) {
  for (const onnx::ValueInfoProto &input : graph.input())
    inputs.push_back(input.name());
  for (const onnx::ValueInfoProto &output : graph.output())
    outputs.push_back(output.name());
}

OnnxBody::OnnxBody(const onnx::FunctionProto &function)
    : nodes(&function.node()), tensors(nullptr),
      inputs(function.input().begin(), function.input().end()),
      outputs(function.output().begin(), function.output().end()) {}

/// Counts the names that nodes use, those within their subgraphs included.
static void countUses(const OnnxBody &body,
                      llvm::StringMap<unsigned> &useCounts) {
  for (const onnx::NodeProto &node : *body.nodes) {
    for (const std::string &name : node.input())
      ++useCounts[name];
    for (const onnx::AttributeProto &attribute : node.attribute())
      if (attribute.has_g())
        countUses(OnnxBody(attribute.g()), useCounts);
  }
  for (StringRef name : body.outputs)
    ++useCounts[name];
}

void OnnxScope::enter(const OnnxBody &body) {
  countUses(body, useCounts);
  if (body.tensors)
    for (const onnx::TensorProto &tensor : *body.tensors)
      initializers[tensor.name()] = &tensor;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Value OnnxImporter::lookup(StringRef name) {
  for (OnnxScope *at = scope; at; at = at->parent) {
    if (Value value = at->values.lookup(name))
      return value;
    auto tensor = at->initializers.find(name);
    if (tensor != at->initializers.end())
      return tensorValue(*tensor->second);
    if (at->poisoned.contains(name))
      return {};
  }
  return {};
}

bool OnnxImporter::isPoisoned(StringRef name) const {
  for (OnnxScope *at = scope; at; at = at->parent)
    if (at->poisoned.contains(name) || at->initializers.contains(name))
      return true;
  return false;
}

bool OnnxImporter::isAbsent(StringRef name) const {
  for (OnnxScope *at = scope; at; at = at->parent) {
    if (at->absent.contains(name))
      return true;
    if (at->values.contains(name) || at->initializers.contains(name) ||
        at->poisoned.contains(name))
      return false;
  }
  return false;
}

bool OnnxImporter::isOnlyUse(StringRef name, Value value) const {
  return scope->values.contains(name) && scope->useCounts.lookup(name) == 1 &&
         value.use_empty() && !aliased.contains(value);
}

const onnx::AttributeProto *
OnnxImporter::resolve(const onnx::AttributeProto &attribute) const {
  if (attribute.ref_attr_name().empty())
    return &attribute;
  return scope->attributes.lookup(attribute.ref_attr_name());
}

//===----------------------------------------------------------------------===//
// Import in place
//===----------------------------------------------------------------------===//

LogicalResult OnnxImporter::unroll(uint64_t nodes, Location loc) {
  bool told = unrolled > kUnrollLimit;
  unrolled += std::min(nodes, kUnrollLimit + 1);
  if (unrolled <= kUnrollLimit)
    return success();
  return told ? failure()
              : error(loc, "node '" + nodeName(loc) +
                               "': loops, recurrences and functions unroll to "
                               "more than " +
                               Twine(kUnrollLimit) +
                               " nodes; use a shorter sequence");
}

/// Imports the nodes of a body whose inputs `inner` holds.
FailureOr<SmallVector<Value>>
OnnxImporter::importBody(OnnxScope &inner, const OnnxBody &body, Location loc) {
  if (failed(unroll(1 + uint64_t(body.nodes->size()), loc)))
    return failure();
  inner.enter(body);
  llvm::SaveAndRestore inside(scope, &inner);
  unsigned errorsBefore = errors;
  for (auto [index, node] : llvm::enumerate(*body.nodes))
    importNode(node, index);
  here = loc;
  SmallVector<Value> outputs;
  for (StringRef name : body.outputs) {
    outputs.push_back(lookup(name));
    if (!outputs.back() && !isPoisoned(name))
      (void)error(loc, "node '" + nodeName(loc) + "': output '" + name +
                           "' of its body is not made by any node");
  }
  if (errors != errorsBefore || llvm::is_contained(outputs, Value()))
    return failure();
  return outputs;
}

FailureOr<SmallVector<Value>>
OnnxImporter::importGraph(const onnx::GraphProto &graph, ArrayRef<Value> inputs,
                          StringRef place, Location loc) {
  OnnxBody body(graph);
  if (body.inputs.size() != inputs.size())
    return error(loc, "node '" + nodeName(loc) + "': its body takes " +
                          Twine(body.inputs.size()) + " inputs, not " +
                          Twine(inputs.size()));
  OnnxScope inner;
  inner.parent = scope;
  inner.opset = scope->opset;
  inner.prefix = (nodeName(loc) + "/" + place).str();
  inner.attributes = scope->attributes;
  for (auto [name, value] : llvm::zip_equal(body.inputs, inputs))
    inner.values[name] = value;
  return importBody(inner, body, loc);
}

FailureOr<SmallVector<Value>> OnnxNode::importGraph(StringRef name,
                                                    ArrayRef<Value> inputs,
                                                    const Twine &place) {
  return importer.importGraph(attribute(name)->g(), inputs, place.str(), loc);
}

FailureOr<SmallVector<Value>> OnnxNode::tryBranch(StringRef name,
                                                  Value condition, bool taken,
                                                  const Twine &place,
                                                  std::string &problem) {
  return importer.tryBranch(attribute(name)->g(), condition, taken, place.str(),
                            loc, problem);
}

void OnnxNode::requireAtRun(Value condition, bool expected,
                            const Twine &message) {
  importer.requireAtRun(condition, expected, message, loc);
}

void OnnxNode::requireKnown(Value condition, bool expected,
                            const Twine &message) {
  if (importer.keepsAll)
    importer.requireAtRun(condition, expected, message, loc);
}

LogicalResult OnnxNode::unroll(uint64_t nodes) {
  return importer.unroll(nodes, loc);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// `a` and `b`; null is true.
static Value both(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return BinaryOp::create(builder, loc, a.getType(), BinaryKind::And, a, b);
}

/// The scalar condition, or that it does not hold.
Value OnnxImporter::holds(Value condition, bool expected, Location loc) {
  if (expected)
    return condition;
  auto type = cast<RankedTensorType>(condition.getType());
  Value yes = constant(DenseElementsAttr::get(type, true), loc);
  return BinaryOp::create(builder, loc, type, BinaryKind::Xor, condition, yes);
}

FailureOr<SmallVector<Value>>
OnnxImporter::tryBranch(const onnx::GraphProto &graph, Value condition,
                        bool taken, StringRef place, Location loc,
                        std::string &problem) {
  llvm::SaveAndRestore inside(
      runs, both(builder, loc, runs, holds(condition, taken, loc)));
  size_t checksBefore = checks.size();
  unsigned errorsBefore = errors;
  uint64_t unrolledBefore = unrolled;
  FailureOr<SmallVector<Value>> outputs = failure();
  {
    ScopedDiagnosticHandler listen(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
        return failure();
      if (problem.empty())
        problem = diagnostic.str();
      return success();
    });
    outputs = importGraph(graph, {}, place, loc);
  }
  if (succeeded(outputs))
    return outputs;
  errors = errorsBefore;
  unrolled = unrolledBefore;
  checks.truncate(checksBefore);
  violations.truncate(checksBefore);
  return failure();
}

static CheckAttr makeCheck(StringAttr output, const Twine &message,
                           ArrayRef<std::string> places = {}) {
  Builder builder(output.getContext());
  SmallVector<StringRef> texts(places.begin(), places.end());
  return CheckAttr::get(
      output.getContext(), output, builder.getStringAttr(message),
      places.empty() ? ArrayAttr() : builder.getStrArrayAttr(texts));
}

void OnnxImporter::requireAtRun(Value condition, bool expected,
                                const Twine &message, Location loc) {
  violations.push_back(
      both(builder, loc, runs, holds(condition, !expected, loc)));
  std::string name =
      (nodeName(loc) + "/violated/" + Twine(checks.size())).str();
  checks.push_back(makeCheck(builder.getStringAttr(name), message));
}

void addCheck(ModuleOp module, StringAttr output, const Twine &message,
              ArrayRef<std::string> places) {
  Builder builder(module.getContext());
  SmallVector<Attribute> checks;
  if (auto known = module->getAttrOfType<ArrayAttr>(AutoparDialect::kChecks))
    llvm::append_range(checks, known);
  checks.push_back(makeCheck(output, message, places));
  module->setAttr(AutoparDialect::kChecks, builder.getArrayAttr(checks));
}

//===----------------------------------------------------------------------===//
// Functions of the model
//===----------------------------------------------------------------------===//

static std::string functionKey(StringRef domain, StringRef name,
                               StringRef overload) {
  return (domain + "\n" + name + "\n" + overload).str();
}

LogicalResult OnnxImporter::collectFunctions() {
  for (const onnx::FunctionProto &function : contents.proto.functions())
    if (!functions
             .try_emplace(functionKey(function.domain(), function.name(),
                                      function.overload()),
                          &function)
             .second)
      return error(here, "the model has two functions '" + function.name() +
                             "' of domain '" + function.domain() + "'");
  return success();
}

const onnx::FunctionProto *
OnnxImporter::findFunction(const onnx::NodeProto &node) const {
  if (functions.empty())
    return nullptr;
  return functions.lookup(
      functionKey(node.domain(), node.op_type(), node.overload()));
}

/// Binds the attributes of a function: those of the call, or else the
/// function's defaults.
void OnnxImporter::bindAttributes(const onnx::FunctionProto &function,
                                  const OnnxNode &view, OnnxScope &inner) {
  for (const onnx::AttributeProto &byDefault : function.attribute_proto())
    inner.attributes[byDefault.name()] = &byDefault;
  for (const onnx::AttributeProto &given : view.proto.attribute())
    if (const onnx::AttributeProto *value = resolve(given))
      inner.attributes[given.name()] = value;
}

LogicalResult OnnxImporter::importCall(const onnx::FunctionProto &function,
                                       OnnxNode &view) {
  if (llvm::is_contained(calls, &function))
    return view.error("function '" + function.name() + "' calls itself");
  if (calls.size() >= kCallDepth)
    return view.error("functions call each other more than " +
                      Twine(kCallDepth) + " deep");
  OnnxScope inner;
  inner.opset = standardOpset(function.opset_import());
  if (inner.opset == 0)
    inner.opset = scope->opset;
  inner.prefix = (nodeName(view.loc) + "/").str();
  bindAttributes(function, view, inner);
  OnnxBody body(function);
  if (view.inputs.size() > body.inputs.size() ||
      view.outputs.size() > body.outputs.size())
    return view.error("function '" + function.name() + "' has " +
                      Twine(body.inputs.size()) + " inputs and " +
                      Twine(body.outputs.size()) + " outputs");
  for (auto [i, name] : llvm::enumerate(body.inputs)) {
    if (view.has(i))
      inner.values[name] = view.inputs[i];
    else
      inner.absent.insert(name);
  }
  body.outputs.resize(view.outputs.size());
  calls.push_back(&function);
  FailureOr<SmallVector<Value>> outputs = importBody(inner, body, view.loc);
  calls.pop_back();
  if (failed(outputs))
    return failure();
  view.outputs = *outputs;
  return success();
}

} // namespace autopar
