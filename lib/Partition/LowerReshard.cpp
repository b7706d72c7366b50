//===- LowerReshard.cpp - Collectives from one sharding to another --------===//

#include "LowerReshard.h"
#include "autopar/Dialect/Bytes.h"

using namespace mlir;

namespace autopar {

RankedTensorType localType(Type globalType, const Sharding &sharding,
                           const Mesh &mesh) {
  auto tensor = cast<RankedTensorType>(globalType);
  return RankedTensorType::get(localShape(tensor.getShape(), sharding, mesh),
                               tensor.getElementType());
}

/// Emits one step, after which the value is sharded as `after`.
static Value emit(OpBuilder &builder, ReshardOp reshard,
                  const ShardingStep &step, const Sharding &after, Value input,
                  const PlannedModule &planned) {
  Location loc = reshard.getLoc();
  auto global = cast<RankedTensorType>(reshard.getType());
  Type type = localType(global, after, planned.mesh);
  ArrayAttr axes = planned.axes(builder, step.subAxes);
  FlatSymbolRefAttr mesh = planned.symbol;
  IntegerAttr dim = builder.getI64IntegerAttr(step.dim);
  auto kind = ReduceKindAttr::get(builder.getContext(), step.reduce);
  Value none;
  switch (step.kind) {
  case ReshardKind::SliceBlock:
    return SliceBlockOp::create(builder, loc, type, input, mesh, axes, dim);
  case ReshardKind::KeepFirst:
    return KeepFirstOp::create(builder, loc, type, input, mesh, axes, kind);
  case ReshardKind::AllGather:
    return AllGatherOp::create(builder, loc, type, input, none, mesh, axes, dim)
        .getResult();
  case ReshardKind::ReduceScatter:
    return ReduceScatterOp::create(builder, loc, type, input, none, mesh, axes,
                                   dim, kind)
        .getResult();
  case ReshardKind::AllToAll:
    return AllToAllOp::create(builder, loc, type, input, none, mesh, axes, dim,
                              builder.getI64IntegerAttr(step.concatDim))
        .getResult();
  case ReshardKind::AllReduce:
    return AllReduceOp::create(builder, loc, type, input, none, mesh, axes,
                               kind)
        .getResult();
  case ReshardKind::Halo:
    break;
  }
  const Interval &interval = *after.dims[step.dim].interval;
  FloatAttr fill = builder.getF64FloatAttr(0.0);
  if (reshard.getFill())
    fill = cast<FloatAttr>((*reshard.getFill())[step.dim]);
  return HaloOp::create(builder, loc, type, input, none, mesh, axes, dim,
                        builder.getI64IntegerAttr(global.getDimSize(step.dim)),
                        builder.getI64IntegerAttr(interval.step),
                        builder.getI64IntegerAttr(interval.offset), fill)
      .getResult();
}

Value lowerReshard(OpBuilder &builder, ReshardOp reshard, Value input,
                   const PlannedModule &planned) {
  const Sharding to = reshard.getTo().toSharding(planned.mesh);
  Sharding sharding = reshard.getFrom().toSharding(planned.mesh);
  for (auto attr : reshard.getSteps().getAsRange<ReshardStepAttr>()) {
    ShardingStep step = *attr.toStep(planned.mesh); // verified
    sharding = *shardingAfter(step, sharding, to);
    input = emit(builder, reshard, step, sharding, input, planned);
    if (Attribute again = reshard->getAttr(AutoparDialect::kRegather);
        again && !isLocal(step.kind))
      input.getDefiningOp()->setAttr(AutoparDialect::kRegather, again);
  }
  return input;
}

} // namespace autopar
