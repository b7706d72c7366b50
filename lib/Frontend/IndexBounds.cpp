//===- IndexBounds.cpp - Which indices an input may have ------------------===//

#include "IndexBounds.h"
#include "OnnxImporter.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar {

TensorPart TensorPart::whole(Value tensor) {
  ArrayRef<int64_t> shape = shapeOf(tensor);
  return {tensor, SmallVector<int64_t>(shape.size(), 0),
          SmallVector<int64_t>(shape)};
}

//===----------------------------------------------------------------------===//
// Movement: a part of a result is parts of operands
//===----------------------------------------------------------------------===//

namespace {

/// The parts of an op's operands that a part of its result has the elements
/// of; none for an op that computes, or where they are no box.
class PartMover {
public:
  explicit PartMover(const TensorPart &part) : part(part) {}

  SmallVector<TensorPart> move() {
    Operation *op = part.tensor.getDefiningOp();
    using Parts = SmallVector<TensorPart>;
    return llvm::TypeSwitch<Operation *, Parts>(op)
        .Case<ConvertOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp, ConcatOp,
              GatherOp>([&](auto typed) { return of(typed); })
        .Default(Parts());
  }

private:
  SmallVector<TensorPart> of(ConvertOp op);
  SmallVector<TensorPart> of(ReshapeOp op);
  SmallVector<TensorPart> of(TransposeOp op);
  SmallVector<TensorPart> of(BroadcastOp op);
  SmallVector<TensorPart> of(SliceOp op);
  SmallVector<TensorPart> of(ConcatOp op);
  SmallVector<TensorPart> of(GatherOp op);

  /// Returns whether the part has all of the result's dimensions [first, end).
  bool isWhole(size_t first, size_t end) const;

  const TensorPart &part;
};

} // namespace

bool PartMover::isWhole(size_t first, size_t end) const {
  ArrayRef<int64_t> shape = shapeOf(part.tensor);
  for (size_t d = first; d < end; ++d)
    if (part.starts[d] != 0 || part.sizes[d] != shape[d])
      return false;
  return true;
}

/// Exporters write indices of 64 bits as 32: a number that those cut to an
/// index is taken for a wrong one. What fewer bits cut is computed.
SmallVector<TensorPart> PartMover::of(ConvertOp op) {
  auto from = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getInput()));
  auto to = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getResult()));
  if (!from || !to || from.getWidth() == 1 ||
      to.getWidth() < std::min(from.getWidth(), 32u))
    return {};
  return {{op.getInput(), part.starts, part.sizes}};
}

/// The end of the shortest run of dimensions from `first` on, in either shape,
/// that have as many elements.
static std::pair<size_t, size_t> endOfRun(ArrayRef<int64_t> a, size_t firstOfA,
                                          ArrayRef<int64_t> b,
                                          size_t firstOfB) {
  int64_t ofA = 1, ofB = 1;
  do {
    if (firstOfB == b.size() || (firstOfA < a.size() && ofA <= ofB))
      ofA *= a[firstOfA++];
    else
      ofB *= b[firstOfB++];
  } while (ofA != ofB);
  return {firstOfA, firstOfB};
}

/// The one of the dimensions [first, end) that is not of size 1; none if there
/// are more. Without any, the first one.
static std::optional<size_t> onlyDim(ArrayRef<int64_t> shape, size_t first,
                                     size_t end) {
  std::optional<size_t> found;
  for (size_t d = first; d < end; ++d)
    if (shape[d] != 1) {
      if (found)
        return std::nullopt;
      found = d;
    }
  return found ? found : first < end ? std::optional(first) : std::nullopt;
}

/// Dimensions that the reshape splits or joins must be there as a whole.
SmallVector<TensorPart> PartMover::of(ReshapeOp op) {
  TensorPart moved = TensorPart::whole(op.getInput());
  ArrayRef<int64_t> from = shapeOf(op.getInput()), to = shapeOf(part.tensor);
  size_t input = 0, result = 0;
  while (input < from.size() || result < to.size()) {
    auto [inputEnd, resultEnd] = endOfRun(from, input, to, result);
    if (!isWhole(result, resultEnd)) {
      auto a = onlyDim(from, input, inputEnd),
           b = onlyDim(to, result, resultEnd);
      if (!a || !b)
        return {};
      moved.starts[*a] = part.starts[*b];
      moved.sizes[*a] = part.sizes[*b];
    }
    input = inputEnd;
    result = resultEnd;
  }
  return {moved};
}

