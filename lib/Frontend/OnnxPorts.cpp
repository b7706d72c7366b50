//===- OnnxPorts.cpp - Inputs, parameters and outputs of an ONNX graph ----===//

#include "OnnxImporter.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

/// Parameters up to this size are read where a node asks for their values.
static constexpr uint64_t kReadLimit = 1 << 16;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

FailureOr<int64_t> OnnxImporter::bindDim(const onnx::ValueInfoProto &info,
                                         int index) {
  const auto &dim = info.type().tensor_type().shape().dim(index);
  if (dim.has_dim_value()) {
    if (dim.dim_value() > 0)
      return dim.dim_value();
    return error(here, "input '" + info.name() + "': dimension " +
                           Twine(index) + " has size " +
                           Twine(dim.dim_value()) + "; sizes are positive");
  }
  std::string name = dim.dim_param();
  std::string place = info.name() + "." + std::to_string(index);
  for (const std::string &key : {name, place}) {
    auto bound = options.bindings.find(key);
    if (key.empty() || bound == options.bindings.end())
      continue;
    usedBindings.insert(key);
    if (bound->second > 0)
      return bound->second;
    return error(here, "--bind " + key + "=" + Twine(bound->second) +
                           ": sizes are positive");
  }
  std::string what =
      name.empty() ? "no size" : "the symbolic size '" + name + "'";
  return error(here, "input '" + info.name() + "': dimension " + Twine(index) +
                         " has " + what + "; give it one with --bind " +
                         (name.empty() ? place : name) + "=INT");
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
  if (!element)
    return error(here, "input '" + info.name() +
                           "' is not a tensor of a supported element type");
  FailureOr<SmallVector<int64_t>> shape = bindShape(info);
  if (failed(shape))
    return failure();
  scope->poisoned.erase(info.name());
  Value argument = body->addArgument(RankedTensorType::get(*shape, element),
                                     nameLoc(info.name()));
  sources.push_back(
      InputAttr::get(context, builder.getStringAttr(info.name())));
  scope->values[info.name()] = argument;
  return success();
}

LogicalResult OnnxImporter::addInputs() {
  for (const onnx::ValueInfoProto &info : contents.proto.graph().input())
    (void)addInput(info);
  checkBindings();
  return success();
}

void OnnxImporter::checkBindings() {
  for (const auto &[name, size] : options.bindings)
    if (!usedBindings.contains(name))
      (void)error(here, "--bind " + name + "=" + Twine(size) +
                            ": no input has a symbolic dimension '" + name +
                            "'");
}

//===----------------------------------------------------------------------===//
// Constants and parameters
//===----------------------------------------------------------------------===//

Value OnnxImporter::constant(DenseElementsAttr elements, Location loc) {
  Value &value = constants[elements];
  if (value)
    return value;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  value = ConstantOp::create(builder, loc, elements);
  return value;
}

std::optional<interpreter::Tensor>
OnnxImporter::readTensor(const OnnxTensor &tensor, Location loc) {
  llvm::Expected<std::vector<char>> bytes = contents.read(tensor);
  if (!bytes) {
    std::error_code code;
    std::string message;
    llvm::handleAllErrors(bytes.takeError(), [&](const llvm::StringError &e) {
      code = e.convertToErrorCode();
      message = e.getMessage();
    });
    if (code != std::errc::no_such_file_or_directory)
      (void)error(loc, "tensor '" + tensor.name + "': " + message);
    return std::nullopt; // absent external data is an error only where needed
  }
  auto type = RankedTensorType::get(tensor.dims, elementType(tensor.dataType));
  interpreter::Tensor out(type);
  unsigned width = onnxElementBytes(tensor.dataType);
  for (uint64_t i = 0; i < tensor.elements; ++i)
    interpreter::loadElement(
        out, i, reinterpret_cast<const uint8_t *>(bytes->data()) + i * width);
  return out;
}

std::optional<interpreter::Tensor> OnnxImporter::knownTensor(Value value) {
  if (auto constant = value.getDefiningOp<ConstantOp>()) {
    FailureOr<interpreter::Tensor> tensor =
        interpreter::fromElements(constant.getValue());
    return succeeded(tensor) ? std::optional(*tensor) : std::nullopt;
  }
  auto found = parameters.find(value);
  if (found == parameters.end() || found->second->elements > kReadLimit)
    return std::nullopt;
  return readTensor(*found->second, value.getLoc());
}

