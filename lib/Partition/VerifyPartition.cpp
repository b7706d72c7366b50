//===- VerifyPartition.cpp - What no longer exists after partition --------===//

#include "LowerReshard.h"
#include "OpPlan.h"
#include "autopar/Partition/Passes.h"
#include "autopar/Planning/StepRepeats.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_VERIFYPARTITION
#include "autopar/Partition/Passes.h.inc"
} // namespace autopar

using namespace autopar;

static LogicalResult verifyOp(Operation *op) {
  if (isa<ReshardOp>(op))
    return op->emitError("a reshard is left after partition: run "
                         "autopar-partition");
  using D = AutoparDialect;
  static constexpr std::pair<StringLiteral, StringLiteral> removedBy[] = {
      {D::kRegathers, "autopar-insert-reshards"},
      {D::kTask, "autopar-partition"},
      {D::kStrategy, "autopar-check-equality"},
      {D::kShardings, "autopar-check-equality"},
      {D::kOrigin, "autopar-check-equality"}};
  for (auto [name, pass] : removedBy)
    if (op->hasAttr(name))
      return op->emitError()
             << "'" << name << "' is left after partition: run " << pass;
  return success();
}

/// A sharding and a global type that together make the local type.
static LogicalResult verifyInterface(func::FuncOp function, Attribute sharding,
                                     Attribute globalType, Type local,
                                     const PlannedModule &planned,
                                     const Twine &what) {
  auto type = dyn_cast_or_null<TypeAttr>(globalType);
  if (!type)
    return function.emitError()
           << what << " has no " << AutoparDialect::kGlobalType;
  FailureOr<Sharding> parsed = readSharding(function, sharding, planned, what);
  if (failed(parsed))
    return failure();
  Type expected = localType(type.getValue(), *parsed, planned.mesh);
  if (expected == local)
    return success();
  return function.emitError()
         << what << " has type " << local
         << "; its global type and sharding make " << expected;
}

/// Checks that no stage sends what is repeated in each stage that reads it.
static LogicalResult verifySends(func::FuncOp function) {
  StepRepeats repeats(function);
  for (auto send : function.getBody().front().getOps<SendOp>())
    if (repeats.isRepeated(send))
      return send.emitError("sends what depends on no input: each stage that "
                            "reads it must compute it (autopar-split-stages)");
  return success();
}

static LogicalResult verifyFunction(func::FuncOp function,
                                    const PlannedModule &planned) {
  if (!function->hasAttr(AutoparDialect::kStage))
    return function.emitError() << "has no " << AutoparDialect::kStage
                                << ": run autopar-split-stages";
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (failed(verifyInterface(
            function, function.getArgAttr(i, AutoparDialect::kSharding),
            function.getArgAttr(i, AutoparDialect::kGlobalType),
            function.getArgumentTypes()[i], planned, "argument " + Twine(i))))
      return failure();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (failed(verifyInterface(
            function, function.getResultAttr(i, AutoparDialect::kSharding),
            function.getResultAttr(i, AutoparDialect::kGlobalType),
            function.getResultTypes()[i], planned, "result " + Twine(i))))
      return failure();
  for (Operation &op : function.getBody().front())
    if (failed(verifyOp(&op)))
      return failure();
  return verifySends(function);
}

namespace {
struct VerifyPartition : autopar::impl::VerifyPartitionBase<VerifyPartition> {
  void runOnOperation() final {
    FailureOr<PlannedModule> planned = PlannedModule::read(getOperation());
    if (failed(planned))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function->hasAttr(AutoparDialect::kKept)) {
        function.emitError("a global copy is left after partition: run "
                           "autopar-check-equality");
        return signalPassFailure();
      }
      if (failed(verifyFunction(function, *planned)))
        return signalPassFailure();
    }
  }
};
} // namespace
