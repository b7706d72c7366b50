//===- Mutation.cpp - Breaks one thing of a program -----------------------===//

#include "Mutation.h"
#include "autopar/Dialect/Interpreter/Interpreter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace autopar::property {

static bool verifies(ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(verify(module));
}

/// What one hides may be what the other breaks.
static std::optional<Mutation> mutateTwice(const Mutable &program) {
  Mutation both;
  for (int i = 0; i < 2; ++i) {
    const Mutator &mutator = program.random.pick(mutators());
    if (mutator.planned || mutator.onlyParts || mutator.mutate == mutateTwice)
      return std::nullopt;
    auto mutation = mutator.mutate(program);
    if (!mutation || !verifies(program.module))
      return std::nullopt;
    both.what += (i == 0 ? "" : "; ") + mutation->what;
    llvm::append_range(both.places, mutation->places);
    llvm::append_range(both.readers, mutation->readers);
  }
  return both;
}

ArrayRef<Mutator> mutators() {
  static const Mutator list[] = {
      {"collective dropped", dropCollective},
      {"collective doubled", doubleCollective},
      {"collective over other axes", changeAxes},
      {"collective of another reduction", changeReduction},
      {"collective along another dimension", changeDimension},
      {"collective with another offset, step or size", changeOffset},
      {"collective with another fill or mask value", changeFill},
      {"collective replaced by another", replaceCollective},
      {"block offset changed", changeBlockOffset},
      {"operands exchanged", exchangeOperands},
      {"operand replaced", replaceOperand},
      {"value replaced for all readers", replaceValue},
      {"compute op bypassed", bypassCompute},
      {"attribute of a compute op changed", changeProperty},
      {"constant changed", changeConstant},
      {"compute op passed off as another", passOff},
      {"arguments' sources exchanged", exchangeSources},
      {"argument or result laid out otherwise", changeArgumentLayout},
      {"returned values exchanged", exchangeReturned},
      {"results' names exchanged", exchangeResultNames},
      {"messages exchanged", exchangeChannels},
      {"another value sent", replaceSent},
      {"stages exchanged", exchangeStages},
      {"training: reduction of a gradient dropped", dropGradientSum},
      {"training: reduction of a gradient doubled", doubleGradientSum},
      {"training: gradient averaged twice", averageGradientSum},
      {"training: shard skipped in the norm", skipInNorm},
      {"training: replica updated otherwise", updateReplicaOtherwise},
      {"training: block or tied copy not summed", dropGradientTerm},
      {"two of these at once", mutateTwice},
      {"planned: operands exchanged", exchangeOperands, true},
      {"planned: operand replaced", replaceOperand, true},
      {"planned: attribute changed", changeProperty, true},
      {"planned: constant changed", changeConstant, true},
      {"planned: compute op bypassed", bypassCompute, true},
      {"planned: arguments' sources exchanged", exchangeSources, true},
      {"decomposed: operands exchanged", exchangeOperands, true, true},
      {"decomposed: operand replaced", replaceOperand, true, true},
      {"decomposed: attribute changed", changeProperty, true, true},
      {"decomposed: constant changed", changeConstant, true, true},
      {"decomposed: part bypassed", bypassCompute, true, true},
      {"decomposed, local: operand replaced", replaceOperand, false, true},
      {"decomposed, local: attribute changed", changeProperty, false, true},
  };
  return list;
}

std::optional<Mutation> mutate(ModuleOp module, const Mesh &mesh,
                               const Mutator &mutator, Random &random) {
  auto mutation =
      mutator.mutate(Mutable{module, mesh, random, mutator.onlyParts});
  // Mutants that the verifier refuses say nothing about the checker.
  if (!mutation || !verifies(module))
    return std::nullopt;
  return mutation;
}

void numberLocations(ModuleOp module) {
  unsigned line = 0;
  module.walk([&](Operation *op) {
    op->setLoc(FileLineColLoc::get(op->getContext(), "program", ++line, 1));
  });
}

//===----------------------------------------------------------------------===//
// What there is to break
//===----------------------------------------------------------------------===//

SmallVector<func::FuncOp> Mutable::functions() const {
  SmallVector<func::FuncOp> list;
  ModuleOp whole = module;
  for (auto func : whole.getOps<func::FuncOp>())
    if (!func->hasAttr(AutoparDialect::kKept))
      list.push_back(func);
  return list;
}

static bool isPart(Operation *op) {
  auto origin = op->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kOrigin);
  return origin && origin.size() > 1;
}

Operation *Mutable::pickOp(llvm::function_ref<bool(Operation *)> suits) const {
  SmallVector<Operation *> list;
  for (func::FuncOp func : functions())
    for (Operation &op : func.front())
      if (suits(&op) && (!onlyParts || isPart(&op)))
        list.push_back(&op);
  return list.empty() ? nullptr : random.pick(ArrayRef<Operation *>(list));
}

bool moves(Operation *op) {
  return (interpreter::isCollective(op) || interpreter::isPosition(op)) &&
         op->getNumOperands() == 1;
}

bool isCompute(Operation *op) { return isa<ShardingRuleOpInterface>(op); }

/// What a stage receives of `send`.
static SmallVector<Operation *> receivers(SendOp send) {
  SmallVector<Operation *> list;
  send->getParentOfType<ModuleOp>().walk([&](RecvOp recv) {
    if (recv.getChannel() == send.getChannel())
      list.push_back(recv);
  });
  return list;
}

/// Partition makes a return of its own, at the function.
static void addPlace(Operation *op, SmallVector<Location> &places) {
  places.push_back(op->getLoc());
  if (isa<func::ReturnOp>(op))
    places.push_back(op->getParentOp()->getLoc());
}

void addReaders(Value value, SmallVector<Location> &places) {
  SmallVector<Operation *> work(value.getUsers());
  while (!work.empty()) {
    Operation *next = work.pop_back_val();
    addPlace(next, places);
    if (auto send = dyn_cast<SendOp>(next))
      llvm::append_range(work, receivers(send));
    if (moves(next) || isa<RecvOp>(next))
      llvm::append_range(work, next->getUsers());
  }
}

Mutation mutationOf(Operation *op, const Twine &what) {
  Mutation mutation;
  mutation.what = (op->getName().getStringRef() + " " + what).str();
  addPlace(op, mutation.places);
  for (Value result : op->getResults())
    addReaders(result, mutation.readers);
  if (auto send = dyn_cast<SendOp>(op))
    for (Operation *receiver : receivers(send)) {
      mutation.readers.push_back(receiver->getLoc());
      addReaders(receiver->getResult(0), mutation.readers);
    }
  return mutation;
}

} // namespace autopar::property
