//===- Grouping.cpp - Which group an op joins -----------------------------===//

#include "Grouping.h"
#include "autopar/Dialect/LibraryCall.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace autopar {

/// At most so many ops are repeated in each group that reads their result.
static constexpr unsigned kMaxFreeCost = 16;
/// Longest chain of spreads and reshapes that groups look through.
static constexpr unsigned kMaxPath = 16;

bool isTrivialReshape(Operation *view) {
  return innermostSize(shapeOf(view->getOperand(0))) ==
         innermostSize(shapeOf(view->getResult(0)));
}

Grouping::Grouping(Block &body, const TargetTable &table)
    : body(body), table(table) {
  findLive();
}

/// Finds the live ops. An op is live if it does more than compute, or if a live
/// op needs it.
void Grouping::findLive() {
  for (Operation &op : llvm::reverse(body)) {
    bool needed = !isMemoryEffectFree(&op) || op.getNumResults() == 0;
    for (Operation *user : op.getUsers())
      needed |= live.lookup(user);
    if (needed)
      live[&op] = true;
  }
}

bool Grouping::hasOneLiveUse(Value value) const {
  unsigned uses = 0;
  for (Operation *user : value.getUsers())
    if (isLive(user) && ++uses > 1)
      return false;
  return uses == 1;
}

unsigned Grouping::find(unsigned group) const {
  while (parents[group] != group) {
    parents[group] = parents[parents[group]];
    group = parents[group];
  }
  return group;
}

int64_t Grouping::groupOf(Operation *op) const {
  auto it = groupIds.find(op);
  return it == groupIds.end() ? -1 : int64_t(find(it->second));
}

int64_t Grouping::groupOf(Value value) const {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return op ? groupOf(op) : -1;
}

int64_t Grouping::levelOf(Value base) const {
  if (int64_t group = groupOf(base); group >= 0)
    return groups[group].level;
  Operation *op = base ? base.getDefiningOp() : nullptr;
  return op ? opaqueLevels.lookup(op) : 0;
}

void Grouping::consume(Value base) {
  if (int64_t group = groupOf(base); group >= 0)
    groups[group].consumed = true;
}

Access Grouping::resolve(Value operand) const {
  Access access;
  access.base = operand;
  while (Operation *op = access.base.getDefiningOp()) {
    LoopRole role = roles.lookup(op);
    bool seenThrough = role == LoopRole::Spread || role == LoopRole::View;
    if (isFree(op))
      access.base = Value();
    if (isFree(op) || !seenThrough)
      break;
    access.spread |= role == LoopRole::Spread;
    access.path.push_back(op);
    access.base = op->getOperand(0);
    if (cut.lookup(op))
      break;
  }
  std::reverse(access.path.begin(), access.path.end());
  return access;
}

