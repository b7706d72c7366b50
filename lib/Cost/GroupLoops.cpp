//===- GroupLoops.cpp - Which loops run together --------------------------===//

#include "Grouping.h"

using namespace mlir;

namespace autopar {

/// Movement takes in its operand's group if that has at most so many ops.
static constexpr unsigned kMaxAbsorbed = 8;

/// Returns whether some trailing dimensions of `shape` have `rowLength`
/// elements together.
static bool hasRows(ArrayRef<int64_t> shape, int64_t rowLength) {
  int64_t product = 1;
  for (int64_t size : llvm::reverse(shape)) {
    if (product == rowLength)
      return true;
    product *= size;
  }
  return product == rowLength;
}

/// Makes `group` one with rows of that length, if all its values have them.
bool Grouping::setRowLength(OpenGroup &group, int64_t rowLength) {
  if (group.rowLength != 0)
    return group.rowLength == rowLength;
  for (Operation *op : group.ops)
    if (!hasRows(shapeOf(op->getResult(0)), rowLength))
      return false;
  group.rowLength = rowLength;
  return true;
}

/// Returns whether the spread repeats one element per row along the row's
/// columns.
static bool spreadsRows(Operation *spread, int64_t rowLength) {
  ArrayRef<int64_t> from = shapeOf(spread->getOperand(0));
  ArrayRef<int64_t> to = shapeOf(spread->getResult(0));
  SmallVector<int64_t> along, rows;
  for (auto [size, dim] : llvm::zip(from, spreadDimsOf(spread)))
    if (size != 1)
      along.push_back(dim);
  int64_t rest = elementsOf(spread->getResult(0));
  for (auto [dim, size] : llvm::enumerate(to)) {
    if (rest == rowLength || size == 0)
      break;
    rest /= size;
    if (size != 1)
      rows.push_back(dim);
  }
  return rest == rowLength && along == rows;
}

/// Returns whether `op`, if it is computed in `group`, reads `access` of that
/// group at its own index.
bool Grouping::sees(Operation *op, const OpenGroup &group,
                    const Access &access) const {
  int64_t own = elementsOf(op->getResult(0)), read = elementsOf(access.base);
  bool readsRow = group.rowLength && read * group.rowLength == group.elements;
  unsigned spreads = 0;
  for (Operation *step : access.path) {
    if (roles.lookup(step) == LoopRole::View) {
      if (!isTrivialReshape(step))
        return false;
      continue;
    }
    ++spreads;
    if (!readsRow || !spreadsRows(step, group.rowLength))
      return false;
  }
  if (spreads > 0)
    return spreads == 1 && own == group.elements;
  return read == own && (read == group.elements || readsRow);
}

bool Grouping::tryJoin(Operation *op, unsigned id, ArrayRef<Access> accesses) {
  OpenGroup &group = groups[id];
  int64_t own = elementsOf(op->getResult(0));
  bool full = own == group.elements;
  bool perRow = group.rowLength && own * group.rowLength == group.elements;
  if (group.closed || (!full && !perRow) || group.ops.size() >= table.maxOps)
    return false;
  if (full && group.rowLength &&
      !hasRows(shapeOf(op->getResult(0)), group.rowLength))
    return false;
  int64_t level = 0;
  for (const Access &access : accesses) {
    if (groupOf(access.base) != id)
      level = std::max(level, levelOf(access.base) + 1);
    else if (!sees(op, group, access))
      return false;
  }
  if (level > group.level && group.consumed)
    return false;
  group.level = std::max(group.level, level);
  for (const Access &access : accesses)
    if (groupOf(access.base) != id)
      consume(access.base);
  add(op, id);
  return true;
}

/// Makes two loop groups one if neither depends on the other: their levels are
/// equal, or nothing reads the lower one.
bool Grouping::tryMerge(unsigned from, unsigned into) {
  OpenGroup &a = groups[from], &b = groups[into];
  bool loops = !a.call && !b.call;
  if (!loops || a.closed || b.closed || a.whole || b.whole ||
      a.elements != b.elements || a.ops.size() + b.ops.size() >= table.maxOps)
    return false;
  if (a.level != b.level && (a.level > b.level || a.consumed))
    return false;
  if (a.rowLength ? !setRowLength(b, a.rowLength)
                  : b.rowLength && !setRowLength(a, b.rowLength))
    return false;
  if (a.ops.size() > b.ops.size())
    std::swap(a.ops, b.ops);
  b.ops.append(a.ops);
  b.consumed |= a.consumed;
  b.remapped |= a.remapped;
  parents[from] = into;
  a.ops.clear();
  return true;
}

/// Returns whether `access` is the only result of a small group of movement and
/// pointwise ops, and only `op` reads it.
bool Grouping::isAbsorbed(Operation *op, const Access &access) const {
  int64_t id = groupOf(access.base);
  if (id < 0)
    return false;
  const OpenGroup &group = groups[id];
  if (group.call || group.whole || group.closed || group.rowLength != 0 ||
      group.ops.size() > kMaxAbsorbed)
    return false;
  for (Operation *step : access.path)
    if (!hasOneLiveUse(step->getResult(0)) ||
        (roles.lookup(step) == LoopRole::View && !isTrivialReshape(step)))
      return false;
  if (!hasOneLiveUse(access.base))
    return false;
  for (Operation *member : group.ops)
    for (Operation *user : member->getUsers())
      if (member != access.base.getDefiningOp() && isLive(user) &&
          groupOf(user) != id)
        return false;
  return true;
}

/// Returns whether `value`, which group `id` computes, is in memory because
/// others read it: other groups, or ops that are in no group.
bool Grouping::isReadOutside(Value value, int64_t id) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (!isLive(user))
      return false;
    if (int64_t other = groupOf(user); other >= 0)
      return other != id;
    LoopRole role = roles.lookup(user);
    bool isSeenThrough = role == LoopRole::Spread || role == LoopRole::View;
    return !isSeenThrough || isReadOutside(user->getResult(0), id);
  });
}

/// Lets a reduction compute the elements that it sums up itself, if nothing
/// else reads them and their operands are in memory anyway: then nobody has to
/// write them. It runs when all groups are known.
void Grouping::takeOperandIn(Operation *reduction) {
  Value value = reduction->getOperand(0);
  Operation *source = value.getDefiningOp();
  int64_t from = groupOf(value);
  if (from < 0 || roles.lookup(source) != LoopRole::Pointwise ||
      groups[from].call || groups[from].closed || groups[from].rowLength != 0 ||
      !hasOneLiveUse(value))
    return;
  bool reads = llvm::all_of(source->getOperands(), [&](Value operand) {
    Access access = resolve(operand);
    bool isInside = access.base && groupOf(access.base) == from;
    return !access.spread && (!isInside || isReadOutside(access.base, from));
  });
  if (!reads)
    return;
  llvm::erase(groups[from].ops, source);
  add(source, groupOf(reduction));
}

} // namespace autopar
