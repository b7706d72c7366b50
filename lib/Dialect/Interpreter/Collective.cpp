//===- Collective.cpp - Collectives and position ops over all points ------===//

#include "Evaluate.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "autopar/Dialect/OpTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar::interpreter {

/// Returns the sub-axes of the op's axes, in the order given.
static FailureOr<SmallVector<unsigned>> resolveAxes(MeshAxesOpInterface op,
                                                    const Mesh &mesh) {
  SmallVector<unsigned> subAxes;
  for (auto axis : op.getAxes().getAsRange<StringAttr>()) {
    std::optional<SmallVector<unsigned>> found = mesh.lookup(axis);
    if (!found)
      return op->emitError() << "the mesh has no axis " << axis;
    for (unsigned subAxis : *found) {
      if (llvm::is_contained(subAxes, subAxis))
        return op->emitError() << "axis " << axis << " is there twice";
      subAxes.push_back(subAxis);
    }
  }
  return subAxes;
}

namespace {
/// A tensor seen as [outer, dim, inner].
struct View {
  int64_t outer = 1, size, inner = 1;

  View(ArrayRef<int64_t> shape, int64_t dim) : size(shape[dim]) {
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      (d < dim ? outer : inner) *= d == dim ? 1 : shape[d];
  }
  int64_t at(int64_t o, int64_t d, int64_t i) const {
    return (o * size + d) * inner + i;
  }
};

/// Element `position` of a dimension, held by `part`.
struct Source {
  const Tensor *part;
  int64_t position;
};
} // namespace

/// result[.., d, ..] along `dim` = what source(d) names; garbage without a
/// part.
template <typename Pick>
static void pickAlong(Tensor &result, int64_t dim, Pick pick) {
  View to(result.shape(), dim);
  for (int64_t d = 0; d < to.size; ++d) {
    Source source = pick(d);
    if (!source.part)
      continue;
    View from(source.part->shape(), dim);
    for (int64_t o = 0; o < to.outer; ++o)
      for (int64_t i = 0; i < to.inner; ++i)
        result.copy(to.at(o, d, i), *source.part,
                    from.at(o, source.position, i));
  }
}

//===----------------------------------------------------------------------===//
// One member's result
//===----------------------------------------------------------------------===//

using Parts = ArrayRef<const Tensor *>;

static void collect(AllReduceOp op, Parts parts, int64_t, Tensor &result) {
  result = reduceTensors(op.getKind(), parts);
}

static void collect(AllGatherOp op, Parts parts, int64_t, Tensor &result) {
  int64_t dim = op.getDim(), block = parts.front()->dim(dim);
  pickAlong(result, dim, [&](int64_t d) {
    return d / block < int64_t(parts.size())
               ? Source{parts[d / block], d % block}
               : Source{nullptr, 0};
  });
}

static void collect(ReduceScatterOp op, Parts parts, int64_t member,
                    Tensor &result) {
  Tensor whole = reduceTensors(op.getKind(), parts);
  int64_t dim = op.getDim(), start = member * result.dim(dim);
  pickAlong(result, dim, [&](int64_t d) {
    return start + d < whole.dim(dim) ? Source{&whole, start + d}
                                      : Source{nullptr, 0};
  });
}

static void collect(AllToAllOp op, Parts parts, int64_t member,
                    Tensor &result) {
  int64_t concat = op.getConcatDim(), split = op.getSplitDim();
  int64_t block = parts.front()->dim(concat);
  int64_t start = member * result.dim(split);
  SmallVector<int64_t> strides = stridesOf(parts.front()->shape());
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t holder = index[concat] / block;
    if (holder >= int64_t(parts.size()) ||
        start + index[split] >= parts.front()->dim(split))
      return;
    int64_t position = start * strides[split];
    for (size_t d = 0; d < index.size(); ++d)
      position +=
          strides[d] * (int64_t(d) == concat ? index[d] % block : index[d]);
    result.copy(i, *parts[holder], position);
  });
}