Value Grouping::storageOf(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    if (roles.lookup(op) != LoopRole::View || groupIds.contains(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns whether the op reads its operands from memory only, and not by an
/// index of the group's loops: as a library call, by a loop nest of its own, or
/// as part of a filter's gradient.
bool Grouping::readsMemoryOnly(Operation *op) const {
  int64_t group = groupOf(op);
  if (group < 0)
    return false;
  if (groups[group].root != op)
    return isPartOfFilterGradient(op);
  return groups[group].whole || groups[group].call;
}

//===----------------------------------------------------------------------===//
// Growing groups
//===----------------------------------------------------------------------===//

void Grouping::add(Operation *op, unsigned group) {
  groups[group].ops.push_back(op);
  groupIds[op] = group;
}

OpenGroup &Grouping::start(Operation *op, std::optional<CallKind> call) {
  unsigned id = groups.size();
  parents.push_back(id);
  OpenGroup group;
  group.call = call;
  group.root = op;
  group.elements = elementsOf(op->getResult(0));
  for (Value operand : op->getOperands()) {
    Access access = resolve(operand);
    group.level = std::max(group.level, levelOf(access.base) + 1);
    consume(access.base);
  }
  groups.push_back(std::move(group));
  add(op, id);
  return groups.back();
}

/// Gives the storage of `value` a buffer: a spread or a free op gets a group.
void Grouping::materialise(Value value) {
  Operation *op = storageOf(value).getDefiningOp();
  if (!op || groupIds.contains(op))
    return;
  if (isFree(op) || roles.lookup(op) == LoopRole::Spread)
    start(op).closed = true;
}

std::optional<CallKind> callOf(Operation *op, const TargetTable &table) {
  auto library = dyn_cast<LibraryOpInterface>(op);
  if (!library)
    return std::nullopt;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  for (CallKind kind : library.getCallKinds())
    if (const LibraryCalls *calls = table.calls(kind);
        calls && calls->take(type))
      return kind;
  return std::nullopt;
}

/// Returns whether the library computes `op` along with the gradient of a
/// filter, which alone reads it.
bool Grouping::isPartOfFilterGradient(Operation *op) const {
  Operation *gradient = filterGradientReading(op);
  return gradient && callOf(gradient, table) == CallKind::FilterGradient;
}

/// Moves the ops of group `other`, which only `group` reads, to `group`.
void Grouping::absorb(OpenGroup &group, unsigned id, unsigned other) {
  group.ops.append(groups[other].ops);
  groups[other].ops.clear();
  parents[other] = id;
}

/// Starts a group of an op that reads memory only; the constants that it reads
/// become part of its loop nest.
void Grouping::startWhole(Operation *op) {
  std::optional<CallKind> library = callOf(op, table);
  bool isPart = isPartOfFilterGradient(op);
  int64_t level = 1;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!library && !isPart && source &&
        source->hasTrait<OpTrait::ConstantLike>())
      continue;
    materialise(operand);
    Value storage = storageOf(operand);
    level = std::max(level, levelOf(storage) + 1);
    consume(storage);
  }
  OpenGroup &group = start(op, library);
  group.level = std::max(group.level, level);
  group.whole = !library;
  group.closed = isPart || roles.lookup(op) == LoopRole::Scatter;
  if (library == CallKind::FilterGradient)
    for (Value operand : op->getOperands())
      absorb(group, groupOf(op), groupOf(operand));
  else if (library)
    group.tail = op->getResult(0);
}

//===----------------------------------------------------------------------===//
// One op after the other
//===----------------------------------------------------------------------===//

/// Makes an op free if its operands are free and it is small enough to be
/// repeated by its readers.
bool Grouping::becomesFree(Operation *op) {
  unsigned cost = 1;
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (!source || !isFree(source))
      return false;
    cost += freeCost.lookup(source);
  }
  if (cost > kMaxFreeCost)
    return false;
  freeCost[op] = cost;
  return true;
}

/// Visits a reshape. If it changes the innermost dimension, its operand must be
/// in memory.
void Grouping::visitView(Operation *op) {
  Operation *source = op->getOperand(0).getDefiningOp();
  bool cheap = source && (isFree(source) || resolve(op->getOperand(0)).spread);
  if (!cheap)
    return;
  if (isTrivialReshape(op)) {
    becomesFree(op);
    return;
  }
  materialise(op->getOperand(0));
  consume(storageOf(op->getOperand(0)));
  cut[op] = true;
}

void Grouping::visitPointwise(Operation *op) {
  if (elementsOf(op->getResult(0)) == 1 && becomesFree(op))
    return;
  if (auto it = promised.find(op); it != promised.end()) {
    groups[it->second].tail = op->getResult(0);
    return add(op, it->second);
  }
  SmallVector<Access> accesses;
  for (Value operand : op->getOperands())
    accesses.push_back(resolve(operand));
  if (trySilu(op, accesses.front()))
    return;
  // The group of the highest level first; ties by operand.
  SmallVector<unsigned> order(
      llvm::to_vector(llvm::seq<unsigned>(0, accesses.size())));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return levelOf(accesses[a].base) > levelOf(accesses[b].base);
  });
  for (unsigned at : order)
    if (tryEpilogue(op, accesses, at))
      return;
  for (unsigned at : order) {
    int64_t id = groupOf(accesses[at].base);
    if (id < 0 || groups[id].call)
      continue;
    for (unsigned other : order)
      if (int64_t second = groupOf(accesses[other].base);
          second >= 0 && second != id && sees(op, groups[id], accesses[other]))
        tryMerge(second, id);
    if (tryJoin(op, id, accesses))
      return;
  }
  start(op);
}

