//===- EmitMovement.cpp - Elements found elsewhere ------------------------===//
//
// Each of these reads one operand element at an index made from the result's.
// Reads that may be outside are clamped into the operand and their value is
// replaced afterwards: no branches, so that loops still vectorize.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar::loops {

static Type elementOf(Value tensor) {
  return computeType(getElementTypeOrSelf(tensor.getType()));
}

/// Operand indices that point into the operand, and whether they had to be
/// moved there.
namespace {
struct Guarded {
  SmallVector<Index> at;
  Value inside; // null: always
};
} // namespace

static void guard(LoopEmitter &emit, Guarded &guarded, Value index,
                  int64_t size) {
  Value inside = emit.inRange(index, size);
  guarded.inside = guarded.inside
                       ? emit.make<arith::AndIOp>(guarded.inside, inside)
                       : inside;
  guarded.at.push_back({emit.clamp(index, size)});
}

static Value readGuarded(LoopEmitter &emit, Value tensor,
                         const Guarded &guarded, double otherwise) {
  Value read = emit.element(tensor, guarded.at);
  if (!guarded.inside)
    return read;
  Value fill = emit.rounded(emit.constant(read.getType(), otherwise),
                            getElementTypeOrSelf(tensor.getType()));
  return emit.make<arith::SelectOp>(guarded.inside, read, fill);
}

static Value emitElement(LoopEmitter &emit, BroadcastOp op,
                         ArrayRef<Index> at) {
  SmallVector<Index> source;
  for (auto [size, dim] : llvm::zip_equal(shapeOf(op.getInput()), op.getDims()))
    source.push_back(size == 1 ? emit.constantIndex(0) : at[dim]);
  return emit.element(op.getInput(), source);
}

static Value emitElement(LoopEmitter &emit, TransposeOp op,
                         ArrayRef<Index> at) {
  SmallVector<Index> source(at.size());
  for (auto [dim, from] : llvm::enumerate(op.getPerm()))
    source[from] = at[dim];
  return emit.element(op.getInput(), source);
}

/// Dimensions that both shapes end with keep their indices: what depends on
/// rows alone is computed once for a row.
static Value emitElement(LoopEmitter &emit, ReshapeOp op, ArrayRef<Index> at) {
  ArrayRef<int64_t> to = shapeOf(op.getResult()), from = shapeOf(op.getInput());
  size_t same = 0;
  while (same < std::min(to.size(), from.size()) &&
         to[to.size() - 1 - same] == from[from.size() - 1 - same])
    ++same;
  Index flat = emit.linearize(at.drop_back(same), to.drop_back(same));
  SmallVector<Index> source = emit.delinearize(flat, from.drop_back(same));
  llvm::append_range(source, at.take_back(same));
  return emit.element(op.getInput(), source);
}

static Value emitElement(LoopEmitter &emit, SliceOp op, ArrayRef<Index> at) {
  SmallVector<Index> source;
  for (auto [dim, index] : llvm::enumerate(at)) {
    int64_t start = op.getStarts()[dim], step = op.getSteps()[dim];
    if (start == 0 && step == 1) {
      source.push_back(index);
      continue;
    }
    Value scaled = emit.mulInt(emit.value(index), step);
    source.push_back({emit.addInt(scaled, emit.constantInt(start))});
  }
  return emit.element(op.getInput(), source);
}

static Value emitElement(LoopEmitter &emit, PadOp op, ArrayRef<Index> at) {
  Guarded guarded;
  for (auto [dim, index] : llvm::enumerate(at)) {
    int64_t low = op.getLow()[dim];
    if (low == 0 && op.getHigh()[dim] == 0) {
      guarded.at.push_back(index);
      continue;
    }
    Value moved = emit.addInt(emit.value(index), emit.constantInt(-low));
    guard(emit, guarded, moved, shapeOf(op.getInput())[dim]);
  }
  return readGuarded(emit, op.getInput(), guarded,
                     op.getValue().convertToDouble());
}

