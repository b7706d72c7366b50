//===- FoldColumns.cpp - Folds of many columns at once --------------------===//
//
//   for c: acc = init                    row[c] = init for all c
//          for r: acc += x[r, c]   =>    for r: for c: row[c] += x[r, c]
//          use acc                       for c: use row[c]
//
//===----------------------------------------------------------------------===//

#include "StackEmitter.h"

using namespace mlir;

namespace autopar::cpu {

/// A loop without results at `depth`, before what is open there.
void StackEmitter::loopAt(unsigned depth, int64_t extent,
                          function_ref<void(Index)> body) {
  SmallVector<Scope> outer(scopes.begin(), scopes.end());
  auto loop = scf::ForOp::create(builder, loc, constantInt(0),
                                 constantInt(extent), constantInt(1));
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
                                Value init, ColumnBody body) {
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
  int64_t extent = 1;
  for (int64_t size : extents)
    extent *= size;
  findings.foldsFound.push_back({digitsOf(at), extent, true, true});

  Type type = init.getType();
  Value row = stackBuffer(storageType(type), *columns);
  loopAt(outside, *columns, [&](Index c) { store(init, row, type, c); });
  Value filled = pin(row, outside);
  SmallVector<Index> inner;
  std::function<void(unsigned)> level = [&](unsigned dim) {
    if (dim < extents.size())
      return loopAt(outside + dim, extents[dim], [&](Index index) {
        inner.push_back(index);
        level(dim + 1);
        inner.pop_back();
      });
    loopAt(outside + dim, *columns, [&](Index c) {
      SmallVector<Index> moved;
      for (const Index &index : at)
        moved.push_back(*moveColumn(index, column, c.value));
      Value next = body(inner, moved, load(filled, type, c));
      store(next, filled, type, c);
    });
  };
  level(0);
  return load(pin(row, outside), type, {column});
}

} // namespace autopar::cpu
