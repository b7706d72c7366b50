//===- OnnxOpsRandom.cpp - Ops that draw random numbers -------------------===//
//
// A random number is a function of its element's position, its node and the
// step: integer arithmetic of the dialect, so that it is the same however the
// tensor is sharded, and proved and emitted as anything else.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OnnxOps.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using llvm::Twine;

namespace autopar {
namespace {

constexpr double kTwo32 = 4294967296.0;

/// A permutation of 32-bit numbers whose output bits depend on all input bits:
/// shifts and factors are those of Wellons' hash-prospector with the least bias
/// for two rounds (github.com/skeeto/hash-prospector, issue 19).
Value scramble(OnnxNode &node, Value x) {
  auto foldBits = [&](double shift) {
    x = node.binary(BinaryKind::Xor, x, node.binary(BinaryKind::Shr, x, shift));
  };
  foldBits(16);
  x = node.binary(BinaryKind::Mul, x, double(0x21f0aaad));
  foldBits(15);
  x = node.binary(BinaryKind::Mul, x, double(0x735a2d97));
  foldBits(15);
  return x;
}

/// Uniform 32-bit numbers of a shape. Two keys of the node and the step stand
/// before and after the position is scrambled, so that no two nodes and steps
/// have one sequence, shifted.
Value randomBits(OnnxNode &node, ArrayRef<int64_t> shape) {
  auto bits =
      IntegerType::get(node.builder.getContext(), 32, IntegerType::Unsigned);
  std::string what =
      (Twine(node.nextRandomNumber()) + "," + Twine(node.trained()->seed) +
       "," + Twine(node.getInt("seed", 0)))
          .str();
  uint64_t salt = llvm::xxh3_64bits(what);
  Value step = node.convert(node.randomStep(), bits);
  auto key = [&](uint32_t half) {
    Value mixed = node.binary(BinaryKind::Xor, step, double(half));
    return node.broadcastDims(scramble(node, scramble(node, mixed)), shape, {});
  };
  Value x = key(uint32_t(salt));
  int64_t stride = 1;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    if (double(stride) * shape[dim] > kTwo32) { // positions of 32 bits
      x = scramble(node, x);
      stride = 1;
    }
    // Along one dimension: what no step changes is kept, and may not be large.
    Value along =
        node.binary(BinaryKind::Mul,
                    node.iota(RankedTensorType::get({shape[dim]}, bits), 0),
                    double(stride));
    x = node.binary(BinaryKind::Add, x,
                    node.broadcastDims(along, shape, {dim}));
    stride *= shape[dim];
  }
  x = scramble(node, x);
  x = node.binary(BinaryKind::Xor, x, key(uint32_t(salt >> 32)));
  return scramble(node, x);
}

/// The probability with which a node drops elements: in training the recipe's,
/// else its own where it is in training mode. Dropout before version 12 has no
/// mode: it drops in training, but for `is_test`.
FailureOr<double> dropoutRatio(OnnxNode &node, bool hasMode) {
  bool drops = !hasMode && !node.getInt("is_test", 0);
  if (hasMode && node.has(2)) {
    FailureOr<int64_t> training = node.scalarInt(2);
    if (failed(training))
      return failure();
    drops = *training;
    if (drops && !node.trained() && !node.evaluates())
      return node.error("training_mode is not supported in inference; add "
                        "--evaluate, or train the model with --train");
  }
  if (!node.trained())
    return 0.0;
  if (node.trained()->dropout)
    return *node.trained()->dropout;
  double ratio = node.getFloat("ratio", 0.5);
  if (hasMode && node.has(1) && drops) {
    std::optional<SmallVector<double>> known = node.knownNumbers(1);
    if (!known || known->size() != 1)
      return node.error("its ratio must be known while compiling, one number; "
                        "the recipe's 'dropout' replaces it" +
                        node.howToBind(1));
    ratio = known->front();
  }
  if (drops && !(ratio >= 0 && ratio < 1))
    return node.error(
        llvm::formatv("its ratio is {0}; it must be in [0, 1)", ratio).str());
  return drops ? ratio : 0;
}

template <bool hasMode> LogicalResult dropout(OnnxNode &node) {
  if (failed(node.requireFloat(0)))
    return failure();
  FailureOr<double> ratio = dropoutRatio(node, hasMode);
  if (failed(ratio))
    return failure();
  Value x = node.input(0);
  Value kept = node.splat(node.type(0).clone(node.builder.getI1Type()), 1);
  if (*ratio > 0) {
    for (int64_t size : node.shape(0))
      if (double(size) > kTwo32)
        return node.error("a dimension of more than 2^32 elements has no "
                          "random numbers of its own");
    Value bits = randomBits(node, node.shape(0));
    double below = std::min(std::round(*ratio * kTwo32), kTwo32 - 1);
    kept =
        node.compare(ComparePredicate::Ge, bits, node.splatLike(bits, below));
    Value scaled = node.binary(BinaryKind::Mul, x, 1 / (1 - *ratio));
    x = node.select(kept, scaled, node.splatLike(x, 0));
  }
  node.setOutput(0, x);
  if (node.wantsOutput(1))
    node.setOutput(1, kept);
  return success();
}

const OnnxOp kOps[] = {
    {"Dropout", "6", 1, 1, "is_test:int ratio:float", dropout<false>},
    {"Dropout", "7 10", 1, 1, "ratio:float", dropout<false>},
    {"Dropout", "12 13 22", 1, 3, "seed:int", dropout<true>},
};

} // namespace

ArrayRef<OnnxOp> randomOps() { return kOps; }

} // namespace autopar
