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

FailureOr<Value> ReshardLowering::lower(OpBuilder &builder, ReshardOp reshard,
                                        Value input) {
  auto type = cast<RankedTensorType>(reshard.getType());
  const std::optional<ReshardPath> &path =
      cache.get(reshard.getFrom().toSharding(planned.mesh),
                reshard.getTo().toSharding(planned.mesh), type.getShape(),
                elementBytes(type.getElementType()));
  if (!path)
    return reshard.emitError()
           << "node '" << nodeName(reshard.getLoc())
           << "': no collectives lead from " << reshard.getFrom() << " to "
           << reshard.getTo()
           << "; micro-batches cannot exchange data, and no value leaves an "
              "interval: choose other shardings";
  for (const ReshardStep &step : *path)
    input = emit(builder, reshard, step, input);
  return input;
}

Value ReshardLowering::emit(OpBuilder &builder, ReshardOp reshard,
                            const ReshardStep &step, Value input) const {
  Location loc = reshard.getLoc();
  auto global = cast<RankedTensorType>(reshard.getType());
  Type type = localType(global, step.after, planned.mesh);
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
  const Interval &interval = *step.after.dims[step.dim].interval;
  FloatAttr fill = builder.getF64FloatAttr(0.0);
  if (reshard.getFill())
    fill = cast<FloatAttr>((*reshard.getFill())[step.dim]);
  return HaloOp::create(builder, loc, type, input, none, mesh, axes, dim,
                        builder.getI64IntegerAttr(global.getDimSize(step.dim)),
                        builder.getI64IntegerAttr(interval.step),
                        builder.getI64IntegerAttr(interval.offset), fill)
      .getResult();
}

} // namespace autopar
