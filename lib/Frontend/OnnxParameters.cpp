//===- OnnxParameters.cpp - Constants and parameters of an ONNX graph -----===//

#include "OnnxImporter.h"
#include "OnnxNode.h"
#include "files/ContentHash.h"

using namespace mlir;
using llvm::Twine;

namespace autopar {

/// The state that counts the steps of random numbers.
static constexpr llvm::StringLiteral kRandomStep = "random/step";

Value OnnxImporter::constant(DenseElementsAttr elements, Location loc) {
  Value &value = constants[elements];
  if (value)
    return value;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  value = ConstantOp::create(builder, loc, elements);
  return value;
}

FailureOr<interpreter::Tensor>
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
    return failure(); // absent external data is an error only where needed
  }
  contents.known.insert(tensor.name);
  auto type = RankedTensorType::get(tensor.dims, elementType(tensor.dataType));
  interpreter::Tensor out(type);
  unsigned width = onnxElementBytes(tensor.dataType);
  for (uint64_t i = 0; i < tensor.elements; ++i)
    interpreter::loadElement(
        out, i, reinterpret_cast<const uint8_t *>(bytes->data()) + i * width);
  return out;
}

/// Small integers are shapes, axes and the like; scalars are scales and
/// epsilons, unless a recipe names them, or may have named them. Other tensors
/// are parameters even if they are small: they may be trained. So are scalars
/// that the file lists among its module's parameters.
bool OnnxImporter::becomesConstant(const OnnxTensor &tensor,
                                   Type element) const {
  bool isAsked = options.trained && !options.trained->parameters.empty();
  bool mayBeLearned =
      !options.trained && tensor.isInitializer && learned.contains(tensor.name);
  bool isNamed = isa<FloatType>(element) &&
                 (isAsked ? options.trained->parameters.count(tensor.name) > 0
                          : mayBeLearned || moduleTensors.lookup(tensor.name));
  if (tensor.elements > kSmallTensor || isNamed)
    return false;
  return tensor.dims.empty() || isa<IntegerType>(element) ||
         !tensor.isInitializer;
}

Value OnnxImporter::parameter(const OnnxTensor &tensor) {
  Type element = elementType(tensor.dataType);
  auto type = RankedTensorType::get(tensor.dims, element);
  Location loc = nameLoc(tensor.name);
  if (becomesConstant(tensor, element))
    if (FailureOr<interpreter::Tensor> read = readTensor(tensor, loc);
        succeeded(read))
      return constant(interpreter::toElements(*read), loc);

  bool external = tensor.place == OnnxTensor::External;
  bool placed =
      external || (tensor.place == OnnxTensor::InFile && !contents.packed);
  Value argument = body->addArgument(type, loc);
  sources.push_back(ParameterAttr::get(
      context, builder.getStringAttr(tensor.name), /*file_shape=*/{},
      builder.getStringAttr(external ? StringRef(tensor.file)
                                     : StringRef(contents.fileName)),
      placed ? int64_t(tensor.offset) : -1, tensor.bytes,
      !tensor.isInitializer || learned.contains(tensor.name) ||
          untrained.contains(tensor.name)));
  parameters[argument] = &tensor;
  if (tensor.elements <= kKnownElements)
    known.noteParameter(argument);
  return argument;
}

bool OnnxImporter::setNextValue(Value parameter, Value next) {
  auto argument = dyn_cast<BlockArgument>(parameter);
  if (!argument || argument.getOwner() != body)
    return false;
  Attribute &source = sources[argument.getArgNumber()];
  auto initial = dyn_cast<ParameterAttr>(source);
  if (!initial)
    return false;
  auto state = StateAttr::get(context, initial.getName(), initial);
  source = state;
  nextValues.push_back({state.next(), next});
  return true;
}

Value OnnxImporter::randomStep() {
  if (randomState)
    return randomState;
  Location loc = nameLoc(kRandomStep);
  StringAttr name = builder.getStringAttr(kRandomStep);
  randomState =
      body->addArgument(RankedTensorType::get({}, builder.getI64Type()), loc);
  auto state = StateAttr::get(context, name, builder.getI64IntegerAttr(0),
                              StateRole::Random);
  sources.push_back(state);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(body);
  Value one = constant(DenseElementsAttr::get(
                           cast<ShapedType>(randomState.getType()), int64_t(1)),
                       loc);
  builder.setInsertionPointAfterValue(one);
  nextValues.push_back(
      {state.next(),
       BinaryOp::create(builder, loc, BinaryKind::Add, randomState, one)});
  return randomState;
}

const std::optional<TrainingOptions> &OnnxNode::trained() const {
  return importer.trained();
}
bool OnnxNode::evaluates() const { return importer.evaluates(); }
bool OnnxNode::hasModulesModes() const { return importer.hasModulesModes(); }
Value OnnxNode::randomStep() { return importer.randomStep(); }
unsigned OnnxNode::nextRandomNumber() { return importer.nextRandomNumber(); }

void OnnxNode::leaveOutOutput(unsigned i) {
  importer.leaveOutOutput(proto.output(i));
}

void OnnxNode::keepValue(unsigned i) {
  (void)importer.setNextValue(inputs[i], inputs[i]);
}

LogicalResult OnnxNode::setNextValue(unsigned i, Value next) {
  if (importer.setNextValue(inputs[i], next))
    return success();
  return error("its input " + Twine(i) +
               " must be an initializer that no other node changes, for it is "
               "a state of the training");
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

/// Weights by another name than these must agree in what was compiled in.
llvm::Error OnnxImporter::describeKnown() {
  SmallVector<Attribute> known;
  for (const std::string &name : model.knownInitializers()) {
    auto bytes = model.readParameter(name);
    if (!bytes)
      return bytes.takeError();
    runtime::ContentHash hash;
    hash.add(bytes->data(), bytes->size());
    known.push_back(KnownTensorAttr::get(
        context, builder.getStringAttr(name), bytes->size(),
        builder.getStringAttr(runtime::formatHash(hash.value()))));
  }
  if (!known.empty())
    (*module)->setAttr(AutoparDialect::kKnownTensors,
                       builder.getArrayAttr(known));
  return llvm::Error::success();
}

} // namespace autopar
