//===- UnreachedParameters.cpp - Parameters without a gradient ------------===//

#include "UnreachedParameters.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace autopar {

namespace {

class GradientPaths {
public:
  GradientPaths(Value loss, llvm::function_ref<bool(Value)> hasGradient);

  /// The first op through which the loss depends on the parameter and no
  /// gradient comes back; null if it does not depend on it.
  Operation *findBlocker(BlockArgument parameter) const;

private:
  bool blocks(Operation *op) const;

  llvm::function_ref<bool(Value)> hasGradient;
  DenseSet<Operation *> needed; // for the loss
};

} // namespace

GradientPaths::GradientPaths(Value loss,
                             llvm::function_ref<bool(Value)> hasGradient)
    : hasGradient(hasGradient) {
  SmallVector<Value> open{loss};
  while (!open.empty())
    if (Operation *op = open.pop_back_val().getDefiningOp();
        op && needed.insert(op).second)
      llvm::append_range(open, op->getOperands());
}

/// Returns whether a gradient of a result came to the op, or none can: it is of
/// integers or truth values.
bool GradientPaths::blocks(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value result) {
    return hasGradient(result) || !isa<FloatType>(getElementTypeOrSelf(result));
  });
}

Operation *GradientPaths::findBlocker(BlockArgument parameter) const {
  llvm::SmallSetVector<Value, 8> reached;
  reached.insert(parameter);
  for (unsigned i = 0; i < reached.size(); ++i)
    for (Operation *user : reached[i].getUsers()) {
      if (!needed.contains(user))
        continue;
      if (blocks(user))
        return user;
      reached.insert(user->result_begin(), user->result_end());
    }
  return nullptr;
}

/// `round of node 'Round_3'`
static std::string describe(Operation *op) {
  std::string what = op->getName().stripDialect().str();
  if (auto unary = dyn_cast<UnaryOp>(op))
    what = stringifyUnaryKind(unary.getKind()).str();
  else if (isa<ConvertOp>(op))
    what = "the conversion to integers";
  else if (isa<CompareOp>(op))
    what = "the comparison";
  return what + " of node '" + nodeName(op->getLoc()).str() + "'";
}

/// `'a', 'b', 'c' and 2 more`
static std::string listOf(ArrayRef<StringRef> names) {
  constexpr size_t kShown = 3;
  std::string text = "'" + llvm::join(names.take_front(kShown), "', '") + "'";
  if (names.size() > kShown)
    text += " and " + std::to_string(names.size() - kShown) + " more";
  return text;
}

void keepUnreached(StepFunction &step, ArrayRef<BlockArgument> parameters,
                   Value loss, llvm::function_ref<bool(Value)> hasGradient) {
  GradientPaths paths(loss, hasGradient);
  llvm::MapVector<Operation *, SmallVector<StringRef>> names;
  for (BlockArgument parameter : parameters) {
    if (hasGradient(parameter))
      continue;
    auto source = cast<ParameterAttr>(step.source(parameter));
    names[paths.findBlocker(parameter)].push_back(source.getName());
    step.setSource(parameter, StateAttr::get(source.getContext(),
                                             source.getName(), source));
    step.setNext(source.getName(), StateRole::Model, parameter);
  }
  for (auto &[blocker, of] : names) {
    InFlightDiagnostic warning = step.function.emitWarning();
    if (blocker)
      warning << "the loss depends on " << listOf(of) << " only through "
              << describe(blocker) << ", whose gradient is zero";
    else
      warning << "the loss does not depend on " << listOf(of);
    warning << ": left as " << (of.size() == 1 ? "it is" : "they are")
            << ", without weight decay";
  }
}

} // namespace autopar