SmallVector<TensorPart> PartMover::of(TransposeOp op) {
  TensorPart moved = TensorPart::whole(op.getInput());
  for (auto [i, dim] : llvm::enumerate(op.getPerm())) {
    moved.starts[dim] = part.starts[i];
    moved.sizes[dim] = part.sizes[i];
  }
  return {moved};
}

SmallVector<TensorPart> PartMover::of(BroadcastOp op) {
  TensorPart moved = TensorPart::whole(op.getInput());
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    if (moved.sizes[i] != 1) {
      moved.starts[i] = part.starts[dim];
      moved.sizes[i] = part.sizes[dim];
    }
  return {moved};
}

SmallVector<TensorPart> PartMover::of(SliceOp op) {
  TensorPart moved{op.getInput(), part.starts, part.sizes};
  for (size_t d = 0; d < part.sizes.size(); ++d) {
    int64_t step = op.getSteps()[d];
    if (part.sizes[d] > 1 && step != 1 && step != -1)
      return {};
    // Backwards, the last element of the part comes first in the operand.
    int64_t first =
        part.starts[d] + (step < 0 ? part.sizes[d] - 1 : int64_t(0));
    moved.starts[d] = op.getStarts()[d] + first * step;
  }
  return {moved};
}

SmallVector<TensorPart> PartMover::of(ConcatOp op) {
  SmallVector<TensorPart> parts;
  int64_t dim = op.getDim(), start = 0;
  for (Value input : op.getInputs()) {
    int64_t end = start + shapeOf(input)[dim];
    int64_t first = std::max(part.starts[dim], start);
    int64_t last = std::min(part.starts[dim] + part.sizes[dim], end);
    if (first < last) {
      parts.push_back({input, part.starts, part.sizes});
      parts.back().starts[dim] = first - start;
      parts.back().sizes[dim] = last - first;
    }
    start = end;
  }
  return parts;
}

/// A gather of one known position is a slice: exporters write `ids[:, 1]` so.
SmallVector<TensorPart> PartMover::of(GatherOp op) {
  auto constant = op.getIndices().getDefiningOp<ConstantOp>();
  auto known = constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue())
                        : DenseIntElementsAttr();
  if (!known || known.getNumElements() != 1)
    return {};
  TensorPart moved = TensorPart::whole(op.getData());
  int64_t dim = op.getDim(), rank = shapeOf(op.getIndices()).size();
  int64_t at = (*known.value_begin<APInt>()).getSExtValue();
  at = at < 0 ? at + moved.sizes[dim] : at;
  if (at < 0 || at >= moved.sizes[dim])
    return {};
  for (int64_t d = 0; d < int64_t(moved.sizes.size()); ++d) {
    int64_t from = d < dim ? d : d + rank - 1;
    moved.starts[d] = d == dim ? at : part.starts[from];
    moved.sizes[d] = d == dim ? 1 : part.sizes[from];
  }
  return {moved};
}

/// An end to chains of concats that read one value again and again.
static constexpr unsigned kMostParts = 10000;

SmallVector<TensorPart> partsOfArguments(const TensorPart &part) {
  SmallVector<TensorPart> found, parts{part};
  for (unsigned seen = 0; !parts.empty() && seen < kMostParts; ++seen) {
    TensorPart next = parts.pop_back_val();
    if (llvm::is_contained(next.sizes, 0))
      continue;
    if (isa<BlockArgument>(next.tensor))
      found.push_back(next);
    else
      llvm::append_range(parts, PartMover(next).move());
  }
  return found;
}

//===----------------------------------------------------------------------===//
// The bounds of inputs
//===----------------------------------------------------------------------===//

namespace {

/// A part of an input whose elements are all indices.
struct IndexBound {
  TensorPart part;
  IndexedDim indexed;
};

/// Collects the bounds of inputs. Parts that join are one, and of a part that
/// several tables take indices from the smallest one counts.
class BoundCollector {
public:
  void add(const TensorPart &part, const IndexedDim &indexed);
  ArrayAttr describe(func::FuncOp step) const;

private:
  SmallVector<IndexBound> bounds;
};

} // namespace

static bool isSame(const IndexedDim &a, const IndexedDim &b) {
  return a.table == b.table && a.dim == b.dim && a.size == b.size;
}

/// Makes `known` have `more` too, where both together are a box.
static bool join(TensorPart &known, const TensorPart &more) {
  std::optional<size_t> along;
  for (size_t d = 0; d < known.sizes.size(); ++d) {
    if (known.starts[d] == more.starts[d] && known.sizes[d] == more.sizes[d])
      continue;
    bool touches = known.starts[d] <= more.starts[d] + more.sizes[d] &&
                   more.starts[d] <= known.starts[d] + known.sizes[d];
    if (along || !touches)
      return false;
    along = d;
  }
  if (!along)
    return true;
  int64_t &start = known.starts[*along], &size = known.sizes[*along];
  int64_t end =
      std::max(start + size, more.starts[*along] + more.sizes[*along]);
  start = std::min(start, more.starts[*along]);
  size = end - start;
  return true;
}

