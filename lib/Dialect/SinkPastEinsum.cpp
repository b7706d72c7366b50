//===- SinkPastEinsum.cpp - Contractions on unflattened operands ----------===//

#include "Canonicalize.h"
#include <map>

using namespace mlir;

namespace autopar {

namespace {
/// Letters of one einsum and the sizes that each splits into.
struct LetterSplits {
  std::map<char, SmallVector<int64_t, 2>> sizes;
  std::map<char, std::string> letters;

  /// A letter in both operands splits only if both split it alike.
  void add(StringRef term, Value operand,
           std::optional<Flattening> &flattening) {
    for (auto [dim, letter] : llvm::enumerate(term)) {
      SmallVector<int64_t, 2> split{shapeOf(operand)[dim]};
      if (flattening)
        split = flattening->sizes(dim);
      auto [known, isNew] = sizes.try_emplace(letter, split);
      if (!isNew && known->second != split)
        known->second.assign(1, shapeOf(operand)[dim]);
    }
  }
  /// Names the parts; false if letters run out or nothing splits.
  bool nameParts() {
    static constexpr StringLiteral alphabet =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t next = 0;
    bool splits = false;
    for (auto &[letter, parts] : sizes) {
      splits |= parts.size() > 1;
      letters[letter] = letter;
      for (size_t part = 1; part < parts.size(); ++part) {
        while (next < alphabet.size() && sizes.count(alphabet[next]))
          ++next;
        if (next == alphabet.size())
          return false;
        letters[letter] += alphabet[next++];
      }
    }
    return splits;
  }
  std::string spell(StringRef term) {
    std::string spelled;
    for (char letter : term)
      spelled += letters[letter];
    return spelled;
  }
  SmallVector<int64_t> shape(StringRef term) {
    SmallVector<int64_t> shape;
    for (char letter : term)
      llvm::append_range(shape, sizes[letter]);
    return shape;
  }
};
} // namespace

/// The operand before its flattening, as far as its letters split.
static Value unflatten(OpBuilder &builder, Value operand,
                       std::optional<Flattening> &flattening,
                       ArrayRef<int64_t> shape) {
  Value source = flattening ? flattening->reshape.getInput() : operand;
  return reshapeTo(builder, operand.getLoc(), source, shape);
}

/// einsum "mk,kn->mn" (reshape(x : b*s, k), w) -> reshape(einsum "msk,kn->msn")
static LogicalResult sinkPastEinsum(EinsumOp op, PatternRewriter &rewriter) {
  std::optional<Flattening> lhs = regroupingOf(op.getLhs());
  std::optional<Flattening> rhs = regroupingOf(op.getRhs());
  if (!lhs && !rhs)
    return failure();
  StringRef left = op.getLhsLetters(), right = op.getRhsLetters();
  StringRef result = op.getResultLetters();
  LetterSplits splits;
  splits.add(left, op.getLhs(), lhs);
  splits.add(right, op.getRhs(), rhs);
  if (!splits.nameParts())
    return failure();
  Operation *sunk = EinsumOp::create(
      rewriter, op.getLoc(), withShape(op.getResult(), splits.shape(result)),
      splits.spell(left) + "," + splits.spell(right) + "->" +
          splits.spell(result),
      unflatten(rewriter, op.getLhs(), lhs, splits.shape(left)),
      unflatten(rewriter, op.getRhs(), rhs, splits.shape(right)));
  sunk->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), sunk->getResult(0));
  return success();
}

void populateEinsumSinkPatterns(RewritePatternSet &patterns) {
  patterns.add(sinkPastEinsum);
}

} // namespace autopar
