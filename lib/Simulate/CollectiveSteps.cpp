//===- CollectiveSteps.cpp - Collectives of a schedule, as steps ----------===//

#include "CollectiveSteps.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Dialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autopar {

static std::optional<ReshardKind> collectiveKind(Operation &op) {
  return llvm::TypeSwitch<Operation *, std::optional<ReshardKind>>(&op)
      .Case([](AllReduceOp) { return ReshardKind::AllReduce; })
      .Case([](AllGatherOp) { return ReshardKind::AllGather; })
      .Case([](ReduceScatterOp) { return ReshardKind::ReduceScatter; })
      .Case([](AllToAllOp) { return ReshardKind::AllToAll; })
      .Case([](HaloOp) { return ReshardKind::Halo; })
      .Default(std::nullopt);
}

bool isPlannedCollective(Operation &op) {
  return collectiveKind(op).has_value();
}

FailureOr<ReshardStep> stepOfCollective(Operation &op, const Mesh &mesh) {
  ReshardStep step;
  step.kind = *collectiveKind(op);
  for (auto axis :
       cast<MeshAxesOpInterface>(op).getAxes().getAsRange<StringAttr>()) {
    std::optional<SmallVector<unsigned>> subAxes = mesh.lookup(axis.getValue());
    if (!subAxes)
      return op.emitError() << "the mesh has no axis " << axis;
    step.subAxes.append(subAxes->begin(), subAxes->end());
  }
  auto output = cast<ShapedType>(op.getOperand(1).getType());
  step.bytes = step.kind == ReshardKind::AllGather
                   ? bytesOf(output)
                   : bytesOf(op.getOperand(0).getType());
  if (auto halo = dyn_cast<HaloOp>(op)) {
    int64_t length = output.getDimSize(halo.getDim());
    Interval interval{int64_t(halo.getStep()), int64_t(halo.getOffset()),
                      length};
    step.bytes = bytesOf(output) / length *
                 haloSize(halo.getSize(), mesh.product(step.subAxes), interval);
  }
  return step;
}

} // namespace autopar