/// Visits movement. It computes its operands' elements where it reads them if
/// that does not multiply the work.
void Grouping::visitRemap(Operation *op) {
  if (isPartOfFilterGradient(op))
    return startWhole(op);
  SmallVector<unsigned> absorbed;
  int64_t read = 0;
  for (Value operand : op->getOperands()) {
    read += elementsOf(operand);
    Access access = resolve(operand);
    if (isAbsorbed(op, access))
      absorbed.push_back(groupOf(access.base));
  }
  OpenGroup &group = start(op);
  unsigned id = groupOf(op);
  group.closed = op->getNumOperands() > kManyOperands;
  if (elementsOf(op->getResult(0)) > 2 * read || group.closed)
    return;
  for (unsigned other : absorbed) {
    if (find(other) == id)
      continue;
    absorb(group, id, other);
    group.remapped = true;
  }
}

void Grouping::visitReduction(Operation *op) {
  Access access = resolve(op->getOperand(0));
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  int64_t rowLength = 1;
  for (int64_t size : shape.drop_front(rowRankOf(op)))
    rowLength *= size;
  int64_t elements = elementsOf(op->getOperand(0));
  if (int64_t id = groupOf(access.base); id >= 0 && !access.spread) {
    OpenGroup &group = groups[id];
    bool open = !group.call && !group.closed && !group.whole &&
                group.ops.size() < table.maxOps;
    if (open && group.elements == elements &&
        elementsOf(access.base) == elements &&
        llvm::all_of(access.path, isTrivialReshape) &&
        setRowLength(group, rowLength))
      return add(op, id);
  }
  OpenGroup &group = start(op);
  group.elements = elements;
  group.rowLength = rowLength;
  group.closed = elements == 0;
}

/// Visits an op that is no kernel: its operands must be in memory.
void Grouping::visitOpaque(Operation *op) {
  int64_t level = 0;
  for (Value operand : op->getOperands()) {
    if (!isa<ShapedType>(operand.getType()))
      continue;
    materialise(operand);
    Value storage = storageOf(operand);
    level = std::max(level, levelOf(storage));
    consume(storage);
  }
  opaqueLevels[op] = level + 1;
}

void Grouping::visit(Operation *op) {
  LoopRole role = loopRoleOf(op);
  if (role == LoopRole::Spread || role == LoopRole::View) {
    Operation *source = op->getOperand(0).getDefiningOp();
    pathDepth[op] = source ? pathDepth.lookup(source) + 1 : 1;
    if (pathDepth[op] > kMaxPath) {
      role = role == LoopRole::View ? LoopRole::Opaque : LoopRole::Remap;
      pathDepth[op] = 0;
    }
  }
  roles[op] = role;
  switch (role) {
  case LoopRole::Source:
    if (!becomesFree(op)) {
      roles[op] = LoopRole::Remap;
      start(op);
    }
    return;
  case LoopRole::Spread:
    becomesFree(op);
    return;
  case LoopRole::View:
    return visitView(op);
  case LoopRole::Pointwise:
    return visitPointwise(op);
  case LoopRole::RowReduction:
    return visitReduction(op);
  case LoopRole::Remap:
    return visitRemap(op);
  case LoopRole::Scatter:
  case LoopRole::Whole:
    return startWhole(op);
  case LoopRole::Opaque:
    return visitOpaque(op);
  }
}

/// Returns whether the op folds dimensions that are not the last ones, of which
/// it reads each element once.
static bool foldsColumns(Operation *op, LoopRole role) {
  auto kernel = dyn_cast<KernelOpInterface>(op);
  return role == LoopRole::Whole &&
         kernel.getKernelClass() == KernelClass::Reduction &&
         !kernel.getRowDim();
}

void Grouping::run() {
  for (Operation &op : body)
    if (isLive(&op))
      visit(&op);
  for (Operation &op : body)
    if (isLive(&op) && foldsColumns(&op, roles.lookup(&op)))
      takeOperandIn(&op);
}

} // namespace autopar
