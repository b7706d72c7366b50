//===- MoveToSetup.cpp - What depends on no input is computed once --------===//

#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Frontend/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace autopar {
#define GEN_PASS_DEF_MOVETOSETUP
#include "autopar/Frontend/Passes.h.inc"
} // namespace autopar

using namespace mlir;

namespace autopar {
namespace {

/// Elementwise chains longer than this are worth storing whatever their size,
/// and results of at most so many bytes are, whatever they are made of.
constexpr unsigned kShortChain = 8;
constexpr int64_t kSmallResult = 1 << 20;

/// Ops of `step` that no input reaches.
DenseSet<Operation *> findIndependent(func::FuncOp step) {
  DenseSet<Value> dependent;
  for (BlockArgument argument : step.getArguments())
    if (!isa_and_nonnull<ParameterAttr>(
            step.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource)))
      dependent.insert(argument);
  DenseSet<Operation *> independent;
  for (Operation &op : step.getBody().front().without_terminator()) {
    bool reached = !isMemoryEffectFree(&op) ||
                   llvm::any_of(op.getOperands(), [&](Value operand) {
                     return dependent.contains(operand);
                   });
    if (reached)
      dependent.insert(op.result_begin(), op.result_end());
    else
      independent.insert(&op);
  }
  return independent;
}

/// Costs nothing where it is used.
bool isFree(Operation *op) {
  LoopRole role = loopRoleOf(op);
  return role == LoopRole::Source || role == LoopRole::Spread ||
         role == LoopRole::View;
}

/// Returns whether a library reads `value`, which has one use: no kernel
/// computes it where it is read, and a stored constant can be packed.
bool isReadByLibrary(Value value) {
  for (unsigned steps = 0; steps < kShortChain && value.hasOneUse(); ++steps) {
    Operation *user = *value.user_begin();
    if (auto library = dyn_cast<LibraryOpInterface>(user))
      return !library.getCallKinds().empty();
    if (loopRoleOf(user) != LoopRole::View || user->getNumResults() != 1)
      return false;
    value = user->getResult(0);
  }
  return false;
}

/// The ops of a short elementwise chain with one use, whose result is larger
/// than what it is made of: stored, it would cost more than it saves. Empty if
/// `value` is none. What others use, too, begins a chain of its own.
SmallVector<Operation *> findCheapChain(Value value) {
  if (!value.hasOneUse() || bytesOf(value.getType()) <= kSmallResult ||
      isReadByLibrary(value))
    return {};
  SmallVector<Operation *> chain;
  llvm::SmallSetVector<Value, 16> reached;
  reached.insert(value);
  int64_t sourceBytes = 0;
  for (unsigned i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i].getDefiningOp();
    if (!op || (!isFree(op) && !reached[i].hasOneUse())) {
      sourceBytes += bytesOf(reached[i].getType());
      continue;
    }
    bool pointwise = loopRoleOf(op) == LoopRole::Pointwise;
    if (pointwise)
      chain.push_back(op);
    if ((!pointwise && !isFree(op)) || chain.size() > kShortChain ||
        reached.size() > 4 * kShortChain)
      return {};
    reached.insert(op->operand_begin(), op->operand_end());
  }
  return bytesOf(value.getType()) > sourceBytes ? chain
                                                : SmallVector<Operation *>();
}

/// Values that @setup computes for @step, in the order of their ops.
SmallVector<Value> findSetupValues(func::FuncOp step,
                                   const DenseSet<Operation *> &independent) {
  llvm::SetVector<Value> wanted;
  auto want = [&](Operation &op) {
    wanted.insert(op.operand_begin(), op.operand_end());
  };
  for (Operation &op : step.getBody().front())
    if (!independent.contains(&op))
      want(op);
  DenseSet<Operation *> makers, staying;
  for (unsigned i = 0; i < wanted.size(); ++i) {
    Operation *op = wanted[i].getDefiningOp();
    if (!op || !independent.contains(op))
      continue;
    if (!isFree(op) && !staying.contains(op)) {
      SmallVector<Operation *> chain = findCheapChain(wanted[i]);
      staying.insert(chain.begin(), chain.end());
    }
    if (isFree(op) || staying.contains(op))
      want(*op);
    else
      makers.insert(op);
  }
  SmallVector<Value> values;
  for (Operation &op : step.getBody().front())
    if (makers.contains(&op))
      for (Value result : op.getResults())
        if (wanted.contains(result))
          values.push_back(result);
  return values;
}

/// The ONNX name of a value, or its node's name and a number.
std::string nameOf(Value value, llvm::StringSet<> &taken) {
  Operation *op = value.getDefiningOp();
  unsigned index = cast<OpResult>(value).getResultNumber();
  std::string base;
  if (auto names = op->getAttrOfType<ArrayAttr>(AutoparDialect::kNames))
    if (index < names.size())
      if (auto text = dyn_cast<StringAttr>(names[index]))
        base = text.str();
  bool named = !base.empty();
  if (!named)
    base = nodeName(op->getLoc()).str();
  std::string name = named ? base : base + "/0";
  for (unsigned i = 1; !taken.insert(name).second; ++i)
    name = base + "/" + std::to_string(i);
  return name;
}

