//===- GroupEpilogues.cpp - What a library call takes along ---------------===//

#include "Grouping.h"
#include "autopar/Dialect/LibraryCall.h"

using namespace mlir;

namespace autopar {

/// The step of the epilogue that `op` would be for the library call of its
/// operand `at`.
std::optional<EpilogueStep> Grouping::epilogueStep(Operation *op,
                                                   const OpenGroup &group,
                                                   ArrayRef<Access> accesses,
                                                   unsigned at) const {
  if (std::optional<UnaryKind> kind = unaryKindOf(op)) {
    std::optional<Activation> activation = activationOf(*kind);
    if (activation && libraryOf(group).take(*activation))
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

/// Returns whether the library applies `step` after those that the group has.
bool Grouping::takeStep(OpenGroup &group, EpilogueStep step) const {
  group.steps.push_back(step);
  if (libraryOf(group).take(group.steps))
    return true;
  group.steps.pop_back();
  return false;
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
  if (!only || !step || !takeStep(group, *step))
    return false;
  if (op->getNumOperands() == 2) {
    Value other = accesses[1 - at].base;
    group.level = std::max(group.level, levelOf(other) + 1);
    consume(other);
  }
  if (*step == EpilogueStep::Activation)
    group.activation = *activationOf(*unaryKindOf(op));
  if (*step == EpilogueStep::Bias)
    group.bias = accesses[1 - at].path.back()->getOperand(0);
  if (*step == EpilogueStep::Addend)
    group.addend = op->getOperand(1 - at);
  group.tail = op->getResult(0);
  add(op, id);
  return true;
}

/// Takes x * sigmoid(x) into the group of a library call whose result x nothing
/// else reads. When the sigmoid joins the group, the product is reserved for
/// it, too.
bool Grouping::trySilu(Operation *sigmoid, const Access &access) {
  int64_t id = groupOf(access.base);
  if (unaryKindOf(sigmoid) != UnaryKind::Sigmoid || id < 0 ||
      groups[id].tail != access.base ||
      !libraryOf(groups[id]).take(Activation::Silu) || !access.path.empty() ||
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
  if (!silu || !takeStep(group, EpilogueStep::Activation))
    return false;
  group.activation = Activation::Silu;
  group.tail = Value();
  promised[product] = id;
  add(sigmoid, id);
  return true;
}

} // namespace autopar
