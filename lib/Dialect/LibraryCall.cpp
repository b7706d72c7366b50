//===- LibraryCall.cpp - The library call that a body is ------------------===//

#include "autopar/Dialect/LibraryCall.h"
#include "OpHelpers.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

//===----------------------------------------------------------------------===//
// Ops of calls
//===----------------------------------------------------------------------===//

std::optional<Activation> activationOf(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Relu:
    return Activation::Relu;
  case UnaryKind::GeluErf:
    return Activation::GeluErf;
  case UnaryKind::GeluTanh:
    return Activation::GeluTanh;
  case UnaryKind::Tanh:
    return Activation::Tanh;
  case UnaryKind::Sigmoid:
    return Activation::Sigmoid;
  default:
    return std::nullopt;
  }
}

Operation *libraryRootOf(Block &body) {
  Operation *root = nullptr;
  for (Operation &op : body)
    if (isa<LibraryOpInterface>(op)) {
      if (root)
        return nullptr;
      root = &op;
    }
  return root;
}

LibraryOpInterface libraryRootOf(KernelOp kernel) {
  return cast<LibraryOpInterface>(libraryRootOf(kernel.getBody().front()));
}

static TransposeOp batchExchangeOf(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  bool exchanges =
      transpose && transpose->hasOneUse() &&
      Layout(transpose.getPerm()) == batchExchanged(shapeOf(value).size());
  return exchanges ? transpose : nullptr;
}

std::optional<FilterGradient> filterGradientOf(Operation *op) {
  auto convolution = dyn_cast<ConvolutionOp>(op);
  if (!convolution || convolution.getGroups() != 1)
    return std::nullopt;
  FilterGradient filter{batchExchangeOf(convolution.getInput()),
                        batchExchangeOf(convolution.getFilter())};
  return filter.images && filter.gradient ? std::optional(filter)
                                          : std::nullopt;
}

Operation *filterGradientReading(Operation *op) {
  if (!isa<TransposeOp>(op) || !op->hasOneUse())
    return nullptr;
  Operation *user = *op->user_begin();
  return filterGradientOf(user) ? user : nullptr;
}

std::string packingOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  LibraryOpInterface root = libraryRootOf(kernel);
  LibraryCallAttr call = *kernel.getLibrary();
  os << elementOf(root->getResult(0)) << ' ';
  if (libraryKind(call.getKind()).packedBy == LibraryKind::Root) {
    os << root.describePacking(kernel);
    return text;
  }
  os << call.withMemory(call.getChannelsLast(), -1);
  for (Operation &op : kernel.getBody().front())
    os << '\n'
       << op.getName() << op.getAttrDictionary() << op.getOperandTypes();
  return text;
}

//===----------------------------------------------------------------------===//
// The call and the body
//===----------------------------------------------------------------------===//

namespace {

/// Follows a body from its root through the epilogue that the call states.
class CallVerifier {
public:
  explicit CallVerifier(KernelOp kernel)
      : kernel(kernel), call(*kernel.getLibrary()),
        kind(libraryKind(call.getKind())) {}

  LogicalResult verify();

private:
  LogicalResult findRoot();
  LogicalResult verifyOperands();
  LogicalResult verifyEpilogue();
  FailureOr<Value> follow(EpilogueStep step, Value value);
  FailureOr<Value> followActivation(Value value);
  FailureOr<Value> followSum(Value value, StringRef role);
  bool isOperand(StringRef role, Value value);
  InFlightDiagnostic error(Operation *op) {
    return kernel.emitOpError()
           << "is no library call: '" << op->getName() << "' ";
  }

  KernelOp kernel;
  LibraryCallAttr call;
  const LibraryKind &kind;
  LibraryOpInterface root;
};

} // namespace

/// The value from which reshapes and transposes make `value`.
static Value throughViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns whether `value` is the body's argument for the input that has
/// `role`; reshapes only name the same memory.
bool CallVerifier::isOperand(StringRef role, Value value) {
  auto argument = dyn_cast<BlockArgument>(throughReshapes(value));
  return argument && int64_t(argument.getArgNumber()) == call.getOperand(role);
}

LogicalResult CallVerifier::findRoot() {
  Operation *found = libraryRootOf(kernel.getBody().front());
  if (!found)
    return kernel.emitOpError() << "is no library call: its body has no op "
                                   "that a library computes, or several";
  root = cast<LibraryOpInterface>(found);
  if (llvm::is_contained(root.getCallKinds(), call.getKind()))
    return success();
  return error(root) << "is not " << kind.title;
}

LogicalResult CallVerifier::verifyOperands() {
  for (auto [role, value] :
       llvm::zip(kind.roles, root.getCallOperands(call.getKind())))
    if (!isOperand(role, kind.hasImages ? value : throughViews(value)))
      return error(root) << "reads another value as '" << role
                         << "' than its call " << call << " says";
  return success();
}

