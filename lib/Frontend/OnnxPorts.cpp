//===- OnnxPorts.cpp - Inputs and outputs of an ONNX graph ----------------===//

#include "BoundValues.h"
#include "OnnxImporter.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

llvm::Error ImportOptions::addState(StringRef text) {
  auto [in, out] = text.split('=');
  if (in.empty() || out.empty())
    return llvm::createStringError(
        "write IN=OUT: output OUT is input IN of the next step");
  for (const auto &[input, output] : states)
    if ((input == in) != (output == out))
      return llvm::createStringError("'" + input + "=" + output +
                                     "' is a state already");
  states.try_emplace(in.str(), out.str());
  return llvm::Error::success();
}

FailureOr<int64_t> OnnxImporter::bindDim(const onnx::ValueInfoProto &info,
                                         int index) {
  const auto &dim = info.type().tensor_type().shape().dim(index);
  std::string place = info.name() + "." + std::to_string(index);
  // Some exporters write -1 for a size that is not known.
  bool open = !dim.has_dim_value() || dim.dim_value() < 0;
  if (!open)
    return dim.dim_value();
  auto wrong = [&](const Twine &what) {
    return error(here, "input '" + info.name() + "': dimension " +
                           Twine(index) + " has " + what);
  };
  std::string name =
      dim.has_dim_value() ? std::to_string(dim.dim_value()) : dim.dim_param();
  FailureOr<std::optional<int64_t>> size = boundSize(place);
  if (succeeded(size) && !*size)
    size = dim.has_dim_value() ? boundSize(name) : namedSize(name);
  if (failed(size))
    return failure();
  if (*size && **size >= 0)
    return **size;
  if (*size)
    return wrong("size '" + name + "', which is " + Twine(**size) +
                 "; sizes are 0 or more");
  std::string what = name.empty()          ? "no size"
                     : dim.has_dim_value() ? "the size " + name
                                           : "the symbolic size '" + name + "'";
  return wrong(what + "; give it one with --bind " +
               (name.empty() || dim.has_dim_value() ? place : name) + "=INT");
}

FailureOr<SmallVector<int64_t>>
OnnxImporter::bindShape(const onnx::ValueInfoProto &info) {
  const onnx::TypeProto_Tensor &type = info.type().tensor_type();
  if (!type.has_shape())
    return error(here, "input '" + info.name() +
                           "' has no shape; shapes must be in the model");
  SmallVector<int64_t> shape;
  bool failed = false;
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    FailureOr<int64_t> size = bindDim(info, i);
    failed |= mlir::failed(size);
    shape.push_back(size.value_or(1));
  }
  if (failed)
    return failure();
  if (std::string fault = rankFault(shape.size()); !fault.empty())
    return error(here, "input '" + info.name() + "' " + fault);
  if (!countElements(shape, 16))
    return error(here, "input '" + info.name() + "' is too large");
  return shape;
}

LogicalResult OnnxImporter::addInput(const onnx::ValueInfoProto &info) {
  if (info.name().empty())
    return error(here, "an input has no name");
  if (scope->initializers.contains(info.name()))
    return success(); // a parameter: old models list them as inputs, too
  if (scope->values.contains(info.name()) ||
      scope->poisoned.contains(info.name()))
    return error(here, "two inputs are named '" + info.name() + "'");
  scope->poisoned.insert(info.name());
  Type element = info.type().has_tensor_type()
                     ? elementType(info.type().tensor_type().elem_type())
                     : Type();
  if (!info.type().has_tensor_type())
    return error(here, "input '" + info.name() +
                           "' is no tensor (a sequence, a map, or optional); "
                           "give its tensors inputs of their own");
  int64_t type = info.type().tensor_type().elem_type();
  if (!element)
    return error(here, "input '" + info.name() +
                           "' is a tensor of element "
                           "type " +
                           onnxElementName(type) + " (" + Twine(type) +
                           "), which is not supported; `autopar ops` lists "
                           "those that are");
  if (auto value = shapeOfBound(options, info.name()))
    return fixInput(info, *value, element);
  FailureOr<SmallVector<int64_t>> shape = bindShape(info);
  if (failed(shape))
    return failure();
  if (options.bindings.count(info.name()) && countElements(*shape, 1) == 1)
    return fixInput(info, *shape, element);
  scope->poisoned.erase(info.name());
  Value argument = body->addArgument(RankedTensorType::get(*shape, element),
                                     nameLoc(info.name()));
  StringAttr name = builder.getStringAttr(info.name());
  if (options.states.count(info.name()))
    sources.push_back(
        StateAttr::get(context, name, builder.getI64IntegerAttr(0)));
  else
    sources.push_back(InputAttr::get(context, name));
  scope->values[info.name()] = argument;
  return success();
}