/// Emits the element of a concat of many operands of one size, where the index
/// says which operand it is. Null if the operands are few, or of several sizes.
static Value emitOneOfMany(LoopEmitter &emit, ConcatOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim(), count = op.getInputs().size();
  int64_t size = shapeOf(op.getInputs().front())[dim];
  if (count <= int64_t(kManyOperands) || size == 0 ||
      size * count != shapeOf(op.getResult())[dim])
    return nullptr;
  SmallVector<Index> source(at);
  source[dim] = emit.digit(at[dim], 1, size);
  return emit.elementOfMany(op.getInputs(), emit.digit(at[dim], size, count),
                            source);
}

static Value emitElement(LoopEmitter &emit, ConcatOp op, ArrayRef<Index> at) {
  if (Value one = emitOneOfMany(emit, op, at))
    return one;
  int64_t dim = op.getDim(), start = 0;
  Value index = emit.value(at[dim]), result;
  for (Value input : op.getInputs()) {
    int64_t size = shapeOf(input)[dim];
    if (size == 0)
      continue;
    SmallVector<Index> source(at.begin(), at.end());
    Value moved = emit.addInt(index, emit.constantInt(-start));
    source[dim] = {emit.clamp(moved, size)};
    Value read = emit.element(input, source);
    result = result
                 ? emit.make<arith::SelectOp>(
                       emit.make<arith::CmpIOp>(arith::CmpIPredicate::sge,
                                                emit.blockOf(moved, size).first,
                                                emit.constantInt(0)),
                       read, result)
                 : read;
    start += size;
  }
  // A result without elements reads nothing: the loop around runs no trip.
  return result ? result
                : emit.constant(computeType(getElementTypeOrSelf(op.getType())),
                                0);
}

/// An element of an index tensor as i64.
static Value emitIndexElement(LoopEmitter &emit, Value indices,
                              ArrayRef<Index> at) {
  Value read = emit.element(indices, at);
  auto type = cast<IntegerType>(read.getType());
  if (type.getWidth() == 64)
    return read;
  if (getElementTypeOrSelf(indices.getType()).isUnsignedInteger())
    return emit.make<arith::ExtUIOp>(emit.builder.getI64Type(), read);
  return emit.make<arith::ExtSIOp>(emit.builder.getI64Type(), read);
}

/// Counts a negative index from the end.
static Value fromEnd(LoopEmitter &emit, Value index, int64_t size) {
  Value negative = emit.make<arith::CmpIOp>(arith::CmpIPredicate::slt, index,
                                            emit.constantInt(0));
  Value moved = emit.make<arith::AddIOp>(index, emit.constantInt(size));
  return emit.make<arith::SelectOp>(negative, moved, index);
}

/// Adds the row that `index` means to the indices into the operand's block.
template <typename OpT>
static void guardRow(LoopEmitter &emit, OpT op, Value index, Guarded &guarded) {
  int64_t size = shapeOf(op.getData())[op.getDim()];
  if (!op.getOffset()) {
    guarded.at.push_back({emit.clamp(fromEnd(emit, index, size), size)});
    return;
  }
  int64_t whole = op.getSize().value_or(size);
  index = emit.clamp(fromEnd(emit, index, whole), whole);
  Value first = emit.element(op.getOffset(), {});
  guard(emit, guarded, emit.make<arith::SubIOp>(index, first), size);
}

static Value emitElement(LoopEmitter &emit, GatherElementsOp op,
                         ArrayRef<Index> at) {
  Guarded guarded;
  llvm::append_range(guarded.at, at.take_front(op.getDim()));
  guardRow(emit, op, emitIndexElement(emit, op.getIndices(), at), guarded);
  llvm::append_range(guarded.at, at.drop_front(op.getDim() + 1));
  return readGuarded(emit, op.getData(), guarded, 0);
}