/// Silu is written x * sigmoid(x): the product, or null.
static BinaryOp siluOf(Value value) {
  auto isSigmoid = [&](Value side) {
    auto unary = side.getDefiningOp<UnaryOp>();
    return unary && unary.getKind() == UnaryKind::Sigmoid &&
           unary.getInput() == value && unary->hasOneUse();
  };
  if (std::distance(value.use_begin(), value.use_end()) != 2)
    return nullptr;
  for (Operation *user : value.getUsers()) {
    auto multiply = dyn_cast<BinaryOp>(user);
    if (multiply && multiply.getKind() == BinaryKind::Mul &&
        (isSigmoid(multiply.getLhs()) || isSigmoid(multiply.getRhs())))
      return multiply;
  }
  return nullptr;
}

FailureOr<Value> CallVerifier::followActivation(Value value) {
  if (call.getActivation() == Activation::Silu) {
    if (BinaryOp silu = siluOf(value))
      return silu.getResult();
    return error(value.getDefiningOp()) << "is not followed by silu";
  }
  auto unary =
      value.hasOneUse() ? dyn_cast<UnaryOp>(*value.user_begin()) : UnaryOp();
  if (unary && activationOf(unary.getKind()) == call.getActivation())
    return unary.getResult();
  return error(value.getDefiningOp())
         << "is not followed by " << stringifyActivation(call.getActivation());
}

/// Follows the sum with the bias, which is spread, or with the addend.
FailureOr<Value> CallVerifier::followSum(Value value, StringRef role) {
  auto sum =
      value.hasOneUse() ? dyn_cast<BinaryOp>(*value.user_begin()) : BinaryOp();
  if (!sum || sum.getKind() != BinaryKind::Add)
    return error(value.getDefiningOp()) << "is not followed by its " << role;
  Value other = sum.getLhs() == value ? sum.getRhs() : sum.getLhs();
  if (role == kBiasRole) {
    auto spread = throughReshapes(other).getDefiningOp<BroadcastOp>();
    if (!spread || !isBiasOf(root, spread))
      return error(sum) << "adds what is not one value per column or channel";
    other = spread.getInput();
  }
  if (!isOperand(role, other))
    return error(sum) << "adds another value than the call's " << role;
  return sum.getResult();
}

/// Takes the ops that read `value`, the running result, as `step`, and returns
/// their own result.
FailureOr<Value> CallVerifier::follow(EpilogueStep step, Value value) {
  switch (step) {
  case EpilogueStep::Bias:
    return followSum(value, kBiasRole);
  case EpilogueStep::Activation:
    return followActivation(value);
  case EpilogueStep::Addend:
    return followSum(value, kAddendRole);
  }
  llvm_unreachable("all steps are above");
}

/// The value that reshapes, which alone read it, make of `value`.
static Value throughLaterReshapes(Value value) {
  while (value.hasOneUse() && isa<ReshapeOp>(*value.user_begin()))
    value = (*value.user_begin())->getResult(0);
  return value;
}

LogicalResult CallVerifier::verifyEpilogue() {
  Value result = root->getResult(0);
  Value value = throughLaterReshapes(result);
  for (EpilogueStep step : call.getEpilogue()) {
    FailureOr<Value> next = follow(step, value);
    if (failed(next))
      return failure();
    value = throughLaterReshapes(*next);
  }
  Operation *end = kernel.getBody().front().getTerminator();
  if (end->getNumOperands() != 1)
    return error(end) << "gives more than one result";
  if (kind.epilogue.empty() && end->getOperand(0) != result)
    return error(root) << "is " << kind.title << " and has an epilogue";
  if (end->getOperand(0) != value || !value.hasOneUse())
    return error(value.getDefiningOp())
           << "is followed by more than its call " << call << " says";
  for (EpilogueStep step :
       {EpilogueStep::Bias, EpilogueStep::Activation, EpilogueStep::Addend})
    if (call.has(step) && !llvm::is_contained(kind.epilogue, step))
      return kernel.emitOpError()
             << "is " << kind.title << ", which has no epilogue as in " << call;
  return success();
}

LogicalResult CallVerifier::verify() {
  if (failed(findRoot()) || failed(verifyOperands()) ||
      failed(verifyEpilogue()))
    return failure();
  if (call.getChannelsLast() && !kind.hasImages)
    return kernel.emitOpError()
           << "is " << kind.title << ": it has no images, nor channels last";
  if (call.getPacked() >= 0 && call.getPackable() < 0)
    return kernel.emitOpError()
           << "is " << kind.title << ", which reads no operand packed";
  return success();
}

LogicalResult verifyLibraryCall(KernelOp kernel) {
  if (failed(CallVerifier(kernel).verify()))
    return failure();
  if (kernel.getOutputs().empty())
    return success();
  if (LibraryCallAttr call = *kernel.getLibrary(); call.getPacked() >= 0) {
    int64_t number = call.getPackable();
    auto weight = kernel.getInputs()[number].getDefiningOp<BufferOp>();
    if (!weight || weight.getSpace() != BufferSpace::Persistent)
      return kernel.emitOpError() << "reads input " << number
                                  << " packed, which is no persistent tensor";
  }
  return libraryRootOf(kernel).verifyCallMemory(kernel);
}

} // namespace autopar
