//===- GroupEpilogues.cpp - What a library call takes along ---------------===//

#include "Grouping.h"

using namespace mlir;

namespace autopar {

/// What `op` is to the library group under its operand `at`.
std::optional<EpilogueStep> Grouping::epilogueStep(Operation *op,
                                                   const OpenGroup &group,
                                                   ArrayRef<Access> accesses,
                                                   unsigned at) const {
  if (std::optional<UnaryKind> kind = unaryKindOf(op)) {
    if (llvm::is_contained(table.activations, *kind))
      return EpilogueStep::Activation;
    return std::nullopt;
  }
  if (binaryKindOf(op) != BinaryKind::Add)
    return std::nullopt;
  const Access &other = accesses[1 - at];
  if (!other.base || groupOf(other.base) == groupOf(group.tail))
    return std::nullopt;
  if (!other.spread)
    return EpilogueStep::Addend;
  Operation *spread = other.path.back();
  unsigned spreads = llvm::count_if(other.path, [&](Operation *step) {
    return roles.lookup(step) == LoopRole::Spread;
  });
  bool bias = spreads == 1 && roles.lookup(spread) == LoopRole::Spread &&
              isBiasOf(group.root, spread);
  return bias ? std::optional(EpilogueStep::Bias) : std::nullopt;
}

bool Grouping::tryEpilogue(Operation *op, ArrayRef<Access> accesses,
                           unsigned at) {
  const Access &access = accesses[at];
  int64_t id = groupOf(access.base);
  if (id < 0 || groups[id].tail != access.base || access.spread)
    return false;
  bool only = hasOneLiveUse(access.base);
  for (Operation *step : access.path)
    only &= hasOneLiveUse(step->getResult(0));
  OpenGroup &group = groups[id];
  auto step = epilogueStep(op, group, accesses, at);
  if (!only || !step)
    return false;
  ArrayRef<EpilogueStep> order = group.kind == GroupKind::Contraction
                                     ? ArrayRef(table.contraction)
                                     : ArrayRef(table.convolution);
  auto *place = llvm::find(order.drop_front(group.nextStep), *step);
  if (place == order.end())
    return false;
  group.nextStep = place - order.begin() + 1;
  if (op->getNumOperands() == 2) {
    Value other = accesses[1 - at].base;
    group.level = std::max(group.level, levelOf(other) + 1);
    consume(other);
  }
  if (*step == EpilogueStep::Addend)
    group.addend = op->getOperand(1 - at);
  group.tail = op->getResult(0);
  add(op, id);
  return true;
}

/// x * sigmoid(x) on the result of a library call that nothing else reads: the
/// product is promised to the group when the sigmoid joins it.
bool Grouping::trySilu(Operation *sigmoid, const Access &access) {
  int64_t id = groupOf(access.base);
  if (!table.silu || unaryKindOf(sigmoid) != UnaryKind::Sigmoid || id < 0 ||
      groups[id].tail != access.base || !access.path.empty() ||
      !hasOneLiveUse(sigmoid->getResult(0)))
    return false;
  Operation *product = nullptr;
  for (Operation *user : sigmoid->getUsers())
    if (isLive(user))
      product = user;
  bool silu = binaryKindOf(product) == BinaryKind::Mul &&
              llvm::is_contained(product->getOperands(), access.base);
  for (Operation *user : access.base.getUsers())
    silu &= user == sigmoid || user == product || !isLive(user);
  OpenGroup &group = groups[id];
  ArrayRef<EpilogueStep> order = group.kind == GroupKind::Contraction
                                     ? ArrayRef(table.contraction)
                                     : ArrayRef(table.convolution);
  const EpilogueStep *place =
      llvm::find(order.drop_front(group.nextStep), EpilogueStep::Activation);
  if (!silu || place == order.end())
    return false;
  group.nextStep = place - order.begin() + 1;
  group.tail = Value();
  promised[product] = id;
  add(sigmoid, id);
  return true;
}

} // namespace autopar