LogicalResult OnnxImporter::addInputs() {
  takeSizesOfValues();
  for (const onnx::ValueInfoProto &info : contents.proto.graph().input())
    (void)addInput(info);
  checkBindings();
  for (const auto &[in, out] : options.states)
    if (llvm::none_of(body->getArguments(), [&,
                                             &in = in](BlockArgument argument) {
          auto state = dyn_cast<StateAttr>(sources[argument.getArgNumber()]);
          return state && state.getName() == in;
        }))
      (void)error(here, "--state " + in + "=" + out +
                            ": the model has no input '" + in +
                            "' that is not bound to a value");
  return success();
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// The declaration is what an exporter believed: the graph decides, but for
/// the element type, which callers rely on.
LogicalResult OnnxImporter::checkOutput(const onnx::ValueInfoProto &info,
                                        Value value) {
  if (!info.type().has_tensor_type())
    return success(); // nothing is declared
  const onnx::TypeProto_Tensor &declared = info.type().tensor_type();
  auto type = cast<RankedTensorType>(value.getType());
  std::string computed;
  llvm::raw_string_ostream(computed) << type;
  auto text = [&](const Twine &what) {
    return ("output '" + info.name() + "' is declared with " + what +
            ", but the graph computes " + computed)
        .str();
  };
  if (declared.elem_type() &&
      elementType(declared.elem_type()) != type.getElementType())
    return error(here,
                 text("element type " + onnxElementName(declared.elem_type())));
  auto warn = [&](const Twine &what) {
    emitWarning(here) << text(what) << "; that is what it will give";
    return success();
  };
  if (!declared.has_shape())
    return success();
  if (declared.shape().dim_size() != type.getRank())
    return warn("rank " + Twine(declared.shape().dim_size()));
  for (int i = 0; i < declared.shape().dim_size(); ++i) {
    const auto &dim = declared.shape().dim(i);
    int64_t size = dim.dim_value();
    auto bound = options.bindings.find(dim.dim_param());
    if (dim.has_dim_value()
            ? size < 0
            : bound == options.bindings.end() ||
                  StringRef(bound->second).getAsInteger(10, size))
      continue; // not known
    if (size != type.getDimSize(i))
      return warn("size " + Twine(size) + " in dimension " + Twine(i));
  }
  return success();
}

/// An output of the model, or the next value of a state.
Attribute OnnxImporter::resultOf(StringRef output, Value value) {
  for (const auto &[in, out] : options.states) {
    Value state = lookup(in);
    if (out != output || !state)
      continue;
    if (state.getType() == value.getType())
      return NextStateAttr::get(context, builder.getStringAttr(in));
    std::string types;
    llvm::raw_string_ostream(types)
        << "input '" << in << "' is " << state.getType() << ", but output '"
        << out << "' " << value.getType();
    (void)error(here, "--state " + in + "=" + out + ": " + types +
                          "; a state keeps its type, or grows along a "
                          "symbolic size that --bind gives its largest value");
  }
  return OutputAttr::get(context, builder.getStringAttr(output));
}

LogicalResult OnnxImporter::addOutputs() {
  SmallVector<Value> returned;
  StringSet<> names;
  here = FileLineColLoc::get(context, contents.fileName, 0, 0);
  for (const onnx::ValueInfoProto &info : contents.proto.graph().output()) {
    if (!names.insert(info.name()).second) {
      mlir::emitWarning(here) << "output '" << info.name()
                              << "' is listed twice; the program gives it once";
      continue;
    }
    if (leftOut.contains(info.name()))
      continue;
    Value value = lookup(info.name());
    if (!value) {
      bool told = scope->poisoned.contains(info.name()) ||
                  scope->initializers.contains(info.name());
      if (!told || errors == 0)
        (void)error(here,
                    "output '" + info.name() + "' is not made by any node");
      continue;
    }
    if (OnnxNode::isSequence(value))
      return error(here, "output '" + info.name() +
                             "' is a sequence of tensors; give its tensors "
                             "outputs of their own (SequenceAt)");
    if (std::string fault = rankFault(shapeOf(value).size()); !fault.empty())
      return error(here, "output '" + info.name() + "' " + fault);
    (void)checkOutput(info, value);
    returned.push_back(value);
    results.push_back(resultOf(info.name(), value));
  }
  for (const auto &[in, out] : options.states)
    if (!names.contains(out))
      (void)error(here, "--state " + in + "=" + out +
                            ": the model has no output '" + out + "'");
  if (contents.proto.graph().output_size() == 0)
    return error(here, "the graph has no outputs");
  for (auto [value, check] : llvm::zip_equal(violations, checks)) {
    returned.push_back(value);
    results.push_back(OutputAttr::get(
        context, cast<CheckAttr>(check).getOutput(), OutputRole::Check));
  }
  for (auto [state, next] : nextValues) {
    returned.push_back(next);
    results.push_back(state);
  }
  builder.setInsertionPointToEnd(body);
  func::ReturnOp::create(builder, builder.getUnknownLoc(), returned);
  return success();
}

} // namespace autopar
