//===- ReshardSteps.cpp - Steps between shardings as attributes -----------===//

#include "autopar/Dialect/Dialect.h"

using namespace mlir;

namespace autopar {

/// Returns whether a step of the kind names a dimension.
static bool hasDim(ReshardKind kind) {
  return kind != ReshardKind::KeepFirst && kind != ReshardKind::AllReduce;
}

static bool hasReduction(ReshardKind kind) {
  return kind == ReshardKind::KeepFirst || kind == ReshardKind::AllReduce ||
         kind == ReshardKind::ReduceScatter;
}

LogicalResult
ReshardStepAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                        ReshardKind kind, ArrayRef<StringAttr> axes,
                        int64_t dim, int64_t concatDim, ReduceKind reduce) {
  StringRef name = stringifyReshardKind(kind);
  if (axes.empty())
    return emitError() << name << " needs axes";
  if (hasDim(kind) ? dim < 0 : dim != -1)
    return emitError() << name
                       << (hasDim(kind) ? " needs a dim" : " has no dim");
  bool joins = kind == ReshardKind::AllToAll;
  if (joins ? concatDim < 0 : concatDim != -1)
    return emitError() << name
                       << (joins ? " needs a concat_dim"
                                 : " has no concat_dim");
  if (!hasReduction(kind) && reduce != ReduceKind::Sum)
    return emitError() << name << " reduces nothing";
  return success();
}

std::optional<ShardingStep> ReshardStepAttr::toStep(const Mesh &mesh) const {
  ShardingStep step;
  step.kind = getKind();
  for (StringAttr axis : getAxes()) {
    std::optional<SmallVector<unsigned>> subAxes = mesh.lookup(axis);
    if (!subAxes)
      return std::nullopt;
    llvm::append_range(step.subAxes, *subAxes);
  }
  step.dim = std::max<int64_t>(getDim(), 0);
  step.concatDim = std::max<int64_t>(getConcatDim(), 0);
  step.reduce = getReduce();
  return step;
}

ReshardStepAttr ReshardStepAttr::get(MLIRContext *context,
                                     const ShardingStep &step,
                                     const Mesh &mesh) {
  SmallVector<StringAttr> axes;
  for (const std::string &name : mesh.spell(step.subAxes))
    axes.push_back(StringAttr::get(context, name));
  return get(context, step.kind, axes,
             hasDim(step.kind) ? int64_t(step.dim) : -1,
             step.kind == ReshardKind::AllToAll ? int64_t(step.concatDim) : -1,
             step.reduce);
}

LogicalResult verifySteps(function_ref<InFlightDiagnostic()> emitError,
                          Attribute steps, const Sharding &from,
                          const Sharding &to, const Mesh &mesh) {
  std::optional<Sharding> reached = from;
  if (auto list = dyn_cast_or_null<ArrayAttr>(steps))
    for (auto [number, item] : llvm::enumerate(list)) {
      auto attr = dyn_cast<ReshardStepAttr>(item);
      std::optional<ShardingStep> step =
          attr ? attr.toStep(mesh) : std::nullopt;
      if (!step)
        return emitError() << "step " << number << " is " << item
                           << ", which is no step on this mesh";
      std::optional<Sharding> next = shardingAfter(*step, *reached, to);
      if (!next)
        return emitError() << "step " << number << ", " << item
                           << ", does not apply to a value that is sharded "
                           << toString(*reached, mesh);
      reached = next;
    }
  if (*reached == to)
    return success();
  return emitError() << "its steps lead to " << toString(*reached, mesh)
                     << ", not to " << toString(to, mesh);
}

} // namespace autopar
