//===- CanonicalizePads.cpp - Sums of disjoint parts are joined -----------===//
//
// The gradient of a value that is read in slices is a sum of padded parts.
// The sum is their concatenation if the parts cover the value.
//
//===----------------------------------------------------------------------===//

#include "Canonicalize.h"

using namespace mlir;

namespace autopar {

/// Parts of one sum.
static constexpr size_t kMaxParts = 64;

namespace {
/// `value` stands at [begin, end) of dimension `dim`; all else is zero.
struct Part {
  Value value;
  int64_t dim, begin, end;
};
} // namespace

static std::optional<Part> partOf(Value value) {
  auto pad = value.getDefiningOp<PadOp>();
  if (!pad || !pad.getValue().isZero())
    return std::nullopt;
  std::optional<Part> part;
  for (auto [dim, low] : llvm::enumerate(pad.getLow())) {
    if (low == 0 && pad.getHigh()[dim] == 0)
      continue;
    if (part)
      return std::nullopt;
    part = Part{pad.getInput(), static_cast<int64_t>(dim), low,
                low + shapeOf(pad.getInput())[dim]};
  }
  return part;
}

/// The parts of a tree of sums; false if something else is added, too.
static bool collectParts(Value sum, SmallVectorImpl<Part> &parts) {
  if (std::optional<Part> part = partOf(sum)) {
    parts.push_back(*part);
    return parts.size() <= kMaxParts;
  }
  auto add = sum.getDefiningOp<BinaryOp>();
  return add && add.getKind() == BinaryKind::Add && add->hasOneUse() &&
         collectParts(add.getLhs(), parts) && collectParts(add.getRhs(), parts);
}

/// Sorts them; whether they follow each other from 0 to `size`.
static bool coverDim(SmallVectorImpl<Part> &parts, ArrayRef<int64_t> shape) {
  llvm::sort(parts,
             [](const Part &a, const Part &b) { return a.begin < b.begin; });
  int64_t dim = parts.front().dim, end = 0;
  for (const Part &part : parts) {
    if (part.dim != dim || part.begin != end)
      return false;
    end = part.end;
  }
  return end == shape[dim];
}

/// pad(a) + pad(b) => concat(a, b). A zero may change its sign.
static LogicalResult joinParts(BinaryOp op, PatternRewriter &rewriter) {
  SmallVector<Part> parts;
  if (op.getKind() != BinaryKind::Add || !collectParts(op.getLhs(), parts) ||
      !collectParts(op.getRhs(), parts) || !coverDim(parts, shapeOf(op)))
    return failure();
  auto values =
      llvm::map_to_vector(parts, [](Part part) { return part.value; });
  auto joined = ConcatOp::create(rewriter, op.getLoc(), op.getType(), values,
                                 parts.front().dim);
  joined->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, joined);
  return success();
}

void populatePadPatterns(RewritePatternSet &patterns) {
  patterns.add(joinParts);
}

} // namespace autopar
