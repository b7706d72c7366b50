//===- ApplyStructural.cpp - What collectives do to a held value ----------===//
//
// Each structural op has a function here. It computes what the local value
// holds after the op, or reports why it would hold no part of the global value
// any more.
//
//===----------------------------------------------------------------------===//

#include "HeldValue.h"
#include "autopar/Dialect/OpTable.h"

using namespace mlir;

namespace autopar {

namespace {

/// Applies one structural op to the value that it reads.
class Structural {
public:
  Structural(Operation *op, HeldValue input, const Mesh &mesh)
      : op(op), held(std::move(input)), mesh(mesh) {}

  FailureOr<HeldValue> run(FlatSymbolRefAttr symbol) {
    auto meshOf = op->getAttrOfType<FlatSymbolRefAttr>("mesh");
    auto axes = op->getAttrOfType<ArrayAttr>("axes");
    if (!meshOf || !axes)
      return op->emitError("is not an op of a local program");
    if (meshOf != symbol)
      return error() << "is on mesh " << meshOf << ", the module's is "
                     << symbol;
    if (failed(readAxes(axes)) || failed(dispatch()))
      return failure();
    return std::move(held);
  }

private:
  InFlightDiagnostic error() {
    return op->emitError() << "node '" << nodeName(op->getLoc()) << "': ";
  }
  std::string spell(ArrayRef<unsigned> list) const {
    return "\"" + llvm::join(mesh.spell(list), "\", \"") + "\"";
  }
  std::string sharding() const { return toString(held.sharding(), mesh); }

  LogicalResult readAxes(ArrayAttr axes) {
    for (auto axis : axes.getAsRange<StringAttr>()) {
      auto found = mesh.lookup(axis);
      if (!found)
        return error() << "the mesh has no axis " << axis;
      for (unsigned subAxis : *found) {
        if (llvm::is_contained(subAxes, subAxis))
          return error() << "axis " << axis << " is there twice";
        subAxes.push_back(subAxis);
      }
    }
    return success();
  }

  /// The overloads of `apply`, for the table.
  struct Apply;
  LogicalResult dispatch();

  LogicalResult apply(AllReduceOp reduce) {
    return endPartial(reduce.getKind());
  }

  LogicalResult apply(AllGatherOp gather) {
    return removeMinor(gather.getDim());
  }

  LogicalResult apply(ReduceScatterOp scatter) {
    if (failed(endPartial(scatter.getKind())))
      return failure();
    return appendMinor(scatter.getDim());
  }

  LogicalResult apply(AllToAllOp exchange) {
    if (exchange.getConcatDim() == exchange.getSplitDim())
      return error() << "moves axes from a dimension to itself";
    if (failed(removeMinor(exchange.getConcatDim())))
      return failure();
    return appendMinor(exchange.getSplitDim());
  }

  LogicalResult apply(SliceBlockOp slice) {
    return appendMinor(slice.getDim());
  }

  LogicalResult apply(KeepFirstOp keep);
  LogicalResult apply(MaskOp mask);
  LogicalResult apply(HaloOp halo);
  LogicalResult apply(CollectiveBroadcastOp broadcast);

  LogicalResult checkDim(int64_t dim) {
    if (dim >= 0 && dim < int64_t(held.dims.size()))
      return success();
    return error() << "there is no dimension " << dim;
  }
  LogicalResult checkPlain(int64_t dim) {
    if (failed(checkDim(dim)))
      return failure();
    if (!held.dims[dim].interval)
      return success();
    return error() << "dimension " << dim
                   << " is an interval, not blocks: use the value before its "
                      "halo";
  }

  /// Blocks over `major` are `k` blocks over `major` and `k` more, in a row.
  bool nests(int64_t dim, ArrayRef<unsigned> major, int64_t k) const {
    int64_t n = held.globalShape()[dim], m = mesh.product(major);
    return m == 1 || ceilDiv(n, m) == k * ceilDiv(n, m * k);
  }

  LogicalResult endPartial(ReduceKind kind);
  /// The value is partial over the op's axes no more.
  void forgetPartial();
  LogicalResult removeMinor(int64_t dim);
  LogicalResult appendMinor(int64_t dim);
  LogicalResult checkUnused();

