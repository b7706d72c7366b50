//===- LibraryCalls.cpp - Kernels that a library computes -----------------===//

#include "LibraryCalls.h"
#include "HostProgram.h"
#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/runtime.h"

using namespace mlir;

namespace autopar {

namespace {

/// What happens to the library op's result before it is written.
struct Epilogue {
  Value bias, addend; // body arguments
  Value addendImage;  // what reshapes make of the addend
  int64_t activation = APRT_ACT_NONE;
};

/// Reshapes do not move elements.
Value throughReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

bool isArgument(Value value) { return isa<BlockArgument>(value); }

std::optional<int64_t> activationOf(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Relu:
    return APRT_ACT_RELU;
  case UnaryKind::GeluErf:
    return APRT_ACT_GELU_ERF;
  case UnaryKind::GeluTanh:
    return APRT_ACT_GELU_TANH;
  case UnaryKind::Tanh:
    return APRT_ACT_TANH;
  case UnaryKind::Sigmoid:
    return APRT_ACT_SIGMOID;
  default:
    return std::nullopt;
  }
}

/// Takes `other`, added to the running value, as bias or addend. A GEMM adds
/// its addend after the activation, a convolution before.
bool takeSummand(Operation *root, Value other, Epilogue &epilogue) {
  bool isConvolution = isa<ConvolutionOp>(root);
  if (auto spread = throughReshapes(other).getDefiningOp<BroadcastOp>()) {
    Value source = throughReshapes(spread.getInput());
    bool fits = !epilogue.bias && !epilogue.addend &&
                epilogue.activation == APRT_ACT_NONE && isArgument(source) &&
                isBiasOf(root, spread);
    if (fits)
      epilogue.bias = source;
    return fits;
  }
  Value source = throughReshapes(other);
  auto type = cast<RankedTensorType>(source.getType());
  auto result = cast<RankedTensorType>(root->getResult(0).getType());
  bool ordered = !isConvolution || epilogue.activation == APRT_ACT_NONE;
  if (!isArgument(source) || epilogue.addend || !ordered ||
      type.getNumElements() != result.getNumElements())
    return false;
  epilogue.addend = source;
  epilogue.addendImage = other;
  return true;
}

/// Silu is written x * sigmoid(x).
bool isSilu(BinaryOp multiply, Value value) {
  auto sigmoidOf = [&](Value side) {
    auto unary = side.getDefiningOp<UnaryOp>();
    return unary && unary.getKind() == UnaryKind::Sigmoid &&
           unary.getInput() == value;
  };
  return multiply.getKind() == BinaryKind::Mul &&
         ((multiply.getLhs() == value && sigmoidOf(multiply.getRhs())) ||
          (multiply.getRhs() == value && sigmoidOf(multiply.getLhs())));
}

BinaryOp siluUser(Value value) {
  for (Operation *user : value.getUsers())
    if (auto multiply = dyn_cast<BinaryOp>(user))
      if (isSilu(multiply, value))
        return multiply;
  return nullptr;
}

/// Follows the result to the yield; nullopt if something on the way is not in
/// the descriptor.
std::optional<Epilogue> matchEpilogue(Operation *root) {
  Epilogue epilogue;
  Value value = root->getResult(0);
  while (true) {
    if (BinaryOp silu = siluUser(value)) {
      if (epilogue.activation != APRT_ACT_NONE ||
          std::distance(value.user_begin(), value.user_end()) != 2 ||
          (isa<EinsumOp>(root) && epilogue.addend))
        return std::nullopt;
      epilogue.activation = APRT_ACT_SILU;
      value = silu.getResult();
      continue;
    }
    if (!value.hasOneUse())
      return std::nullopt;
    Operation *user = *value.user_begin();
    if (isa<YieldOp>(user))
      return epilogue;
    if (isa<ReshapeOp>(user)) {
      value = user->getResult(0);
      continue;
    }
    if (auto unary = dyn_cast<UnaryOp>(user)) {
      auto activation = activationOf(unary.getKind());
      bool late = isa<EinsumOp>(root) && epilogue.addend;
      if (!activation || epilogue.activation != APRT_ACT_NONE || late)
        return std::nullopt;
      epilogue.activation = *activation;
      value = unary.getResult();
      continue;
    }
    auto sum = dyn_cast<BinaryOp>(user);
    if (!sum || sum.getKind() != BinaryKind::Add)
      return std::nullopt;
    Value other = sum.getLhs() == value ? sum.getRhs() : sum.getLhs();
    if (!takeSummand(root, other, epilogue))
      return std::nullopt;
    value = sum.getResult();
  }
}

int numberOf(Value argument) {
  return argument
             ? static_cast<int>(cast<BlockArgument>(argument).getArgNumber())
             : -1;
}

void append(std::vector<int64_t> &words, ArrayRef<int64_t> values, size_t size,
            int64_t fill) {
  for (size_t i = 0; i < size; ++i)
    words.push_back(i < values.size() ? values[i] : fill);
}

std::optional<LibraryCall> gemmCall(EinsumOp op, const Epilogue &epilogue) {
  std::optional<EinsumAsGemm> gemm = einsumAsGemm(op);
  if (!gemm)
    return std::nullopt;
  LibraryCall call;
  Value a = throughReshapes(op.getLhs()), b = throughReshapes(op.getRhs());
  if (gemm->swapped)
    std::swap(a, b);
  if (!isArgument(a) || !isArgument(b))
    return std::nullopt;
  call.a = numberOf(a);
  call.b = numberOf(b);
  std::vector<int64_t> &words = call.descriptor;
  words.push_back(dtypeNumber(op.getType().getElementType()));
  words.push_back(gemm->batch.size());
  append(words, gemm->batch, APRT_GEMM_MAX_BATCH, 0);
  llvm::append_range(words, ArrayRef<int64_t>{gemm->m, gemm->n, gemm->k});
  append(words, gemm->aStrides, APRT_GEMM_MAX_BATCH + 2, 0);
  append(words, gemm->bStrides, APRT_GEMM_MAX_BATCH + 2, 0);
  append(words, gemm->cStrides, APRT_GEMM_MAX_BATCH + 2, 0);
  words.push_back(epilogue.bias ? 1 : 0);
  words.push_back(epilogue.addend ? 1 : 0);
  words.push_back(epilogue.activation);
  call.slotWord = words.size();
  words.push_back(-1);
  return call;
}

/// The layout of `value`, which reshapes make of an argument of the kernel.
std::optional<Layout> layoutInside(KernelOp kernel, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return layoutOf(kernel.getInputs()[argument.getArgNumber()].getType());
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return std::nullopt;
  std::optional<Layout> under = layoutInside(kernel, reshape.getInput());
  if (!under)
    return std::nullopt;
  return carryLayout(reshape, reshape.getInput(), *under, value);
}

/// The layout of the yielded `value` before the reshapes that end the body.
std::optional<Layout> layoutOfResult(KernelOp kernel, Value &value) {
  Layout layout = layoutOf(kernel.getOutputs()[0].getType());
  while (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    auto under = carryLayout(reshape, value, layout, reshape.getInput());
    if (!under)
      return std::nullopt;
    layout = *under;
    value = reshape.getInput();
  }
  return layout;
}

/// Whether image, addend and result have channels last (true) or are
/// row-major (false); nullopt if neither.
std::optional<bool> isChannelsLast(KernelOp kernel, ConvolutionOp op,
                                   const Epilogue &epilogue) {
  Value result = kernel.getBody().front().getTerminator()->getOperand(0);
  std::optional<Layout> ofResult = layoutOfResult(kernel, result);
  std::optional<Layout> ofFilter = layoutInside(kernel, op.getFilter());
  if (!ofResult || !ofFilter ||
      !sameMemory(shapeOf(op.getFilter()), *ofFilter, {}))
    return std::nullopt;
  SmallVector<std::pair<Value, Layout>> images{{result, *ofResult}};
  for (Value read : {Value(op.getInput()), epilogue.addendImage})
    if (read) {
      std::optional<Layout> layout = layoutInside(kernel, read);
      if (!layout)
        return std::nullopt;
      images.push_back({read, *layout});
    }
  auto allHave = [&](bool last) {
    return llvm::all_of(images, [&](const auto &image) {
      ArrayRef<int64_t> sizes = shapeOf(image.first);
      return sameMemory(sizes, image.second,
                        last ? channelsLast(sizes.size()) : Layout());
    });
  };
  if (allHave(false))
    return false;
  return allHave(true) ? std::optional(true) : std::nullopt;
}

/// Whether every operand is row-major.
bool isRowMajor(KernelOp kernel) {
  return llvm::all_of(kernel->getOperands(), [](Value operand) {
    auto type = cast<ShapedType>(operand.getType());
    return sameMemory(type.getShape(), layoutOf(type), {});
  });
}

std::optional<LibraryCall> convCall(KernelOp kernel, ConvolutionOp op,
                                    const Epilogue &epilogue) {
  Value x = throughReshapes(op.getInput()), w = throughReshapes(op.getFilter());
  size_t spatial = op.getStrides().size();
  if (!isArgument(x) || !isArgument(w) || spatial < 1 ||
      spatial > APRT_CONV_MAX_SPATIAL)
    return std::nullopt;
  LibraryCall call;
  call.isGemm = false;
  call.a = numberOf(x);
  call.b = numberOf(w);
  ArrayRef<int64_t> in = shapeOf(op.getInput()),
                    filter = shapeOf(op.getFilter());
  ArrayRef<int64_t> out = shapeOf(op.getResult());
  std::optional<bool> last = isChannelsLast(kernel, op, epilogue);
  if (!last)
    return std::nullopt;
  std::vector<int64_t> &words = call.descriptor;
  words.push_back(dtypeNumber(op.getType().getElementType()));
  words.push_back(spatial);
  llvm::append_range(words,
                     ArrayRef<int64_t>{in[0], in[1], out[1],
                                       static_cast<int64_t>(op.getGroups())});
  append(words, in.drop_front(2), APRT_CONV_MAX_SPATIAL, 1);
  append(words, filter.drop_front(2), APRT_CONV_MAX_SPATIAL, 1);
  append(words, out.drop_front(2), APRT_CONV_MAX_SPATIAL, 1);
  append(words, op.getStrides(), APRT_CONV_MAX_SPATIAL, 1);
  append(words, op.getDilations(), APRT_CONV_MAX_SPATIAL, 1);
  append(words, op.getPadLow(), APRT_CONV_MAX_SPATIAL, 0);
  append(words, op.getPadHigh(), APRT_CONV_MAX_SPATIAL, 0);
  words.push_back(epilogue.bias ? 1 : 0);
  words.push_back(epilogue.addend ? 1 : 0);
  words.push_back(epilogue.activation);
  call.slotWord = words.size();
  llvm::append_range(words, ArrayRef<int64_t>{-1, *last});
  return call;
}

} // namespace

