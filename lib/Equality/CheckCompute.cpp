//===- CheckCompute.cpp - A local compute op against its origin -----------===//

#include "CheckCompute.h"

using namespace mlir;

namespace autopar {
namespace {

class ComputeChecker {
public:
  ComputeChecker(Operation *local, ShardingRuleOpInterface global,
                 const GlobalProgram &program, HeldValues &held)
      : local(local), global(global), program(program), mesh(program.mesh),
        held(held) {}

  LogicalResult run() {
    if (failed(readClaim()))
      return failure();
    for (unsigned i = 0; i < global->getNumOperands(); ++i)
      if (failed(checkOperand(i)))
        return failure();
    SmallVector<HeldValue, 0> results;
    if (failed(checkResults(results)) || failed(checkForm()))
      return failure();
    for (auto [value, result] : llvm::zip_equal(local->getResults(), results))
      held[value] = std::move(result);
    return success();
  }

private:
  InFlightDiagnostic error() {
    return local->emitError() << "node '" << nodeName(local->getLoc()) << "': ";
  }
  InFlightDiagnostic noteOperand(InFlightDiagnostic diagnostic, unsigned index,
                                 StringRef note) {
    noteOrigin(diagnostic, local->getOperand(index), note);
    return diagnostic;
  }
  std::string spell(ArrayRef<unsigned> subAxes) const {
    return "\"" + llvm::join(mesh.spell(subAxes), "\", \"") + "\"";
  }

  /// Reads the strategy. It is a claim, against which the following functions
  /// check the op.
  LogicalResult readClaim();
  LogicalResult checkOperand(unsigned index);
  LogicalResult checkPartial(unsigned index, const HeldValue &have);
  LogicalResult checkPlacement(unsigned index, const HeldValue &have);
  LogicalResult checkPast(unsigned index, const HeldValue &have);
  LogicalResult checkResults(SmallVector<HeldValue, 0> &results);
  /// Checks that the op is the one that the global op's own definition makes on
  /// one device.
  LogicalResult checkForm();
  bool sameForm(Operation *expected, Operation *actual, Block *scratch) const;