  Operation *op;
  HeldValue held;
  const Mesh &mesh;
  SmallVector<unsigned> subAxes;
};

struct Structural::Apply {
  template <typename OpT>
  auto operator()(OpT op, Structural &structural) const
      -> decltype(structural.apply(op)) {
    return structural.apply(op);
  }
};

} // namespace

LogicalResult Structural::dispatch() {
  bool local = isa<SliceBlockOp, MaskOp, KeepFirstOp>(op);
  for (unsigned subAxis : subAxes)
    if (!local && mesh.subAxes()[subAxis].time)
      return error() << "micro-batches cannot exchange data over axis "
                     << spell(subAxis) << ": keep the value split over it";
  static const auto table = OpTable<LogicalResult, Structural &>::of(Apply());
  auto *applied = table.find(op);
  if (!applied)
    return op->emitError("is not an op of a local program");
  return (*applied)(op, *this);
}

LogicalResult Structural::endPartial(ReduceKind kind) {
  for (unsigned subAxis : subAxes) {
    const Partial *partial = held.partialOver(subAxis);
    if (!partial)
      return error() << "the operand is not partial over axis "
                     << spell(subAxis) << ": reducing would count it "
                     << mesh.subAxes()[subAxis].size
                     << " times or mix blocks; it is sharded " << sharding()
                     << ". Remove the op, or name the axis that is partial";
    if (partial->kind != kind)
      return error() << "reduces by " << stringifyReduceKind(kind)
                     << " what is partial by "
                     << stringifyReduceKind(partial->kind) << " over axis "
                     << spell(subAxis) << ": reduce by "
                     << stringifyReduceKind(partial->kind);
  }
  forgetPartial();
  for (HeldDim &dim : held.dims)
    if (dim.past && *dim.past != neutralElement(kind))
      dim.past.reset();
  return success();
}

void Structural::forgetPartial() {
  auto along = [&](unsigned subAxis) {
    return llvm::is_contained(subAxes, subAxis);
  };
  llvm::erase_if(held.partial, [&](const Partial &partial) {
    return along(partial.subAxis);
  });
  llvm::erase_if(held.firstOnly, along);
}

LogicalResult Structural::removeMinor(int64_t dim) {
  if (failed(checkPlain(dim)))
    return failure();
  HeldDim &heldDim = held.dims[dim];
  if (subAxes.size() > heldDim.subAxes.size() ||
      ArrayRef<unsigned>(heldDim.subAxes).take_back(subAxes.size()) !=
          ArrayRef<unsigned>(subAxes))
    return error() << "dimension " << dim
                   << " is not split over these axes as its minor ones: it "
                      "is sharded "
                   << sharding()
                   << ". Gather over the last axes of the dimension";
  ArrayRef<unsigned> rest =
      ArrayRef<unsigned>(heldDim.subAxes).drop_back(subAxes.size());
  if (!nests(dim, rest, mesh.product(subAxes)))
    return error() << "blocks of " << held.globalShape()[dim]
                   << " elements over " << spell(rest)
                   << " are not whole rows of blocks over "
                   << spell(heldDim.subAxes) << ": gather the whole dimension";
  heldDim.subAxes.truncate(rest.size());
  if (heldDim.subAxes.empty())
    heldDim.past.reset();
  return success();
}

LogicalResult Structural::checkUnused() {
  for (unsigned subAxis : subAxes)
    if (held.usesSubAxis(subAxis))
      return error() << "the operand is already sharded over axis "
                     << spell(subAxis) << ": " << sharding()
                     << ". Take an axis that it does not use";
  return success();
}

LogicalResult Structural::appendMinor(int64_t dim) {
  if (failed(checkPlain(dim)) || failed(checkUnused()))
    return failure();
  HeldDim &heldDim = held.dims[dim];
  if (!nests(dim, heldDim.subAxes, mesh.product(subAxes)))
    return error() << "blocks of " << held.globalShape()[dim]
                   << " elements over " << spell(heldDim.subAxes)
                   << " do not split into blocks over " << spell(subAxes)
                   << " too: split the whole dimension at once";
  bool whole = heldDim.subAxes.empty();
  llvm::append_range(heldDim.subAxes, subAxes);
  if (whole)
    heldDim.past.reset();
  return success();
}

/// Bytes outside of the value (fill, and past the extent) stay known only if
/// they are the neutral element, too.
LogicalResult Structural::apply(KeepFirstOp keep) {
  if (failed(checkUnused()))
    return failure();
  double neutral = neutralElement(keep.getKind());
  for (auto [index, dim] : llvm::enumerate(held.dims)) {
    if (dim.interval && dim.fill != neutral)
      return error() << "dimension " << index << " is an interval filled with "
                     << dim.fill << ": make the value partial before its halo";
    if (dim.past && *dim.past != neutral)
      dim.past.reset();
  }
  for (const Partial &partial : held.partial)
    if (partial.kind != keep.getKind())
      return error() << "makes a value that is partial by "
                     << stringifyReduceKind(partial.kind) << " partial by "
                     << stringifyReduceKind(keep.getKind())
                     << " too: their order would matter; end the first before";
  for (unsigned subAxis : subAxes)
    held.partial.push_back({subAxis, keep.getKind()});
  llvm::append_range(held.firstOnly, subAxes);
  llvm::sort(held.partial, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
  return success();
}

LogicalResult Structural::apply(MaskOp mask) {
  int64_t dim = mask.getDim();
  if (failed(checkPlain(dim)))
    return failure();
  if (ArrayRef<unsigned>(subAxes) != ArrayRef<unsigned>(held.dims[dim].subAxes))
    return error() << "its positions are along axes " << spell(subAxes)
                   << ", but dimension " << dim << " is sharded over "
                   << spell(held.dims[dim].subAxes);
  if (int64_t(mask.getSize()) != held.globalShape()[dim])
    return error() << "masks from position " << mask.getSize()
                   << ", but dimension " << dim << " has "
                   << held.globalShape()[dim] << " elements";
  double value = mask.getValue().convertToDouble();
  for (HeldDim &other : held.dims)
    if (other.past && *other.past != value)
      other.past.reset();
  held.dims[dim].past = value;
  return success();
}

LogicalResult Structural::apply(HaloOp halo) {
  int64_t dim = halo.getDim();
  if (failed(checkPlain(dim)))
    return failure();
  HeldDim &heldDim = held.dims[dim];
  if (ArrayRef<unsigned>(subAxes) != ArrayRef<unsigned>(heldDim.subAxes))
    return error() << "fetches along axes " << spell(subAxes)
                   << ", but dimension " << dim << " is sharded over "
                   << spell(heldDim.subAxes);
  if (int64_t(halo.getSize()) != held.globalShape()[dim])
    return error() << "says dimension " << dim << " has " << halo.getSize()
                   << " elements; it has " << held.globalShape()[dim];
  auto result = dyn_cast<RankedTensorType>(halo.getResult().getType());
  if (!result || result.getRank() != int64_t(held.dims.size()))
    return error() << "the result's rank is not the operand's";
  double fill = halo.getFill().convertToDouble();
  for (const Partial &partial : held.partial)
    if (fill != neutralElement(partial.kind))
      return error() << "fills with " << fill << " a value that is partial by "
                     << stringifyReduceKind(partial.kind)
                     << ": end the partial value first";
  heldDim.interval =
      Interval{int64_t(halo.getStep()), int64_t(halo.getOffset()),
               result.getDimSize(dim)};
  heldDim.fill = fill;
  // Fetched elements are past the extents of the other devices, and so are
  // filled ones.
  heldDim.past.reset();
  for (HeldDim &other : held.dims)
    if (other.past && *other.past != fill)
      other.past.reset();
  return success();
}

/// All devices get the root's value. Each must have held that value before, or
/// the root must be the device that keep_first left it to.
LogicalResult Structural::apply(CollectiveBroadcastOp broadcast) {
  int64_t root = broadcast.getRoot(), rest = root;
  for (unsigned subAxis : llvm::reverse(subAxes)) {
    int64_t digit = rest % mesh.subAxes()[subAxis].size;
    rest /= mesh.subAxes()[subAxis].size;
    for (auto [index, dim] : llvm::enumerate(held.dims))
      if (llvm::is_contained(dim.subAxes, subAxis))
        return error() << "dimension " << index << " is split over axis "
                       << spell(subAxis) << ": all would hold the block of "
                       << "device " << root
                       << " in place of their own. Gather the dimension";
    if (!held.partialOver(subAxis))
      continue;
    if (!llvm::is_contained(held.firstOnly, subAxis))
      return error() << "the operand is partial over axis " << spell(subAxis)
                     << ": all would hold the term of device " << root
                     << " alone. Reduce it";
    if (digit != 0)
      return error() << "along axis " << spell(subAxis)
                     << " the first device holds the value, the others the "
                        "neutral element, and root "
                     << root
                     << " is not the first: take the first device as root";
  }
  forgetPartial();
  return success();
}

FailureOr<HeldValue> applyStructural(Operation *op, const HeldValue &input,
                                     const Mesh &mesh,
                                     FlatSymbolRefAttr symbol) {
  FailureOr<HeldValue> held = Structural(op, input, mesh).run(symbol);
  if (failed(held))
    return failure();
  Type expected = held->localType(mesh);
  if (op->getNumResults() != 1 || op->getResult(0).getType() != expected)
    return op->emitError() << "node '" << nodeName(op->getLoc())
                           << "': the result must be " << expected
                           << ", the local type of sharding "
                           << toString(held->sharding(), mesh);
  return held;
}

} // namespace autopar
