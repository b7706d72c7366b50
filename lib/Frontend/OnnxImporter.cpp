//===- OnnxImporter.cpp - ONNX graph to the autopar dialect ---------------===//

#include "OnnxImporter.h"
#include "ElementTypes.h"
#include "LearnedScalars.h"
#include "OnnxNames.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "autopar/Support/MemoryFailure.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

/// After this many errors the rest is only counted.
static constexpr unsigned kErrorLimit = 100;

OnnxImporter::OnnxImporter(const OnnxModel &model, const ImportOptions &options,
                           MLIRContext *context, bool keepsAll)
    : known([this](Value parameter) {
        return readTensor(*parameters.lookup(parameter), parameter.getLoc());
      }),
      builder(context), keepsAll(keepsAll), model(model),
      contents(model.contents()), options(options), context(context),
      here(FileLineColLoc::get(context, contents.fileName, 0, 0)) {
  context->loadDialect<AutoparDialect, func::FuncDialect>();
}

Location OnnxImporter::nameLoc(StringRef name) {
  return NameLoc::get(builder.getStringAttr(name));
}

LogicalResult OnnxImporter::error(Location loc, const Twine &message) {
  if (errors++ < kErrorLimit)
    emitError(loc) << message;
  return failure();
}

void OnnxImporter::warnOnce(Location loc, StringRef message) {
  if (warnings.insert(message).second)
    emitWarning(loc) << "node '" << nodeName(loc) << "': " << message;
}

//===----------------------------------------------------------------------===//
// The model as a whole
//===----------------------------------------------------------------------===//

LogicalResult OnnxImporter::checkModel() {
  if (std::optional<StringRef> name = nameBeyondUtf8(contents))
    return error(here, "the name '" + llvm::json::fixUTF8(*name) +
                           "' is no UTF-8, which names of ONNX are; rename it");
  int64_t opset = standardOpset(contents.proto.opset_import());
  graphScope.opset = opset;
  if (opset == 0)
    return error(here, "the model imports no version of the standard operators "
                       "(opset_import of domain '')");
  if (opset < kOldestOpset || opset > kNewestOpset)
    return error(here, "the model uses opset " + Twine(opset) +
                           "; supported are " + Twine(kOldestOpset) + " to " +
                           Twine(kNewestOpset) +
                           " (onnx.version_converter converts it)");
  if (contents.proto.graph().sparse_initializer_size())
    return error(here, "the model has sparse initializers, which are not "
                       "supported");
  for (const auto &[name, what] : contents.faults)
    (void)error(nameLoc(name), "tensor '" + name + "': " + what);
  return collectFunctions();
}