  Operation *local;
  ShardingRuleOpInterface global;
  const GlobalProgram &program;
  const Mesh &mesh;
  HeldValues &held;
  ShardingRule rule;
  Assignment assignment;
  OpShardings shardings;
};

} // namespace

LogicalResult ComputeChecker::readClaim() {
  if (local->getName() != global->getName()) {
    auto diagnostic = error();
    diagnostic << "is not '" << global->getName()
               << "', the op of the global program that it stems from";
    program.noteOp(diagnostic, global);
    return diagnostic;
  }
  auto strategy = local->getAttrOfType<StrategyAttr>(AutoparDialect::kStrategy);
  if (!strategy)
    return error() << "has no " << AutoparDialect::kStrategy
                   << ": nothing says how it is split";
  rule = global.getShardingRule();
  assignment = strategy.toAssignment(mesh);
  auto legal = shardingsOf(rule, assignment, mesh);
  if (!legal || legal->operands.size() != global->getNumOperands() ||
      legal->results.size() != global->getNumResults() ||
      local->getNumOperands() < global->getNumOperands() ||
      local->getNumResults() != global->getNumResults())
    return error() << "strategy " << strategy
                   << " is not legal by the op's sharding rule";
  for (const Choice &choice : assignment)
    if (choice.kind == Choice::Split &&
        rule.factors[choice.index].kind == FactorKind::Decompose)
      return error() << "splits factor " << choice.index
                     << ", for which the op must be decomposed";
  shardings = std::move(*legal);
  return success();
}

LogicalResult ComputeChecker::checkOperand(unsigned index) {
  auto it = held.find(local->getOperand(index));
  if (it == held.end())
    return error() << "operand " << index << " holds no value of the global "
                   << "program";
  const HeldValue &have = it->second;
  if (have.global != global->getOperand(index)) {
    auto diagnostic = error();
    diagnostic << "operand " << index
               << " holds another value than the global op reads";
    diagnostic.attachNote(have.global.getLoc()) << "it holds this value";
    diagnostic.attachNote(global->getOperand(index).getLoc())
        << "the global op reads this value";
    program.noteOp(diagnostic, global);
    return diagnostic;
  }
  if (failed(checkPartial(index, have)) || failed(checkPlacement(index, have)))
    return failure();
  return checkPast(index, have);
}

LogicalResult ComputeChecker::checkPartial(unsigned index,
                                           const HeldValue &have) {
  HeldValue want = HeldValue::of(have.global, shardings.operands[index]);
  for (const Partial &partial : have.partial) {
    const Partial *wanted = want.partialOver(partial.subAxis);
    if (wanted && wanted->kind == partial.kind)
      continue;
    auto diagnostic = error();
    diagnostic << "operand " << index << " is partial by "
               << stringifyReduceKind(partial.kind) << " over axis "
               << spell(partial.subAxis)
               << ", which the op does not let pass there: end it first with "
                  "autopar.all_reduce or autopar.reduce_scatter "
               << stringifyReduceKind(partial.kind);
    return noteOperand(std::move(diagnostic), index,
                       "the operand is made here");
  }
  for (const Partial &partial : want.partial)
    if (!have.partialOver(partial.subAxis))
      return noteOperand(
          std::move(error()
                    << "operand " << index << " must be partial over axis "
                    << spell(partial.subAxis) << ", or the op would count it "
                    << mesh.subAxes()[partial.subAxis].size
                    << " times: keep the partial value, or "
                       "autopar.keep_first"),
          index, "the value is made whole here");
  return success();
}

LogicalResult ComputeChecker::checkPlacement(unsigned index,
                                             const HeldValue &have) {
  const Sharding &want = shardings.operands[index];
  Sharding actual = have.sharding();
  if (actual.dims != want.dims)
    return noteOperand(
        std::move(error() << "operand " << index << " is sharded "
                          << toString(actual, mesh)
                          << ", but the op reads it as " << toString(want, mesh)
                          << ": reshard it first"),
        index, "the operand is made here");
  for (auto [dim, factors] : llvm::enumerate(rule.operands[index])) {
    if (!want.dims[dim].interval || !factors.window ||
        factors.window->fill == have.dims[dim].fill)
      continue;
    return noteOperand(
        std::move(error() << "operand " << index << " is filled with "
                          << have.dims[dim].fill << " outside dimension " << dim
                          << ": the op wants " << factors.window->fill),
        index, "it is filled here");
  }
  return success();
}

LogicalResult ComputeChecker::checkPast(unsigned index, const HeldValue &have) {
  for (auto [dim, factors] : llvm::enumerate(rule.operands[index])) {
    if (!have.hasPast(dim, mesh))
      continue;
    for (unsigned factor : factors.factors) {
      std::optional<double> neutral = rule.factors[factor].mask;
      if (!neutral || have.dims[dim].past == neutral)
        continue;
      return noteOperand(
          std::move(error() << "operand " << index << " has bytes past the "
                            << have.globalShape()[dim]
                            << " elements of dimension " << dim
                            << " that enter the result: insert autopar.mask "
                               "with value "
                            << *neutral),
          index, "the operand is made here");
    }
  }
  return success();
}

LogicalResult ComputeChecker::checkResults(SmallVector<HeldValue, 0> &results) {
  for (auto [index, sharding] : llvm::enumerate(shardings.results)) {
    HeldValue result =
        HeldValue::of(program.resolve(global->getResult(index)), sharding);
    Type expected = result.localType(mesh);
    if (local->getResult(index).getType() != expected)
      return error() << "result " << index << " must be " << expected
                     << ", the local type of sharding "
                     << toString(sharding, mesh);
    results.push_back(std::move(result));
  }
  return success();
}

LogicalResult ComputeChecker::checkForm() {
  Block scratch;
  OpBuilder builder(local->getContext());
  builder.setInsertionPointToEnd(&scratch);
  Operation *expected = global.localize(
      builder, local->getOperands().take_front(global->getNumOperands()),
      local->getResultTypes(),
      Localization{rule, assignment, mesh, program.symbol});
  if (sameForm(expected, local, &scratch))
    return success();
  auto diagnostic = error();
  diagnostic << "is not what the global op becomes on one device; its "
                "attributes must be "
             << expected->getPropertiesAsAttribute();
  program.noteOp(diagnostic, global);
  return diagnostic;
}

/// Compares the few ops that localize made for one op, recursively along their
/// operands.
bool ComputeChecker::sameForm(Operation *expected, Operation *actual,
                              Block *scratch) const {
  if (!actual || expected->getName() != actual->getName() ||
      expected->getPropertiesAsAttribute() !=
          actual->getPropertiesAsAttribute() ||
      expected->getResultTypes() != actual->getResultTypes() ||
      expected->getNumOperands() != actual->getNumOperands())
    return false;
  for (auto [want, have] :
       llvm::zip_equal(expected->getOperands(), actual->getOperands())) {
    Operation *def = want.getDefiningOp();
    bool made = def && def->getBlock() == scratch;
    if (made ? !sameForm(def, have.getDefiningOp(), scratch) : want != have)
      return false;
  }
  return true;
}

LogicalResult checkCompute(Operation *local, ShardingRuleOpInterface global,
                           const GlobalProgram &program, HeldValues &held) {
  return ComputeChecker(local, global, program, held).run();
}

} // namespace autopar