static_assert(sizeof(aprt_gemm_desc) / sizeof(int64_t) ==
              2 + APRT_GEMM_MAX_BATCH + 3 + 3 * (APRT_GEMM_MAX_BATCH + 2) + 4);
static_assert(sizeof(aprt_conv_desc) / sizeof(int64_t) ==
              6 + 7 * APRT_CONV_MAX_SPATIAL + 5);

std::optional<LibraryCall> matchLibraryCall(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  Operation *root = nullptr;
  for (Operation &op : body)
    if (isa<EinsumOp, ConvolutionOp>(op)) {
      if (root)
        return std::nullopt;
      root = &op;
    }
  if (!root || body.getTerminator()->getNumOperands() != 1)
    return std::nullopt;
  std::optional<Epilogue> epilogue = matchEpilogue(root);
  if (!epilogue || (isa<EinsumOp>(root) && !isRowMajor(kernel)))
    return std::nullopt;
  std::optional<LibraryCall> call =
      isa<EinsumOp>(root)
          ? gemmCall(cast<EinsumOp>(root), *epilogue)
          : convCall(kernel, cast<ConvolutionOp>(root), *epilogue);
  if (!call)
    return std::nullopt;
  call->bias = numberOf(epilogue->bias);
  call->addend = numberOf(epilogue->addend);
  call->result = kernel.getInputs().size();
  return call;
}

} // namespace autopar
