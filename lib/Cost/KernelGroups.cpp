//===- KernelGroups.cpp - Bodies, inputs, outputs and order of groups -----===//

#include "autopar/Cost/KernelGroups.h"
#include "Grouping.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace autopar {

namespace {

/// Turns finished open groups into the analysis's result.
class Assembly {
public:
  Assembly(Block &body, Grouping &grouping) : grouping(grouping) {
    for (Operation &op : body) {
      unsigned number = numbers.size();
      numbers[&op] = number;
    }
    findStates(body);
  }
  KernelGroups run(Block &body);

private:
  void findStates(Block &body);
  void collectBody(const OpenGroup &open, KernelGroup &group);
  void needOperand(Operation *op, Value operand, unsigned id,
                   llvm::SetVector<Operation *> &ops);
  void collectInputs(KernelGroup &group);
  void demand(Value value);
  void collectOutputs(KernelGroups &result, Block &body);
  void name(KernelGroup &group, const OpenGroup &open);
  void collectCall(KernelGroup &group, const OpenGroup &open);
  void findInPlace(KernelGroup &group, const OpenGroup &open);
  bool readsInPlace(const KernelGroup &group, Value input) const;
  bool foldsNone(const KernelGroup &group, Value input) const;
  void order(KernelGroups &result, Block &body);

  Grouping &grouping;
  llvm::DenseMap<Operation *, unsigned> numbers; // program order
  llvm::DenseMap<unsigned, unsigned> groupIds;   // open group -> result's
  /// Values that are in memory because a step reads them, and the reshapes
  /// between groups.
  llvm::DenseSet<Value> demanded;
  llvm::SetVector<Operation *> views;
  /// The states of the function, by the memory of the next value, and all
  /// states.
  llvm::DenseMap<Value, Value> states;
  llvm::DenseSet<Value> isState;
};
} // namespace

void Assembly::findStates(Block &body) {
  auto function = dyn_cast<FunctionOpInterface>(body.getParentOp());
  for (StatePair pair :
       function ? statesOf(function) : SmallVector<StatePair>()) {
    Value state = body.getArgument(pair.argument);
    states[grouping.storageOf(body.getTerminator()->getOperand(pair.result))] =
        state;
    isState.insert(state);
  }
}

/// Adds the ops that `op` needs in the group's body to see `operand`.
void Assembly::needOperand(Operation *op, Value operand, unsigned id,
                           llvm::SetVector<Operation *> &ops) {
  if (grouping.readsMemoryOnly(op)) {
    Operation *source = operand.getDefiningOp();
    bool constant = source && source->hasTrait<OpTrait::ConstantLike>();
    if (constant && !grouping.groups[id].call)
      ops.insert(source);
    return;
  }
  Access access = grouping.resolve(operand);
  ArrayRef<Operation *> path = access.path;
  Operation *base = access.base ? access.base.getDefiningOp() : nullptr;
  bool inside = base && grouping.groupOf(base) == int64_t(id);
  if (access.base && !inside) // reshapes of memory stay between groups
    path = path.drop_while([&](Operation *step) {
      return grouping.roles.lookup(step) == LoopRole::View;
    });
  ops.insert(path.begin(), path.end());
  if (access.base)
    return;
  // A free op is repeated with all ops that it needs.
  SmallVector<Value> open{path.empty() ? operand : path.front()->getOperand(0)};
  while (!open.empty()) {
    Operation *source = open.pop_back_val().getDefiningOp();
    if (ops.insert(source))
      open.append(source->operand_begin(), source->operand_end());
  }
}

void Assembly::collectBody(const OpenGroup &open, KernelGroup &group) {
  unsigned id = grouping.groupOf(open.ops.front());
  llvm::SetVector<Operation *> ops(open.ops.begin(), open.ops.end());
  for (Operation *op : open.ops)
    for (Value operand : op->getOperands())
      needOperand(op, operand, id, ops);
  // Orders the group's own ops as the program does, and puts repeated ones
  // right before their first reader, so that equal layers get equal bodies
  // wherever the repeated op they share stands.
  llvm::SetVector<Operation *> ordered;
  SmallVector<Operation *> own(open.ops);
  llvm::sort(own, [&](Operation *a, Operation *b) {
    return numbers.lookup(a) < numbers.lookup(b);
  });
  for (Operation *op : own) {
    SmallVector<Operation *> stack{op};
    while (!stack.empty()) {
      Operation *next = stack.back(), *missing = nullptr;
      for (Value operand : llvm::reverse(next->getOperands()))
        if (Operation *source = operand.getDefiningOp();
            source && ops.contains(source) && !ordered.contains(source))
          missing = source;
      if (missing) {
        stack.push_back(missing);
        continue;
      }
      ordered.insert(next);
      stack.pop_back();
    }
  }
  group.ops.assign(ordered.begin(), ordered.end());
}

