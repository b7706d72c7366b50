//===- FoldColumns.cpp - Folds of many columns at once --------------------===//
//
//   for c: acc = init                    row[c] = init for all c
//          for r: acc += x[r, c]   =>    for r: for c: row[c] += x[r, c]
//          use acc                       for c: use row[c]
//
// Of many rows, each block has a row of its own, which is added to the last.
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
  if (index.value == from)
    return Index{to, index.divisor, index.modulus};
  auto space = spaces.find(index.value);
  if (space == spaces.end())
    return depth(index.value) < depth(from) ? std::optional(index)
                                            : std::nullopt;
  SmallVector<Part> parts(space->second);
  bool moved = false;
  for (Part &part : parts) {
    if (part.index.value != from && depth(part.index.value) >= depth(from))
      return std::nullopt;
    moved |= part.index.value == from;
    if (part.index.value == from)
      part.index.value = to;
  }
  if (!moved)
    return index;
  // One copy per space: its digits still join.
  Value &copy = memo[key(to.getAsOpaquePointer(), Index{index.value})];
  if (!copy)
    copy = addSpace(parts).value;
  return Index{copy, index.divisor, index.modulus};
}

Value StackEmitter::foldColumns(ArrayRef<int64_t> extents, ArrayRef<Index> at,
                                Value init, ColumnBody body, Combine combine) {
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
  int64_t extent = llvm::product_of(extents);
  findings.foldsFound.push_back({digitsOf(at), extent, true, true});

  Type type = init.getType();
  Value width = constantInt(*columns);
  FoldBlocks blocks = foldBlocks(extents, type, kMostRows);
  // A buffer with `init` in all columns from `depth` on.
  auto fill = [&](Value buffer, unsigned depth) {
    loopAt(depth, width, [&](Index c) { store(init, buffer, type, c); });
    return pin(buffer, depth);
  };
  Value row = stackBuffer(storageType(type), *columns);
  Value sums = fill(row, outside), part = sums;
  SmallVector<Index> inner;
  std::function<void(unsigned, unsigned)> level = [&](unsigned dim,
                                                      unsigned depth) {
    if (dim == extents.size())
      return loopAt(depth, width, [&](Index c) {
        SmallVector<Index> moved;
        for (const Index &index : at)
          moved.push_back(*moveColumn(index, column, c.value));
        Value next = body(inner, moved, load(part, type, c));
        store(next, part, type, c);
      });
    auto rows = [&](Value index) {
      inner.push_back({index});
      level(dim + 1, scopes.size() - 1);
      inner.pop_back();
    };
    if (dim != blocks.dim)
      return loopAt(depth, constantInt(extents[dim]),
                    [&](Index index) { rows(index.value); });
    Value own = stackBuffer(storageType(type), *columns);
    loopAt(depth, constantInt(blocks.count), [&](Index block) {
      Value first = mulInt(block.value, blocks.size);
      part = fill(own, depth + 1);
      loopAt(depth + 1, blockEnd(first, blocks.size, extents[dim]),
             [&](Index index) { rows(addInt(first, index.value)); });
      Value done = pin(own, depth + 1);
      loopAt(depth + 1, width, [&](Index c) {
        store(combine(load(sums, type, c), load(done, type, c)), sums, type, c);
      });
    });
  };
  level(0, outside);
  return load(pin(row, outside), type, {column});
}

} // namespace autopar::cpu
