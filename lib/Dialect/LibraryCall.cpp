//===- LibraryCall.cpp - The library call that a body is ------------------===//

#include "autopar/Dialect/LibraryCall.h"
#include "OpHelpers.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar {

namespace {

/// Reads a call off a body; each step fails on what no call says.
class Reader {
public:
  Reader(Operation *root, EmitError emitError)
      : root(root), emitError(emitError) {}

  FailureOr<LibraryCallAttr> read();

private:
  LogicalResult readOperands();
  LogicalResult readEpilogue();
  FailureOr<Value> follow(Value value);
  LogicalResult takeActivation(Operation *op, Activation function);
  LogicalResult takeSummand(Operation *op, Value summand);
  LogicalResult takeBias(Operation *op, BroadcastOp spread);
  FailureOr<int64_t> argumentOf(Value value);

  bool isGemm() const { return isa<EinsumOp>(root); }
  CallKind kind() const {
    if (isGemm())
      return CallKind::Gemm;
    return filterGradientOf(root) ? CallKind::FilterGradient
                                  : CallKind::Convolution;
  }
  InFlightDiagnostic error(Operation *op) {
    return emitError() << "is no library call: '" << op->getName() << "' ";
  }

  Operation *root;
  EmitError emitError;
  int64_t a = -1, b = -1, bias = -1, addend = -1;
  Activation activation = Activation::None;
};

} // namespace

/// The value from which reshapes and transposes make `value`. A matrix may be
/// transposed; bias and addend may not.
static Value throughViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ReshapeOp, TransposeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

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

/// Silu is written x * sigmoid(x).
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

FailureOr<int64_t> Reader::argumentOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(throughReshapes(value));
  if (!argument)
    return error(root) << "reads what another op computes";
  return int64_t(argument.getArgNumber());
}

LogicalResult Reader::readOperands() {
  auto library = cast<LibraryOpInterface>(root);
  if (!library.isLibraryCall())
    return error(root) << "has no form that a library takes";
  Value left = root->getOperand(0), right = root->getOperand(1);
  if (auto einsum = dyn_cast<EinsumOp>(root);
      einsum && einsumAsGemm(einsum)->swapped)
    std::swap(left, right);
  if (std::optional<FilterGradient> filter = filterGradientOf(root)) {
    left = filter->images.getInput();
    right = filter->gradient.getInput();
  }
  if (isGemm()) {
    left = throughViews(left);
    right = throughViews(right);
  }
  FailureOr<int64_t> ofLeft = argumentOf(left), ofRight = failure();
  if (succeeded(ofLeft))
    ofRight = argumentOf(right);
  if (failed(ofRight))
    return failure();
  a = *ofLeft;
  b = *ofRight;
  return success();
}

LogicalResult Reader::takeActivation(Operation *op, Activation function) {
  if (activation != Activation::None)
    return error(op) << "is a second activation";
  if (isGemm() && addend >= 0)
    return error(op) << "follows the addend of a GEMM";
  activation = function;
  return success();
}

LogicalResult Reader::takeBias(Operation *op, BroadcastOp spread) {
  if (bias >= 0 || addend >= 0 || activation != Activation::None)
    return error(op) << "adds a bias that does not come first";
  if (!isBiasOf(root, spread))
    return error(op) << "adds what is not one value per column or channel";
  FailureOr<int64_t> number = argumentOf(spread.getInput());
  if (failed(number))
    return failure();
  bias = *number;
  return success();
}

LogicalResult Reader::takeSummand(Operation *op, Value summand) {
  if (auto spread = throughReshapes(summand).getDefiningOp<BroadcastOp>())
    return takeBias(op, spread);
  if (addend >= 0)
    return error(op) << "is a second addend";
  if (!isGemm() && activation != Activation::None)
    return error(op) << "follows the activation of a convolution";
  FailureOr<int64_t> number = argumentOf(summand);
  if (failed(number))
    return failure();
  addend = *number;
  return success();
}

/// Takes the op that reads `value`, the running result, and returns its own.
FailureOr<Value> Reader::follow(Value value) {
  if (BinaryOp silu = siluOf(value)) {
    if (failed(takeActivation(silu, Activation::Silu)))
      return failure();
    return silu.getResult();
  }
  if (!value.hasOneUse())
    return error(value.getDefiningOp()) << "is read more than once";
  Operation *user = *value.user_begin();
  if (auto unary = dyn_cast<UnaryOp>(user)) {
    auto function = activationOf(unary.getKind());
    if (!function)
      return error(user) << "is no activation of a library";
    if (failed(takeActivation(user, *function)))
      return failure();
  } else if (auto sum = dyn_cast<BinaryOp>(user);
             sum && sum.getKind() == BinaryKind::Add) {
    bool left = sum.getLhs() == value;
    if (failed(takeSummand(user, left ? sum.getRhs() : sum.getLhs())))
      return failure();
  } else if (!isa<ReshapeOp>(user)) {
    return error(user) << "is no part of an epilogue";
  }
  return user->getResult(0);
}

LogicalResult Reader::readEpilogue() {
  Value value = root->getResult(0);
  Operation *end = root->getBlock()->getTerminator();
  while (!value.hasOneUse() || *value.user_begin() != end) {
    FailureOr<Value> next = follow(value);
    if (failed(next))
      return failure();
    value = *next;
  }
  if (end->getNumOperands() != 1)
    return error(end) << "gives more than one result";
  if (kind() == CallKind::FilterGradient && value != root->getResult(0))
    return error(root) << "is the gradient of a filter and has an epilogue";
  return success();
}

FailureOr<LibraryCallAttr> Reader::read() {
  if (failed(readOperands()) || failed(readEpilogue()))
    return failure();
  return LibraryCallAttr::get(root->getContext(), kind(), a, b, bias, addend,
                              activation,
                              /*channels_last=*/false, /*packed=*/-1);
}

LibraryCallAttr LibraryCallAttr::withMemory(bool channelsLast,
                                            int64_t packed) const {
  return get(getContext(), getKind(), getA(), getB(), getBias(), getAddend(),
             getActivation(), channelsLast, packed);
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

FailureOr<LibraryCallAttr> libraryCallOf(Block &body, EmitError emitError) {
  Operation *root = libraryRootOf(body);
  if (!root)
    return emitError() << "is no library call: its body has no GEMM or "
                          "convolution, or several";
  return Reader(root, emitError).read();
}

} // namespace autopar