Type OnnxImporter::elementType(int64_t onnxDataType) {
  return onnxElementType(onnxDataType, context);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

/// Stands for the operator where a node calls a function of the model.
static const OnnxOp kFunctionCall{
    "call of a function", "", 0, kVariadic, "", nullptr, 0, true};

void OnnxImporter::poisonOutputs(const onnx::NodeProto &node) {
  for (const std::string &name : node.output())
    if (!name.empty() && !scope->values.contains(name))
      scope->poisoned.insert(name);
}

static std::string nodeLabel(const onnx::NodeProto &node, unsigned index) {
  if (!node.name().empty())
    return node.name();
  return node.op_type() + "_" + std::to_string(index);
}

const OnnxOp *OnnxImporter::findOp(const onnx::NodeProto &node,
                                   int64_t &version) const {
  if (node.domain() != kPreviewDomain)
    return findOnnxOp(node.op_type(), scope->opset, version);
  int64_t opset = 1; // of the domain
  for (const onnx::OperatorSetIdProto &import : contents.proto.opset_import())
    if (import.domain() == kPreviewDomain)
      opset = import.version();
  return findOnnxOp((kPreviewDomain + "." + node.op_type()).str(), opset,
                    version);
}

void OnnxImporter::importNode(const onnx::NodeProto &node, unsigned index) {
  std::string label = scope->prefix + nodeLabel(node, index);
  Location loc = nameLoc(label);
  here = loc;
  setActivity("importing node '" + label + "' (" + node.op_type() + ")");
  hasDropout |= node.op_type() == "Dropout";
  auto reject = [&](const Twine &message) {
    (void)error(loc, "node '" + label + "' (" + node.op_type() + ", opset " +
                         Twine(scope->opset) + "): " + message);
    poisonOutputs(node);
  };
  const onnx::FunctionProto *function = findFunction(node);
  bool isPreview = node.domain() == kPreviewDomain;
  if (!function && !isPreview && !isStandardDomain(node.domain()))
    return reject("operator domain '" + node.domain() + "' is not supported" +
                  whyUnsupportedDomain(node.domain()));
  int64_t version = scope->opset;
  const OnnxOp *op = function ? &kFunctionCall : findOp(node, version);
  if (!op && version)
    return reject("the operator exists from opset " + Twine(version) +
                  " on only");
  if (!op) {
    StringRef why = whyUnsupported(node.op_type());
    return reject("the operator is not supported" +
                  (why.empty() ? Twine() : ": " + why));
  }

  OnnxNode view(*this, node, *op, version, loc);
  bool poison = false;
  LogicalResult checked = checkNode(node, *op, view);
  if (failed(resolveInputs(node, view, poison)) || failed(checked) || poison)
    return poisonOutputs(node);

  std::string number = valueNumber(node, view);
  auto known = numbered.find(number);
  if (known != numbered.end()) {
    reuseOutputs(view, known->second);
    return bindOutputs(node, view);
  }
  builder.setInsertionPointToEnd(body);
  Operation *before = body->empty() ? nullptr : &body->back();
  if (failed(function ? importCall(*function, view) : op->build(view)))
    return poisonOutputs(node);
  if (options.checksNumerics && !number.empty())
    markFunctions(view, before);
  if (!number.empty())
    numbered[number] = view.outputs;
  bindOutputs(node, view);
}

void OnnxImporter::reuseOutputs(OnnxNode &view, ArrayRef<Value> known) {
  view.outputs.assign(known.begin(), known.end());
  aliased.insert(known.begin(), known.end());
}

LogicalResult OnnxImporter::checkNode(const onnx::NodeProto &node,
                                      const OnnxOp &op, OnnxNode &view) {
  int count = node.input_size();
  while (count > 0 && node.input(count - 1).empty())
    --count;
  // All inputs that may be left out may be left out at the end.
  int least = op.firstRequired < op.minInputs ? op.minInputs : 0;
  if (count < least || (op.maxInputs != kVariadic && count > int(op.maxInputs)))
    return view.error(
        "it has " + Twine(count) + " inputs; it takes " +
        (op.maxInputs == kVariadic
             ? Twine(op.minInputs) + " or more"
             : Twine(op.minInputs) + " to " + Twine(op.maxInputs)));
  if (node.output_size() == 0)
    return view.error("it has no outputs");
  return &op == &kFunctionCall ? success() : checkAttributes(op, view);
}

static StringRef attributeTypeName(onnx::AttributeProto_AttributeType type) {
  switch (type) {
  case onnx::AttributeProto::INT:
    return "int";
  case onnx::AttributeProto::FLOAT:
    return "float";
  case onnx::AttributeProto::STRING:
    return "string";
  case onnx::AttributeProto::TENSOR:
    return "tensor";
  case onnx::AttributeProto::INTS:
    return "ints";
  case onnx::AttributeProto::FLOATS:
    return "floats";
  case onnx::AttributeProto::STRINGS:
    return "strings";
  case onnx::AttributeProto::GRAPH:
    return "graph";
  default:
    return "of an unsupported type";
  }
}

LogicalResult OnnxImporter::checkAttributes(const OnnxOp &op, OnnxNode &view) {
  llvm::StringMap<StringRef> known;
  SmallVector<StringRef> required;
  for (StringRef entry : llvm::split(op.attributes, ' ')) {
    auto [name, type] = entry.split(':');
    if (type.consume_back("!"))
      required.push_back(name);
    if (!name.empty())
      known[name] = type;
  }
  llvm::StringSet<> seen;
  for (const onnx::AttributeProto &attribute : view.proto.attribute()) {
    StringRef name = attribute.name();
    if (!known.contains(name))
      return view.error("unknown attribute '" + name + "'" +
                        (op.attributes.empty()
                             ? Twine(": the operator has none")
                             : " (known: " + Twine(op.attributes) + ")"));
    if (!seen.insert(name).second)
      return view.error("attribute '" + name + "' is there twice");
    const onnx::AttributeProto *given = resolve(attribute);
    if (!given) {
      seen.erase(name);
      continue;
    }
    StringRef type = attributeTypeName(given->type());
    if (type != known[name])
      return view.error("attribute '" + name + "' is " + type +
                        "; it must be " + known[name]);
  }
  for (StringRef name : required)
    if (!seen.contains(name))
      return view.error("attribute '" + name + "' is missing");
  return success();
}

LogicalResult OnnxImporter::resolveInputs(const onnx::NodeProto &node,
                                          OnnxNode &view, bool &poison) {
  for (const std::string &name : node.input()) {
    bool absent = name.empty() || isAbsent(name);
    view.inputs.push_back(absent ? Value() : lookup(name));
    Value input = view.inputs.back();
    if (input && OnnxNode::isSequence(input) && !view.op.takesSequences)
      return view.error("its input '" + name +
                        "' is a sequence of tensors; SequenceAt or "
                        "ConcatFromSequence makes a tensor of it");
    if (absent || input)
      continue;
    poison = true;
    if (!isPoisoned(name))
      return view.error("its input '" + name +
                        "' is not made by any node before it");
  }
  while (!view.inputs.empty() && !view.inputs.back())
    view.inputs.pop_back();
  for (unsigned i = view.op.firstRequired; i < view.op.minInputs; ++i)
    if (!poison && !view.has(i))
      return view.error("its input " + Twine(i) + " is missing");
  return success();
}

/// A key that two nodes share if they compute the same; "" for a node that
/// holds or calls other nodes.
std::string OnnxImporter::valueNumber(const onnx::NodeProto &node,
                                      const OnnxNode &view) {
  if (&view.op == &kFunctionCall)
    return "";
  std::string key = node.op_type() + "/" + std::to_string(view.version) + "/";
  // Only the outputs that the node names are made.
  for (const std::string &output : node.output())
    key += output.empty() ? '-' : '+';
  for (Value input : view.inputs)
    key += "/" + llvm::utohexstr(
                     reinterpret_cast<uintptr_t>(input.getAsOpaquePointer()));
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    const onnx::AttributeProto *given = resolve(attribute);
    if (!given)
      continue;
    if (given->has_g())
      return "";
    // The data of a tensor is not in the message.
    key += "/" + attribute.name() + "=" +
           (given->has_t() && node.op_type() == "Constant"
                ? llvm::utohexstr(reinterpret_cast<uintptr_t>(given))
                : given->SerializeAsString());
  }
  return key;
}

