//===- LibraryCall.cpp - The library call that a body is ------------------===//

#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/raw_ostream.h"

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

static Value throughReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

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

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

using StoredAs = llvm::function_ref<Layout(BlockArgument)>;

/// The layout of `value`, another name of an argument that is stored so:
/// reshapes and transposes make it.
static std::optional<Layout> layoutInside(Value value, StoredAs storedAs) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return storedAs(argument);
  Operation *op = value.getDefiningOp();
  if (!isa<ReshapeOp, TransposeOp>(op))
    return std::nullopt;
  std::optional<Layout> under = layoutInside(op->getOperand(0), storedAs);
  if (!under)
    return std::nullopt;
  return carryLayout(op, op->getOperand(0), *under, value);
}

/// How the kernel's buffers are stored.
static Layout storedIn(KernelOp kernel, BlockArgument argument) {
  return layoutOf(kernel.getInputs()[argument.getArgNumber()].getType());
}

/// Whether `value`, another name of an operand of the kernel, is stored so.
static bool isStored(KernelOp kernel, Value value, ArrayRef<int64_t> layout) {
  std::optional<Layout> stored =
      layoutInside(value, [&](BlockArgument argument) {
        return storedIn(kernel, argument);
      });
  return stored && sameMemory(shapeOf(value), *stored, layout);
}

/// Whether the convolution's image, result and addend are stored in the order
/// that the call says. Epilogues take the result on through reshapes, which
/// name the same memory by other dimensions.
static bool hasImages(KernelOp kernel, ConvolutionOp op) {
  auto orderOf = [&](Value image) {
    return kernel.getLibrary()->getChannelsLast()
               ? channelsLast(shapeOf(image).size())
               : Layout();
  };
  if (!isStored(kernel, op.getInput(), orderOf(op.getInput())))
    return false;
  llvm::DenseMap<Value, Layout> results{{op.getResult(), orderOf(op)}};
  for (Operation &next : kernel.getBody().front().without_terminator()) {
    auto from = llvm::find_if(next.getOperands(), [&](Value operand) {
      return results.contains(operand);
    });
    if (from == next.operand_end())
      continue;
    std::optional<Layout> layout = results[*from];
    if (isa<ReshapeOp>(next)) // the others keep the shape
      layout = viewLayout(shapeOf(*from), *layout, shapeOf(next.getResult(0)));
    if (!layout)
      return false;
    for (Value operand : next.getOperands())
      if (!results.contains(operand) &&
          !throughReshapes(operand).getDefiningOp<BroadcastOp>() &&
          !isStored(kernel, operand, *layout))
        return false;
    results[next.getResult(0)] = *layout;
  }
  Value end = kernel.getBody().front().getTerminator()->getOperand(0);
  return sameMemory(shapeOf(end), results[end],
                    layoutOf(kernel.getOutputs()[0].getType()));
}

/// The same of a filter's gradient: its images, the gradient that it reads, and
/// its result, row-major once batch and channels have changed places again.
static bool hasFilterMemory(KernelOp kernel, FilterGradient filter) {
  auto isImage = [&](Value image) {
    return isStored(kernel, image,
                    kernel.getLibrary()->getChannelsLast()
                        ? channelsLast(shapeOf(image).size())
                        : Layout());
  };
  auto type = cast<MemRefType>(kernel.getOutputs()[0].getType());
  return isImage(filter.images.getInput()) &&
         isImage(filter.gradient.getInput()) &&
         sameMemory(type.getShape(), layoutOf(type),
                    batchExchanged(type.getRank()));
}

std::optional<EinsumAsGemm> gemmOf(EinsumOp root, StoredAs storedAs) {
  std::optional<Layout> lhs = layoutInside(root.getLhs(), storedAs),
                        rhs = layoutInside(root.getRhs(), storedAs);
  return lhs && rhs ? einsumAsGemm(root, *lhs, *rhs) : std::nullopt;
}

std::optional<EinsumAsGemm> gemmOf(KernelOp kernel) {
  auto root = cast<EinsumOp>(libraryRootOf(kernel.getBody().front()));
  return gemmOf(
      root, [&](BlockArgument argument) { return storedIn(kernel, argument); });
}

std::string packingOf(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Block &body = kernel.getBody().front();
  Operation *root = libraryRootOf(body);
  os << getElementTypeOrSelf(root->getResult(0).getType()) << ' ';
  if (isa<EinsumOp>(root)) {
    std::optional<EinsumAsGemm> gemm = gemmOf(kernel); // verified
    os << gemm->m << ' ' << gemm->n << ' ' << gemm->k;
    for (ArrayRef<int64_t> list :
         {ArrayRef(gemm->batch), ArrayRef(gemm->bStrides)})
      llvm::interleave(list, os << '|', " ");
    return text;
  }
  os << kernel.getLibrary()->withMemory(kernel.getLibrary()->getChannelsLast(),
                                        -1);
  for (Operation &op : body)
    os << '\n'
       << op.getName() << op.getAttrDictionary() << op.getOperandTypes();
  return text;
}

LogicalResult verifyLibraryMemory(KernelOp kernel) {
  LibraryCallAttr call = *kernel.getLibrary();
  auto weight = kernel.getInputs()[call.getB()].getDefiningOp<BufferOp>();
  if (call.getPacked() >= 0 &&
      !(weight && weight.getSpace() == BufferSpace::Persistent))
    return kernel.emitOpError() << "reads input " << call.getB()
                                << " packed, which is no persistent tensor";
  Operation *root = libraryRootOf(kernel.getBody().front());
  if (std::optional<FilterGradient> filter = filterGradientOf(root)) {
    if (hasFilterMemory(kernel, *filter))
      return success();
    return kernel.emitOpError("is the gradient of a filter whose buffers are "
                              "stored otherwise than its call says");
  }
  if (auto op = dyn_cast<ConvolutionOp>(root)) {
    if (isStored(kernel, op.getFilter(), {}) && hasImages(kernel, op))
      return success();
    return kernel.emitOpError()
           << "is a convolution of images "
           << (call.getChannelsLast() ? "with channels last"
                                      : "in row-major order")
           << " and a row-major filter, but its buffers are stored otherwise";
  }
  if (!gemmOf(kernel))
    return kernel.emitOpError("is a GEMM whose operands are stored so that no "
                              "GEMM reads them");
  for (auto [number, operand] : llvm::enumerate(kernel->getOperands())) {
    auto type = cast<ShapedType>(operand.getType());
    bool isMatrix =
        int64_t(number) == call.getA() || int64_t(number) == call.getB();
    if (!isMatrix && !sameMemory(type.getShape(), layoutOf(type), {}))
      return kernel.emitOpError("is a GEMM whose result or epilogue is not "
                                "row-major");
  }
  return success();
}

} // namespace autopar