/// Ops of `step` that `values` are made of, in order.
SmallVector<Operation *> coneOf(func::FuncOp step, ArrayRef<Value> values) {
  DenseSet<Value> needed(values.begin(), values.end());
  SmallVector<Operation *> cone;
  for (Operation &op : llvm::reverse(step.getBody().front()))
    if (llvm::any_of(op.getResults(),
                     [&](Value result) { return needed.contains(result); })) {
      cone.push_back(&op);
      needed.insert(op.operand_begin(), op.operand_end());
    }
  std::reverse(cone.begin(), cone.end());
  return cone;
}

func::FuncOp createSetup(func::FuncOp step, ArrayRef<Value> values) {
  OpBuilder builder(step);
  auto setup = func::FuncOp::create(builder, step.getLoc(), "setup",
                                    builder.getFunctionType({}, {}));
  Block *body = setup.addEntryBlock();
  SmallVector<Operation *> cone = coneOf(step, values);
  DenseSet<Value> used;
  for (Operation *op : cone)
    used.insert(op->operand_begin(), op->operand_end());
  IRMapping map;
  SmallVector<Attribute> sources;
  for (BlockArgument argument : step.getArguments()) {
    if (!used.contains(argument))
      continue;
    map.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
    sources.push_back(
        step.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource));
  }
  builder.setInsertionPointToEnd(body);
  for (Operation *op : cone)
    builder.clone(*op, map);
  SmallVector<Value> returned;
  for (Value value : values)
    returned.push_back(map.lookup(value));
  func::ReturnOp::create(builder, step.getLoc(), returned);
  setup.setType(builder.getFunctionType(body->getArgumentTypes(),
                                        TypeRange(ValueRange(returned))));
  setArgAttrs(setup, AutoparDialect::kSource, sources);
  return setup;
}

void nameResults(func::FuncOp setup, ArrayRef<Value> values) {
  llvm::StringSet<> taken;
  SmallVector<Attribute> names;
  for (Value value : values) {
    auto name = StringAttr::get(setup.getContext(), nameOf(value, taken));
    names.push_back(SetupValueAttr::get(setup.getContext(), name));
  }
  setResultAttrs(setup, AutoparDialect::kResult, names);
}

/// Step takes the values as arguments, between its inputs and parameters. It
/// gets a new block: arguments inserted one by one would move those behind them
/// each time.
void replaceInStep(func::FuncOp step, ArrayRef<Value> values) {
  Block *before = &step.getBody().front(), *body = new Block;
  SmallVector<DictionaryAttr> attributes;
  auto isInput = [&](BlockArgument argument) {
    return isa_and_nonnull<InputAttr>(
        step.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource));
  };
  auto keep = [&](BlockArgument argument) {
    argument.replaceAllUsesWith(
        body->addArgument(argument.getType(), argument.getLoc()));
    attributes.push_back(
        function_interface_impl::getArgAttrDict(step, argument.getArgNumber()));
  };
  Builder builder(step.getContext());
  auto take = [&](Value value, size_t index) {
    value.replaceAllUsesWith(
        body->addArgument(value.getType(), value.getLoc()));
    attributes.push_back(builder.getDictionaryAttr(
        builder.getNamedAttr(AutoparDialect::kSource,
                             SetupResultAttr::get(step.getContext(), index))));
  };
  ArrayRef<BlockArgument> rest = before->getArguments();
  for (; !rest.empty() && isInput(rest.front()); rest = rest.drop_front())
    keep(rest.front());
  for (auto [index, value] : llvm::enumerate(values))
    take(value, index);
  llvm::for_each(rest, keep);
  body->getOperations().splice(body->end(), before->getOperations());
  step.getBody().push_back(body);
  before->erase();
  step.setType(builder.getFunctionType(body->getArgumentTypes(),
                                       step.getFunctionType().getResults()));
  step.setAllArgAttrs(attributes);
}

void eraseUnused(func::FuncOp step) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(step.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector dead(step.getNumArguments());
  for (BlockArgument argument : step.getArguments())
    if (argument.use_empty() &&
        isa_and_nonnull<ParameterAttr>(
            step.getArgAttr(argument.getArgNumber(), AutoparDialect::kSource)))
      dead.set(argument.getArgNumber());
  (void)step.eraseArguments(dead);
}

struct MoveToSetup : impl::MoveToSetupBase<MoveToSetup> {
  void runOnOperation() final {
    auto step = getOperation().lookupSymbol<func::FuncOp>("step");
    if (!step || step.isExternal() ||
        getOperation().lookupSymbol<func::FuncOp>("setup"))
      return;
    SmallVector<Value> values = findSetupValues(step, findIndependent(step));
    if (!values.empty()) {
      nameResults(createSetup(step, values), values);
      replaceInStep(step, values);
    }
    eraseUnused(step);
  }
};
} // namespace

} // namespace autopar