void Assembly::collectInputs(KernelGroup &group) {
  llvm::DenseSet<Operation *> inside(group.ops.begin(), group.ops.end());
  llvm::SetVector<Value> inputs;
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp();
          !source || !inside.contains(source))
        inputs.insert(operand);
  group.inputs = inputs.takeVector();
  for (Value input : group.inputs)
    demand(input);
}

/// Demands that the storage of `value` is in memory, and keeps the reshapes
/// that lead from it to `value`.
void Assembly::demand(Value value) {
  Value storage = grouping.storageOf(value);
  while (value != storage && views.insert(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  demanded.insert(storage);
}

void Assembly::collectOutputs(KernelGroups &result, Block &body) {
  for (Operation &op : body)
    if (grouping.roles.lookup(&op) == LoopRole::Opaque && grouping.isLive(&op))
      for (Value operand : op.getOperands())
        demand(operand);
  for (KernelGroup &group : result.groups) {
    int64_t id = &group - result.groups.data();
    for (Operation *op : group.ops) {
      int64_t owner = grouping.groupOf(op);
      if (owner < 0 || groupIds.lookup(owner) != id)
        continue;
      for (Value value : op->getResults())
        if (demanded.contains(value))
          group.outputs.push_back(value);
    }
  }
}

/// Sets the op that gives the group its name, and its rows.
void Assembly::name(KernelGroup &group, const OpenGroup &open) {
  if (open.call || open.whole) {
    group.root = open.root;
    return;
  }
  group.root = open.ops.back();
  for (Operation *op : open.ops)
    if (numbers.lookup(op) > numbers.lookup(group.root))
      group.root = op;
  if (open.rowLength == 0)
    return;
  for (Operation *op : group.ops)
    if (grouping.roles.lookup(op) == LoopRole::RowReduction) {
      group.root = op;
      group.rowRank = rowRankOf(op);
      return;
    }
}

/// The number of the group's input `value`; -1 if it is none.
static int64_t inputOf(const KernelGroup &group, Value value) {
  const auto *it = llvm::find(group.inputs, value);
  return it == group.inputs.end() ? -1 : it - group.inputs.begin();
}

/// Says which library call the group is.
void Assembly::collectCall(KernelGroup &group, const OpenGroup &open) {
  if (!open.call)
    return;
  const LibraryKind &kind = libraryKind(*open.call);
  auto library = cast<LibraryOpInterface>(open.root);
  GroupCall call{*open.call, {}, open.activation};
  for (Value operand : library.getCallOperands(*open.call))
    call.operands.push_back(inputOf(group, operand));
  call.operands.resize(kind.roles.size(), -1);
  for (auto [role, value] :
       {std::pair(kBiasRole, open.bias), {kAddendRole, open.addend}})
    if (value)
      call.operands[*kind.find(role)] = inputOf(group, value);
  group.call = std::move(call);
}

/// Returns whether the group reads each element of `input` only to compute the
/// element at the same index.
bool Assembly::readsInPlace(const KernelGroup &group, Value input) const {
  for (Operation *op : group.ops) {
    if (!llvm::is_contained(op->getOperands(), input))
      continue;
    LoopRole role = grouping.roles.lookup(op);
    if (role != LoopRole::Pointwise && role != LoopRole::RowReduction)
      return false;
  }
  return true;
}

/// Returns whether all values that the group computes from an element of
/// `input` are at the same index, so that no row of it is reduced.
bool Assembly::foldsNone(const KernelGroup &group, Value input) const {
  llvm::DenseSet<Value> made{input};
  for (Operation *op : group.ops) {
    if (llvm::none_of(op->getOperands(),
                      [&](Value operand) { return made.contains(operand); }))
      continue;
    if (grouping.roles.lookup(op) != LoopRole::Pointwise)
      return false;
    made.insert(op->result_begin(), op->result_end());
  }
  return true;
}

void Assembly::findInPlace(KernelGroup &group, const OpenGroup &open) {
  if (open.call) {
    bool may = grouping.table.calls(*open.call)->inPlace;
    int64_t at = open.addend ? inputOf(group, open.addend) : -1;
    bool once =
        at >= 0 && llvm::count_if(group.ops, [&](Operation *op) {
                     return llvm::is_contained(op->getOperands(), open.addend);
                   }) == 1;
    if (may && once)
      group.inPlace.push_back({0u, unsigned(at)});
    return;
  }
  if (open.whole || open.remapped)
    return;
  // A result is stored when its row has been read, and another result may still
  // read that row.
  bool onlyElements = open.rowLength && group.outputs.size() > 1;
  SmallVector<bool> taken(group.inputs.size());
  auto pairUp = [&](unsigned index, llvm::function_ref<bool(Value)> isWanted) {
    Value output = group.outputs[index];
    for (auto [at, value] : llvm::enumerate(group.inputs)) {
      auto from = cast<ShapedType>(value.getType());
      auto to = cast<ShapedType>(output.getType());
      if (taken[at] || from.getElementType() != to.getElementType() ||
          from.getNumElements() != to.getNumElements() || !isWanted(value) ||
          !readsInPlace(group, value) ||
          (onlyElements && !foldsNone(group, value)))
        continue;
      group.inPlace.push_back({index, unsigned(at)});
      return taken[at] = true;
    }
    return false;
  };
  // States come first: their memory is the only one that their next values may
  // be written over.
  SmallVector<bool> paired(group.outputs.size());
  for (auto [index, output] : llvm::enumerate(group.outputs))
    if (Value state = states.lookup(grouping.storageOf(output)))
      paired[index] = pairUp(index, [&](Value value) {
        return grouping.storageOf(value) == state;
      });
  for (unsigned index = 0; index < group.outputs.size(); ++index)
    if (!paired[index])
      pairUp(index, [&](Value value) {
        return !isState.contains(grouping.storageOf(value));
      });
  llvm::sort(group.inPlace);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Puts the steps in program order, each after what it needs; a group's place
/// is that of its last op. A group that a step before its place needs comes
/// just before that step, and so does what that group needs.
void Assembly::order(KernelGroups &result, Block &body) {
  std::vector<WorkStep> nodes;
  SmallVector<unsigned> keys;
  llvm::DenseMap<Operation *, unsigned> nodeOf; // of ops in no group
  for (unsigned id = 0; id < result.groups.size(); ++id) {
    nodes.push_back({id, nullptr});
    unsigned key = 0;
    for (Operation *op : result.groups[id].ops)
      if (int64_t owner = grouping.groupOf(op);
          owner >= 0 && groupIds.lookup(owner) == id)
        key = std::max(key, numbers.lookup(op));
    keys.push_back(key);
  }
  for (Operation &op : body) {
    bool opaque = grouping.roles.lookup(&op) == LoopRole::Opaque;
    if ((!opaque || !grouping.isLive(&op)) && !views.contains(&op))
      continue;
    nodeOf[&op] = nodes.size();
    nodes.push_back({-1, &op});
    keys.push_back(numbers.lookup(&op));
  }

  auto nodeThatMakes = [&](Value value) -> std::optional<unsigned> {
    Operation *source = value.getDefiningOp();
    if (!source)
      return std::nullopt;
    auto it = nodeOf.find(source);
    return it != nodeOf.end() ? it->second
                              : groupIds.lookup(grouping.groupOf(source));
  };
  auto isLater = [&](unsigned a, unsigned b) {
    return std::pair(keys[a], a) > std::pair(keys[b], b);
  };
  // Both lists, the needs of each node and the nodes that are left (`open`),
  // are in reverse order: the next node is at the back.
  std::vector<SmallVector<unsigned, 4>> needs(nodes.size());
  for (unsigned node = 0; node < nodes.size(); ++node) {
    for (Value value : nodes[node].op
                           ? SmallVector<Value>(nodes[node].op->getOperands())
                           : result.groups[node].inputs)
      if (std::optional<unsigned> need = nodeThatMakes(value))
        needs[node].push_back(*need);
    llvm::sort(needs[node], isLater);
  }
  SmallVector<unsigned> open =
      llvm::to_vector(llvm::seq<unsigned>(0, nodes.size()));
  llvm::sort(open, isLater);
  llvm::BitVector done(nodes.size()), begun(nodes.size());
  while (!open.empty()) {
    unsigned node = open.back();
    begun.set(node);
    SmallVectorImpl<unsigned> &missing = needs[node];
    while (!missing.empty() && done.test(missing.back()))
      missing.pop_back();
    if (!missing.empty()) {
      assert(!begun.test(missing.back()) && "levels admit no cycle");
      open.push_back(missing.back());
      continue;
    }
    open.pop_back();
    if (done.test(node))
      continue; // a step before its place needed it
    done.set(node);
    result.steps.push_back(nodes[node]);
  }
}

KernelGroups Assembly::run(Block &body) {
  KernelGroups result;
  std::vector<unsigned> opened;
  for (unsigned id = 0; id < grouping.groups.size(); ++id)
    if (!grouping.groups[id].ops.empty()) {
      groupIds[id] = opened.size();
      opened.push_back(id);
    }
  result.groups.resize(opened.size());
  for (auto [group, id] : llvm::zip(result.groups, opened)) {
    collectBody(grouping.groups[id], group);
    collectInputs(group);
    name(group, grouping.groups[id]);
    collectCall(group, grouping.groups[id]);
  }
  collectOutputs(result, body);
  for (auto [group, id] : llvm::zip(result.groups, opened))
    findInPlace(group, grouping.groups[id]);
  order(result, body);
  return result;
}

KernelGroups groupKernels(Block &body) {
  Grouping grouping(body, targetTable(body.getParentOp()));
  grouping.run();
  return Assembly(body, grouping).run(body);
}

} // namespace autopar
