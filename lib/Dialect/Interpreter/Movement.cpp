//===- Movement.cpp - Each result element is one operand element ----------===//

#include "Evaluate.h"

using namespace mlir;

namespace autopar::interpreter {

/// Row-major position of an index.
static int64_t positionOf(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape))
    position = position * size + i;
  return position;
}

/// result[index] = operand[source(index)].
template <typename Source>
static Tensor moveElements(Operation *op, const Tensor &operand,
                           Source source) {
  Tensor result = emptyResult(op);
  SmallVector<int64_t> from(operand.rank());
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    source(index, MutableArrayRef<int64_t>(from));
    result.copy(i, operand, positionOf(from, operand.shape()));
  });
  return result;
}

static Tensor evaluate(BroadcastOp op, Operands in) {
  return moveElements(op, *in[0],
                      [&](ArrayRef<int64_t> to, MutableArrayRef<int64_t> from) {
                        for (auto [i, dim] : llvm::enumerate(op.getDims()))
                          from[i] = in[0]->dim(i) == 1 ? 0 : to[dim];
                      });
}

static Tensor evaluate(ReshapeOp op, Operands in) {
  Tensor result = *in[0];
  result.type = cast<RankedTensorType>(op.getResult().getType());
  return result;
}

static Tensor evaluate(ReshardOp, Operands in) { return *in[0]; }
static Tensor evaluate(FunctionOp, Operands in) { return *in[0]; }

static Tensor evaluate(TransposeOp op, Operands in) {
  return moveElements(op, *in[0],
                      [&](ArrayRef<int64_t> to, MutableArrayRef<int64_t> from) {
                        for (auto [i, dim] : llvm::enumerate(op.getPerm()))
                          from[dim] = to[i];
                      });
}

static Tensor evaluate(SliceOp op, Operands in) {
  return moveElements(
      op, *in[0], [&](ArrayRef<int64_t> to, MutableArrayRef<int64_t> from) {
        for (size_t d = 0; d < to.size(); ++d)
          from[d] = op.getStarts()[d] + to[d] * op.getSteps()[d];
      });
}

static Tensor evaluate(PadOp op, Operands in) {
  Tensor result = emptyResult(op);
  result.fill(op.getValue().convertToDouble());
  SmallVector<int64_t> to(in[0]->rank());
  forEachIndex(in[0]->shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    for (size_t d = 0; d < index.size(); ++d)
      to[d] = index[d] + op.getLow()[d];
    result.copy(positionOf(to, result.shape()), *in[0], i);
  });
  return result;
}

static Tensor evaluate(ConcatOp op, Operands in) {
  Tensor result = emptyResult(op);
  int64_t start = 0;
  for (const Tensor *part : in) {
    SmallVector<int64_t> to;
    forEachIndex(part->shape(), [&](ArrayRef<int64_t> index, int64_t i) {
      to.assign(index.begin(), index.end());
      to[op.getDim()] += start;
      result.copy(positionOf(to, result.shape()), *part, i);
    });
    start += part->dim(op.getDim());
  }
  return result;
}

/// A negative index counts from the end; one outside is clamped, to 0 where
/// there is nothing.
static int64_t clampIndex(int64_t index, int64_t size) {
  if (index < 0 && index >= -size)
    index += size;
  return std::max<int64_t>(0, std::min(index, size - 1));
}

/// The row of the local block that an index means; nullopt: of another block.
template <typename OpT>
static std::optional<int64_t> localRow(OpT op, Operands in, int64_t index) {
  int64_t rows = in[0]->dim(op.getDim());
  int64_t row = clampIndex(index, op.getSize().value_or(rows));
  row -= op.getOffset() ? in[2]->ints[0] : 0;
  return row >= 0 && row < rows ? std::optional(row) : std::nullopt;
}

static Tensor evaluate(GatherElementsOp op, Operands in) {
  Tensor result = emptyResult(op);
  SmallVector<int64_t> from;
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    std::optional<int64_t> row = localRow(op, in, in[1]->ints[i]);
    if (!row)
      return;
    from.assign(index.begin(), index.end());
    from[op.getDim()] = *row;
    result.copy(i, *in[0], positionOf(from, in[0]->shape()));
  });
  return result;
}

static Tensor evaluate(GatherOp op, Operands in) {
  const Tensor &data = *in[0], &indices = *in[1];
  Tensor result = emptyResult(op);
  int64_t dim = op.getDim(), indexRank = indices.rank();
  SmallVector<int64_t> from(data.rank());
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    ArrayRef<int64_t> at = index.slice(dim, indexRank);
    std::optional<int64_t> row =
        localRow(op, in, indices.ints[positionOf(at, indices.shape())]);
    if (!row)
      return;
    for (int64_t d = 0; d < data.rank(); ++d)
      from[d] = d < dim ? index[d] : d == dim ? *row : index[d + indexRank - 1];
    result.copy(i, data, positionOf(from, data.shape()));
  });
  return result;
}

static Tensor evaluate(ScatterOp op, Operands in) {
  const Tensor &updates = *in[0], &indices = *in[1];
  Tensor result = emptyResult(op);
  result.fill(neutralElement(op.getKind()));
  int64_t dim = op.getDim(), points = op.getPointShape().size();
  int64_t rows = result.dim(dim);
  int64_t first = op.getOffset() ? in[2]->ints[0] : 0;
  SmallVector<int64_t> to(result.rank());
  forEachIndex(updates.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    SmallVector<int64_t> at(index.take_front(op.getBatchRank()));
    llvm::append_range(at, index.slice(dim, points));
    int64_t number = positionOf(at, indices.shape());
    int64_t row =
        clampIndex(indices.ints[number], op.getSize().value_or(rows)) - first;
    if (row < 0 || row >= rows)
      return;
    for (int64_t d = 0; d < result.rank(); ++d)
      to[d] = d < dim ? index[d] : d == dim ? row : index[d + points - 1];
    int64_t place = positionOf(to, result.shape());
    if (result.isFloat())
      result.set(place, combine(op.getKind(), result.floats[place],
                                updates.floats[i]));
    else
      result.setInt(place,
                    combine(op.getKind(), result.ints[place], updates.ints[i]));
  });
  return result;
}

/// Result index: the batch and row dimensions of `indices`, then the dimensions
/// of `data` that a row does not address.
static Tensor evaluate(GatherNdOp op, Operands in) {
  const Tensor &data = *in[0], &indices = *in[1];
  Tensor result = emptyResult(op);
  if (data.size() == 0)
    return result;
  int64_t batch = op.getBatchDims(), rowRank = indices.rank() - 1;
  int64_t depth = indices.dim(rowRank);
  SmallVector<int64_t> from(data.rank());
  forEachIndex(result.shape(), [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t row = positionOf(index.take_front(rowRank),
                             indices.shape().take_front(rowRank));
    for (int64_t d = 0; d < data.rank(); ++d) {
      if (d < batch)
        from[d] = index[d];
      else if (d < batch + depth)
        from[d] =
            clampIndex(indices.ints[row * depth + d - batch], data.dim(d));
      else
        from[d] = index[rowRank + d - batch - depth];
    }
    result.copy(i, data, positionOf(from, data.shape()));
  });
  return result;
}

void addMovement(EvaluateTable &table) {
  table.add([](auto op, Operands in) -> decltype(evaluate(op, in)) {
    return evaluate(op, in);
  });
}

} // namespace autopar::interpreter