/// Small integers are shapes, axes and the like; scalars are scales and
/// epsilons. Other tensors are parameters even if they are small: they may be
/// trained.
static bool becomesConstant(const OnnxTensor &tensor, Type element) {
  if (tensor.elements > kSmallTensor)
    return false;
  return tensor.dims.empty() || isa<IntegerType>(element) ||
         !tensor.isInitializer;
}

Value OnnxImporter::parameter(const OnnxTensor &tensor) {
  Type element = elementType(tensor.dataType);
  auto type = RankedTensorType::get(tensor.dims, element);
  Location loc = nameLoc(tensor.name);
  if (becomesConstant(tensor, element))
    if (std::optional<interpreter::Tensor> known = readTensor(tensor, loc))
      return constant(interpreter::toElements(*known), loc);

  bool external = tensor.place == OnnxTensor::External;
  bool placed =
      external || (tensor.place == OnnxTensor::InFile && !contents.packed);
  Value argument = body->addArgument(type, loc);
  sources.push_back(ParameterAttr::get(
      context, builder.getStringAttr(tensor.name),
      builder.getStringAttr(external ? StringRef(tensor.file)
                                     : StringRef(contents.fileName)),
      placed ? int64_t(tensor.offset) : -1, tensor.bytes));
  parameters[argument] = &tensor;
  return argument;
}

Value OnnxImporter::tensorValue(const onnx::TensorProto &proto) {
  const OnnxTensor *tensor = contents.byMessage.lookup(&proto);
  if (!tensor)
    return {};
  Value &value = tensors[tensor];
  if (!value)
    value = parameter(*tensor);
  return value;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

LogicalResult OnnxImporter::checkOutput(const onnx::ValueInfoProto &info,
                                        Value value) {
  if (!info.type().has_tensor_type())
    return success(); // nothing is declared
  const onnx::TypeProto_Tensor &declared = info.type().tensor_type();
  auto type = cast<RankedTensorType>(value.getType());
  auto differs = [&](const Twine &what) {
    std::string computed;
    llvm::raw_string_ostream(computed) << type;
    return error(here, "output '" + info.name() + "' is declared with " + what +
                           ", but the graph computes " + computed);
  };
  if (declared.elem_type() &&
      elementType(declared.elem_type()) != type.getElementType())
    return differs("element type " + onnxElementName(declared.elem_type()));
  if (!declared.has_shape())
    return success();
  if (declared.shape().dim_size() != type.getRank())
    return differs("rank " + Twine(declared.shape().dim_size()));
  for (int i = 0; i < declared.shape().dim_size(); ++i) {
    const auto &dim = declared.shape().dim(i);
    auto bound = options.bindings.find(dim.dim_param());
    bool named = !dim.has_dim_value() && bound != options.bindings.end();
    if (!dim.has_dim_value() && !named)
      continue;
    int64_t size = named ? bound->second : dim.dim_value();
    if (size != type.getDimSize(i))
      return differs("size " + Twine(size) + " in dimension " + Twine(i));
  }
  return success();
}

LogicalResult OnnxImporter::addOutputs() {
  SmallVector<Value> returned;
  here = FileLineColLoc::get(context, contents.fileName, 0, 0);
  for (const onnx::ValueInfoProto &info : contents.proto.graph().output()) {
    Value value = lookup(info.name());
    if (!value) {
      if (!scope->poisoned.contains(info.name()) &&
          !scope->initializers.contains(info.name()))
        (void)error(here,
                    "output '" + info.name() + "' is not made by any node");
      continue;
    }
    (void)checkOutput(info, value);
    returned.push_back(value);
    results.push_back(
        OutputAttr::get(context, builder.getStringAttr(info.name())));
  }
  if (contents.proto.graph().output_size() == 0)
    return error(here, "the graph has no outputs");
  builder.setInsertionPointToEnd(body);
  func::ReturnOp::create(builder, builder.getUnknownLoc(), returned);
  return success();
}

} // namespace autopar