static Value emitElement(LoopEmitter &emit, GatherOp op, ArrayRef<Index> at) {
  unsigned dim = op.getDim(), rank = shapeOf(op.getIndices()).size();
  Value index = emitIndexElement(emit, op.getIndices(), at.slice(dim, rank));
  Guarded guarded;
  llvm::append_range(guarded.at, at.take_front(dim));
  guardRow(emit, op, index, guarded);
  llvm::append_range(guarded.at, at.drop_front(dim + rank));
  return readGuarded(emit, op.getData(), guarded, 0);
}

/// Emits the row from the whole dimension of indices.
static Value wholeRow(LoopEmitter &emit, ScatterOp op, ArrayRef<Index> at) {
  int64_t rows = shapeOf(op.getResult())[op.getDim()];
  int64_t whole = op.getSize().value_or(rows);
  Value index = emitIndexElement(emit, op.getIndices(), at);
  return emit.clamp(fromEnd(emit, index, whole), whole);
}

Value rowOfIndex(LoopEmitter &emit, ScatterOp op, ArrayRef<Index> at) {
  Value row = wholeRow(emit, op, at);
  if (op.getOffset())
    row = emit.make<arith::SubIOp>(row, emit.element(op.getOffset(), {}));
  return row;
}

Value hitsRow(LoopEmitter &emit, ScatterOp op, ArrayRef<Index> at, Index row) {
  Value index = wholeRow(emit, op, at);
  Value wanted = emit.value(row);
  if (op.getOffset())
    wanted = emit.addInt(wanted, emit.element(op.getOffset(), {}));
  return emit.make<arith::CmpIOp>(arith::CmpIPredicate::eq, index, wanted);
}

SmallVector<Index> indexAt(ScatterOp op, ArrayRef<Index> at,
                           ArrayRef<Index> point) {
  SmallVector<Index> index(at.take_front(op.getBatchRank()));
  llvm::append_range(index, point);
  return index;
}

Value updateAt(LoopEmitter &emit, ScatterOp op, ArrayRef<Index> point,
               ArrayRef<Index> at) {
  SmallVector<Index> from(at.take_front(op.getDim()));
  llvm::append_range(from, point);
  llvm::append_range(from, at.drop_front(op.getDim() + 1));
  return emit.element(op.getUpdates(), from);
}

/// Each element looks at every index.
Value LoopEmitter::scatterElement(ScatterOp op, ArrayRef<Index> at) {
  Value none = neutralFor(*this, op.getKind(), op.getUpdates());
  auto combine = [&](Value acc, Value x) {
    return combineElements(*this, op.getKind(), acc, x,
                           isNatural(op.getUpdates().getType()));
  };
  return fold(
      op.getPointShape(), at, none,
      [&](ArrayRef<Index> point, Value acc) {
        Value hit = hitsRow(*this, op, indexAt(op, at, point), at[op.getDim()]);
        Value x = updateAt(*this, op, point, at);
        return combine(acc, make<arith::SelectOp>(hit, x, none));
      },
      combine, /*sums=*/op.getKind() == ReduceKind::Sum);
}

static Value emitElement(LoopEmitter &emit, ScatterOp op, ArrayRef<Index> at) {
  return emit.scatterElement(op, at);
}

static Value emitElement(LoopEmitter &emit, GatherNdOp op, ArrayRef<Index> at) {
  ArrayRef<int64_t> indexShape = shapeOf(op.getIndices());
  ArrayRef<int64_t> dataShape = shapeOf(op.getData());
  unsigned outer = indexShape.size() - 1, batch = op.getBatchDims();
  SmallVector<Index> source(at.take_front(batch));
  SmallVector<Index> where(at.take_front(outer));
  for (int64_t k = 0; k < indexShape.back(); ++k) {
    where.push_back(emit.constantIndex(k));
    Value index = emitIndexElement(emit, op.getIndices(), where);
    where.pop_back();
    int64_t size = dataShape[batch + k];
    source.push_back({emit.clamp(fromEnd(emit, index, size), size)});
  }
  llvm::append_range(source, at.drop_front(outer));
  return emit.element(op.getData(), source);
}