static void collect(HaloOp op, Parts parts, int64_t member, Tensor &result) {
  int64_t dim = op.getDim(), block = parts.front()->dim(dim);
  int64_t start = member * int64_t(op.getStep()) + int64_t(op.getOffset());
  SmallVector<int64_t> layer(parts.front()->shape());
  layer[dim] = 1; // blocks may be empty
  Tensor outside(parts.front()->type.clone(layer));
  outside.fill(op.getFill().convertToDouble());
  pickAlong(result, dim, [&](int64_t d) {
    int64_t position = start + d;
    if (position < 0 || position >= int64_t(op.getSize()))
      return Source{&outside, 0};
    if (position / block >= int64_t(parts.size()))
      return Source{nullptr, 0};
    return Source{parts[position / block], position % block};
  });
}

static void collect(CollectiveBroadcastOp op, Parts parts, int64_t,
                    Tensor &result) {
  result = *parts[op.getRoot()];
}

namespace {
struct Collect {
  template <typename OpT>
  auto operator()(OpT op, Parts parts, int64_t member, Tensor &result) const
      -> decltype(collect(op, parts, member, result)) {
    collect(op, parts, member, result);
  }
};
} // namespace

/// The function that computes the result of one member; null if the op is no
/// collective.
static auto collectOf(Operation *op) {
  static const auto table =
      OpTable<void, Parts, int64_t, Tensor &>::of(Collect());
  return table.find(op);
}

bool isCollective(Operation *op) { return collectOf(op); }

FailureOr<Everywhere> evaluateCollective(Operation *op, const Everywhere &input,
                                         RankedTensorType type,
                                         const Mesh &mesh) {
  auto subAxes = resolveAxes(cast<MeshAxesOpInterface>(op), mesh);
  if (failed(subAxes))
    return failure();
  if (llvm::any_of(*subAxes, [&](unsigned subAxis) {
        return mesh.subAxes()[subAxis].time;
      }))
    return op->emitError() << "devices cannot communicate over time";
  Everywhere results;
  for (int64_t point = 0; point < mesh.pointCount(); ++point) {
    SmallVector<const Tensor *> parts;
    for (int64_t member : mesh.group(*subAxes, point))
      parts.push_back(input[member].get());
    auto result = std::make_shared<Tensor>(type);
    result->fillGarbage();
    int64_t index = mesh.linearIndex(*subAxes, point);
    (*collectOf(op))(op, parts, index, *result);
    results.push_back(std::move(result));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Position ops
//===----------------------------------------------------------------------===//

static void place(SliceBlockOp op, Operands in, int64_t index, Tensor &result) {
  result.fillGarbage();
  int64_t dim = op.getDim(), start = index * result.dim(dim);
  pickAlong(result, dim, [&](int64_t d) {
    return start + d < in[0]->dim(dim) ? Source{in[0], start + d}
                                       : Source{nullptr, 0};
  });
}

static void place(MaskOp op, Operands in, int64_t index, Tensor &result) {
  result = *in[0];
  View view(result.shape(), op.getDim());
  double value = op.getValue().convertToDouble();
  for (int64_t d = 0; d < view.size; ++d) {
    if (index * view.size + d < int64_t(op.getSize()))
      continue;
    for (int64_t o = 0; o < view.outer; ++o)
      for (int64_t i = 0; i < view.inner; ++i)
        result.set(view.at(o, d, i), value);
  }
}

static void place(KeepFirstOp op, Operands in, int64_t index, Tensor &result) {
  if (index == 0)
    result = *in[0];
  else
    result.fill(neutralElement(op.getKind()));
}

static void place(BlockOffsetOp op, Operands, int64_t index, Tensor &result) {
  result.setInt(0, index * int64_t(op.getBlock()));
}

bool isPosition(Operation *op) {
  return isa<SliceBlockOp, MaskOp, KeepFirstOp, BlockOffsetOp>(op);
}

FailureOr<Tensor> evaluatePosition(Operation *op, Operands operands,
                                   const Mesh &mesh, int64_t point) {
  auto subAxes = resolveAxes(cast<MeshAxesOpInterface>(op), mesh);
  if (failed(subAxes))
    return failure();
  Tensor result = emptyResult(op);
  int64_t index = mesh.linearIndex(*subAxes, point);
  llvm::TypeSwitch<Operation *>(op)
      .Case<SliceBlockOp, MaskOp, KeepFirstOp, BlockOffsetOp>(
          [&](auto typed) { place(typed, operands, index, result); });
  return result;
}

} // namespace autopar::interpreter