void BoundCollector::add(const TensorPart &part, const IndexedDim &indexed) {
  for (IndexBound &known : bounds) {
    if (known.part.tensor != part.tensor)
      continue;
    if (known.part.starts == part.starts && known.part.sizes == part.sizes) {
      if (indexed.size < known.indexed.size)
        known.indexed = indexed;
      return;
    }
    if (isSame(known.indexed, indexed) && join(known.part, part))
      return;
  }
  bounds.push_back({part, indexed});
}

ArrayAttr BoundCollector::describe(func::FuncOp step) const {
  Builder builder(step.getContext());
  SmallVector<Attribute> entries;
  for (const auto &[part, indexed] : bounds) {
    auto argument = cast<BlockArgument>(part.tensor);
    auto input = step.getArgAttrOfType<InputAttr>(argument.getArgNumber(),
                                                  AutoparDialect::kSource);
    entries.push_back(IndexBoundAttr::get(
        step.getContext(), input.getName(), indexed.table,
        builder.getI64IntegerAttr(indexed.dim), /*text=*/StringAttr(),
        indexed.size, /*ignored=*/IntegerAttr(),
        builder.getDenseI64ArrayAttr(shapeOf(argument)),
        builder.getDenseI64ArrayAttr(part.starts),
        builder.getDenseI64ArrayAttr(part.sizes)));
  }
  return builder.getArrayAttr(entries);
}

ArrayAttr findIndexBounds(func::FuncOp step, ArrayRef<IndexUse> uses) {
  llvm::DenseSet<Operation *> alive;
  for (Operation &op : step.getBody().front())
    alive.insert(&op);
  BoundCollector bounds;
  for (const IndexUse &use : uses)
    if (alive.contains(use.user))
      bounds.add(use.indices, use.indexed);
  return bounds.describe(step);
}

//===----------------------------------------------------------------------===//
// During import
//===----------------------------------------------------------------------===//

/// The name of an input or a weight, or that of the node's value which the
/// tensor was first; where it has none, `here`.
static StringAttr nameOf(Value tensor, Attribute source, StringAttr here) {
  if (auto parameter = dyn_cast_or_null<ParameterAttr>(source))
    return parameter.getName();
  if (auto input = dyn_cast_or_null<InputAttr>(source))
    return input.getName();
  Operation *op = tensor.getDefiningOp();
  auto names =
      op ? op->getAttrOfType<ArrayAttr>(AutoparDialect::kNames) : ArrayAttr();
  return names && !names.empty() ? cast<StringAttr>(names[0]) : here;
}

/// A model is imported at other sizes to see which dimensions grow from step to
/// step: those of a weight do not.
void OnnxImporter::recordIndices(Value result, const TensorPart &indices,
                                 StringRef tableName, Value table,
                                 int64_t dim) {
  auto argument = dyn_cast<BlockArgument>(table);
  Attribute source = argument ? sources[argument.getArgNumber()] : Attribute();
  Operation *user = result.getDefiningOp();
  if (runs || !user || (keepsAll && !isa_and_nonnull<ParameterAttr>(source)))
    return;
  StringAttr name =
      nameOf(table, source, builder.getStringAttr(scope->prefix + tableName));
  for (const TensorPart &part : partsOfArguments(indices)) {
    auto argument = cast<BlockArgument>(part.tensor);
    if (isa<InputAttr>(sources[argument.getArgNumber()]))
      indexUses.push_back({user, part, {name, dim, shapeOf(table)[dim]}});
  }
}

void OnnxNode::recordIndices(Value result, unsigned table, unsigned indices,
                             int64_t dim) {
  importer.recordIndices(result, TensorPart::whole(inputs[indices]),
                         proto.input(table), inputs[table], dim);
}

void OnnxNode::recordIndexRows(Value result, unsigned table, unsigned indices,
                               int64_t firstDim) {
  TensorPart column = TensorPart::whole(inputs[indices]);
  int64_t depth = column.sizes.back();
  column.sizes.back() = 1;
  for (int64_t &at = column.starts.back(); at < depth; ++at)
    importer.recordIndices(result, column, proto.input(table), inputs[table],
                           firstDim + at);
}

} // namespace autopar