static Value emitElement(LoopEmitter &emit, IotaOp op, ArrayRef<Index> at) {
  Value index = emit.value(at[op.getDim()]);
  if (op.getOffset())
    index = emit.addInt(index, emit.element(op.getOffset(), {}));
  Type type = elementOf(op.getResult());
  if (isa<FloatType>(type))
    return emit.make<arith::SIToFPOp>(type, index);
  if (type.getIntOrFloatBitWidth() < 64)
    return emit.make<arith::TruncIOp>(type, index);
  return index;
}

static Value emitElement(LoopEmitter &emit, ConstantOp op, ArrayRef<Index> at) {
  return emit.constantElement(cast<DenseElementsAttr>(op.getValue()),
                              emit.linearize(at, shapeOf(op.getResult())));
}

//===----------------------------------------------------------------------===//
// Ops that read the device's position
//===----------------------------------------------------------------------===//

static Value emitElement(LoopEmitter &emit, SliceBlockOp op,
                         ArrayRef<Index> at) {
  int64_t dim = op.getDim(), block = shapeOf(op.getResult())[dim];
  Value start = emit.mulInt(emit.position(op.getAxes()), block);
  SmallVector<Index> source(at.begin(), at.end());
  Value moved = emit.addInt(start, emit.value(at[dim]));
  source[dim] = {emit.clamp(moved, shapeOf(op.getInput())[dim])};
  return emit.element(op.getInput(), source);
}

static Value emitElement(LoopEmitter &emit, MaskOp op, ArrayRef<Index> at) {
  int64_t dim = op.getDim(), block = shapeOf(op.getResult())[dim];
  Value start = emit.mulInt(emit.position(op.getAxes()), block);
  Value where = emit.addInt(start, emit.value(at[dim]));
  Value inside = emit.make<arith::CmpIOp>(arith::CmpIPredicate::slt, where,
                                          emit.constantInt(op.getSize()));
  Value read = emit.element(op.getInput(), at);
  Value fill = emit.rounded(
      emit.constant(read.getType(), op.getValue().convertToDouble()),
      getElementTypeOrSelf(op.getType()));
  return emit.make<arith::SelectOp>(inside, read, fill);
}

static Value emitElement(LoopEmitter &emit, KeepFirstOp op,
                         ArrayRef<Index> at) {
  Value first = emit.make<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                         emit.position(op.getAxes()),
                                         emit.constantInt(0));
  Value read = emit.element(op.getInput(), at);
  Value neutral = neutralFor(emit, op.getKind(), op.getInput());
  return emit.make<arith::SelectOp>(first, read, neutral);
}

Value neutralFor(LoopEmitter &emit, ReduceKind kind, Value tensor) {
  Type type = elementOf(tensor);
  if (!isNatural(tensor.getType()) || kind == ReduceKind::Sum ||
      kind == ReduceKind::Prod)
    return emit.constant(type, neutralElement(kind));
  unsigned width = type.getIntOrFloatBitWidth();
  APInt bits = kind == ReduceKind::Max ? APInt::getZero(width)
                                       : APInt::getAllOnes(width);
  return emit.make<arith::ConstantOp>(emit.builder.getIntegerAttr(type, bits));
}

static Value emitElement(LoopEmitter &emit, BlockOffsetOp op, ArrayRef<Index>) {
  return emit.mulInt(emit.position(op.getAxes()), op.getBlock());
}

void addMovement(EmitTable &table) {
  table.add([](auto op, LoopEmitter &emit,
               At at) -> decltype(emitElement(emit, op, at)) {
    return emitElement(emit, op, at);
  });
}

} // namespace autopar::loops