void OnnxImporter::bindOutputs(const onnx::NodeProto &node, OnnxNode &view) {
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string &name = node.output(i);
    if (name.empty())
      continue;
    Value value = view.outputs[i];
    if (!value) {
      (void)view.error("its output " + Twine(i) + " ('" + name +
                       "') is not supported");
      scope->poisoned.insert(name);
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && !countElements(type.getShape(), 16)) {
      (void)view.error("its output '" + name + "' is too large");
      scope->poisoned.insert(name);
      continue;
    }
    if (scope->initializers.contains(name) ||
        !scope->values.try_emplace(name, value).second) {
      (void)view.error("its output '" + name + "' is made twice");
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (type && op && !isa<ConstantOp>(op) &&
        !op->hasAttr(AutoparDialect::kNames))
      op->setAttr(AutoparDialect::kNames,
                  builder.getStrArrayAttr({scope->prefix + name}));
  }
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Drops what nothing uses and gives @step its type and attributes.
void OnnxImporter::finish() {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(body->getOperations())))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
  llvm::BitVector dead(body->getNumArguments());
  SmallVector<Attribute> kept;
  for (BlockArgument argument : body->getArguments()) {
    Attribute source = sources[argument.getArgNumber()];
    if (isa<ParameterAttr>(source) && argument.use_empty())
      dead.set(argument.getArgNumber());
    else
      kept.push_back(source);
  }
  body->eraseArguments(dead);
  step.setType(builder.getFunctionType(
      body->getArgumentTypes(), body->getTerminator()->getOperandTypes()));
  setArgAttrs(step, AutoparDialect::kSource, kept);
  setResultAttrs(step, AutoparDialect::kResult, results);
  if (!checks.empty())
    (*module)->setAttr(AutoparDialect::kChecks, builder.getArrayAttr(checks));
  if (ArrayAttr bounds = findIndexBounds(step, indexUses); !bounds.empty())
    (*module)->setAttr(AutoparDialect::kIndexBounds, bounds);
  if (!fixedInputs.empty())
    (*module)->setAttr(AutoparDialect::kFixedInputs,
                       builder.getArrayAttr(fixedInputs));
  if (options.trained && !moduleTensors.empty())
    (*module)->setAttr(AutoparDialect::kModuleTensors, describeModuleTensors());
}

OwningOpRef<ModuleOp> OnnxImporter::run() {
  Location loc = here;
  module = ModuleOp::create(loc);
  (*module)->setAttr(AutoparDialect::kModel,
                     builder.getStringAttr(contents.fileName));
  builder.setInsertionPointToEnd(module->getBody());
  step = func::FuncOp::create(builder, loc, "step",
                              builder.getFunctionType({}, {}));
  body = step.addEntryBlock();
  if (failed(checkModel()))
    return nullptr;
  graphScope.enter(OnnxBody(contents.proto.graph()));
  if (!options.trained)
    learned = learnedScalars(contents.proto.graph());
  readModule();
  (void)addInputs();
  for (auto [index, node] : llvm::enumerate(contents.proto.graph().node()))
    importNode(node, index);
  (void)addOutputs();
  warnOfNoDropout();
  if (errors > kErrorLimit)
    emitError(loc) << "and " << errors - kErrorLimit << " more errors";
  if (errors)
    return nullptr;
  finish();
  if (llvm::Error error = describeKnown()) {
    emitError(loc) << llvm::toString(std::move(error));
    return nullptr;
  }
  if (failed(verify(*module)))
    return nullptr;
  return std::move(module);
}

} // namespace autopar
