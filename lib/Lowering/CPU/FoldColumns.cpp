//===- FoldColumns.cpp - Folds of many columns at once --------------------===//
//
//   for c: acc = init                    row[c] = init for all c
//          for r: acc += x[r, c]   =>    for r: for c: row[c] += x[r, c]
//          use acc                       for c: use row[c]
//
// If there are many rows, each block has a row of sums of its own, which is
// added to the last.
//
//===----------------------------------------------------------------------===//

#include "StackEmitter.h"

using namespace mlir;

namespace autopar::cpu {

/// Rows that are added one after the other, at most.
static constexpr int64_t kMostRows = 128;

/// A loop without results at `depth`, before what is open there.
void StackEmitter::loopAt(unsigned depth, Value extent,
                          function_ref<void(Index)> body) {
  SmallVector<Scope> outer(scopes.begin(), scopes.end());
  auto loop =
      scf::ForOp::create(builder, loc, constantInt(0), extent, constantInt(1));
  moveTo(loop, depth);
  scopes.truncate(depth + 1);
  scopes.push_back({loop.getBody(), loop});
  depths[loop.getInductionVar()] = depth + 1;
  body({loop.getInductionVar()});
  scopes = outer;
}

/// `index` with loop index `from` replaced by `to`; nullopt if it is computed
/// from `from` in another way than as digits.
std::optional<Index> StackEmitter::moveColumn(Index index, Value from,
                                              Value to) {
  // The position in a block is added to where the block begins.
  auto moved = [&](Value value) {
    if (value == from)
      return to;
    auto sum = value.getDefiningOp<arith::AddIOp>();
    return sum && sum.getRhs() == from && depth(sum.getLhs()) < depth(from)
               ? addInt(sum.getLhs(), to)
               : Value();
  };
  if (index.value == from)
    return Index{to, index.divisor, index.modulus};
  auto space = spaces.find(index.value);
  if (space == spaces.end())
    return depth(index.value) < depth(from) ? std::optional(index)
                                            : std::nullopt;
  SmallVector<Part> parts(space->second);
  bool hasMoved = false;
  for (Part &part : parts) {
    Value there = moved(part.index.value);
    if (!there && depth(part.index.value) >= depth(from))
      return std::nullopt;
    hasMoved |= bool(there);
    if (there)
      part.index.value = there;
  }
  if (!hasMoved)
    return index;
  // Makes one copy per space, so that its digits still join.
  Value &copy = memo[key(to.getAsOpaquePointer(), Index{index.value})];
  if (!copy)
    copy = addSpace(parts).value;
  return Index{copy, index.divisor, index.modulus};
}

/// The loops of one fold over all columns.
struct StackEmitter::ColumnFold {
  StackEmitter &emit;
  ArrayRef<int64_t> extents;
  ArrayRef<Index> at;
  Value init, column, width;
  ColumnBody body;
  Combine combine;
  FoldBlocks blocks;
  Value sums, part; // rows on the stack; elements are folded into `part`
  SmallVector<Index> inner;

  Value makeRow() {
    std::optional<int64_t> columns = getConstantIntValue(width);
    return emit.stackBuffer(storageType(init.getType()), *columns);
  }
  void foldRow(unsigned depth);
  void foldBlocks(unsigned dim, unsigned depth);
  void fold(unsigned dim, unsigned depth);

  /// `row` with `init` in all columns, from `depth` on.
  Value fill(Value row, unsigned depth) {
    emit.loopAt(depth, width,
                [&](Index c) { emit.store(init, row, init.getType(), c); });
    return emit.pin(row, depth);
  }
};

void StackEmitter::ColumnFold::foldRow(unsigned depth) {
  emit.loopAt(depth, width, [&](Index c) {
    SmallVector<Index> moved;
    for (const Index &index : at)
      moved.push_back(*emit.moveColumn(index, column, c.value));
    Type type = init.getType();
    Value next = body(inner, moved, emit.load(part, type, c));
    emit.store(next, part, type, c);
  });
}

/// Each block in a row of its own, which is then combined with the sums.
void StackEmitter::ColumnFold::foldBlocks(unsigned dim, unsigned depth) {
  Value own = makeRow();
  emit.loopAt(depth, emit.constantInt(blocks.count), [&](Index block) {
    Value first = emit.mulInt(block.value, blocks.size);
    part = fill(own, depth + 1);
    Value extent = emit.blockEnd(first, blocks.size, extents[dim]);
    emit.loopAt(depth + 1, extent, [&](Index index) {
      inner.push_back({emit.addInt(first, index.value)});
      fold(dim + 1, depth + 2);
      inner.pop_back();
    });
    Value done = emit.pin(own, depth + 1);
    emit.loopAt(depth + 1, width, [&](Index c) {
      Type type = init.getType();
      Value sum = emit.load(sums, type, c);
      emit.store(combine(sum, emit.load(done, type, c)), sums, type, c);
    });
  });
}

/// The loops over dimensions from `dim` on.
void StackEmitter::ColumnFold::fold(unsigned dim, unsigned depth) {
  if (dim == extents.size())
    return foldRow(depth);
  if (dim == blocks.dim)
    return foldBlocks(dim, depth);
  emit.loopAt(depth, emit.constantInt(extents[dim]), [&](Index index) {
    inner.push_back(index);
    fold(dim + 1, depth + 1);
    inner.pop_back();
  });
}

Value StackEmitter::foldColumns(ArrayRef<int64_t> extents, ArrayRef<Index> at,
                                Value init, ColumnBody body, Combine combine,
                                bool sums) {
  auto open = dyn_cast_or_null<scf::ForOp>(scopes.back().loop);
  if (!open || open.getNumRegionIterArgs() != 0 || depth(init) != 0)
    return nullptr;
  std::optional<int64_t> columns = getConstantIntValue(open.getUpperBound());
  Value column = open.getInductionVar();
  unsigned outside = scopes.size() - 2;
  if (!columns || *columns > kMaxStackRow || depth(at) <= outside)
    return nullptr;
  bool moves = llvm::all_of(at, [&](const Index &index) {
    return moveColumn(index, column, column).has_value();
  });
  if (!moves)
    return nullptr;
  findings.foldsFound.push_back(
      {digitsOf(at), llvm::product_of(extents), true, true});
  ColumnFold rows{*this, extents, at, init, column, constantInt(*columns),
                  body,  combine, {}, {},   {},     {}};
  if (sums)
    rows.blocks = foldBlocks(extents, init.getType(), kMostRows);
  Value row = rows.makeRow();
  rows.sums = rows.part = rows.fill(row, outside);
  rows.fold(0, outside);
  return load(pin(row, outside), init.getType(), {column});
}

} // namespace autopar::cpu
