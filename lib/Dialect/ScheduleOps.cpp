//===- ScheduleOps.cpp - Reshards, kernels, buffers -----------------------===//

#include "OpHelpers.h"
#include "autopar/Dialect/LibraryCall.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "autopar/Dialect/Ops.cpp.inc"

namespace autopar {

//===----------------------------------------------------------------------===//
// Tensors of a scheduled program
//===----------------------------------------------------------------------===//

/// A sharding says which block of the whole tensor `type` is.
static LogicalResult verifyBlock(function_ref<InFlightDiagnostic()> emitError,
                                 ShapedType type, RankedTensorType whole,
                                 ShardingAttr sharding) {
  if (bool(whole) != bool(sharding))
    return emitError() << "has only one of global_type and sharding";
  if (!whole)
    return success();
  if (whole.getElementType() != type.getElementType() ||
      whole.getRank() != type.getRank())
    return emitError() << "has type " << type << ", which is no block of "
                       << whole;
  if (int64_t(sharding.getDims().size()) != whole.getRank())
    return emitError() << "has sharding " << sharding << " of " << whole;
  return success();
}

LogicalResult
PersistentAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       Attribute what, ShapedType type, RankedTensorType whole,
                       ShardingAttr sharding, bool) {
  if (!isa_and_nonnull<ParameterAttr, InputAttr, StateAttr, SetupValueAttr>(
          what))
    return emitError() << "is no parameter, input, state or setup value";
  return verifyBlock(emitError, type, whole, sharding);
}

LogicalResult PortAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               Attribute what, ShapedType type,
                               RankedTensorType whole, ShardingAttr sharding,
                               BufferSpace, int64_t position, int64_t) {
  if (what &&
      !isa<ParameterAttr, InputAttr, StateAttr, SetupResultAttr, OutputAttr,
           GradientAttr, NextStateAttr, SetupValueAttr>(what))
    return emitError() << "comes from or goes to " << what
                       << ", which no argument or result does";
  if (position < 0)
    return emitError() << "has position " << position;
  return verifyBlock(emitError, type, whole, sharding);
}

//===----------------------------------------------------------------------===//
// reshard
//===----------------------------------------------------------------------===//

LogicalResult ReshardOp::verify() {
  size_t rank = getType().getRank();
  for (ShardingAttr sharding : {getFrom(), getTo()})
    if (sharding.getDims().size() != rank)
      return emitOpError() << "sharding " << sharding << " does not have "
                           << rank << " dimensions";
  if (getFrom().getMesh() != getTo().getMesh())
    return emitOpError("must stay on one mesh");
  for (ShardingAttr sharding : {getFrom(), getTo()})
    if (failed(verifySharding(*this, "reshard", sharding, getType())))
      return failure();
  FailureOr<Mesh> mesh = lookupMesh(*this, getFrom().getMesh());
  return failed(mesh) ? failure()
                      : verifySteps([&] { return emitOpError(); }, getSteps(),
                                    getFrom().toSharding(*mesh),
                                    getTo().toSharding(*mesh), *mesh);
}

//===----------------------------------------------------------------------===//
// kernel
//===----------------------------------------------------------------------===//

/// `value`, a tensor or memref, has the shape and elements of `type`.
static bool holds(Value value, Type type) {
  auto shaped = cast<ShapedType>(value.getType());
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && shaped.getShape() == tensor.getShape() &&
         shaped.getElementType() == tensor.getElementType();
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size())
    return emitOpError("body must have one argument per input");
  for (auto [input, argument] :
       llvm::zip_equal(getInputs(), body.getArguments()))
    if (!holds(input, argument.getType()))
      return emitOpError() << "body argument of type " << argument.getType()
                           << " does not hold an input of type "
                           << input.getType();
  if (!getOutputs().empty() && getNumResults() != 0)
    return emitOpError("has results or `outs`, not both");
  SmallVector<Value> ends(getOutputs());
  llvm::append_range(ends, getResults());
  OperandRange yielded = body.getTerminator()->getOperands();
  if (yielded.size() != ends.size())
    return emitOpError("body must yield one tensor per result or output");
  for (auto [value, end] : llvm::zip_equal(yielded, ends))
    if (!holds(end, value.getType()))
      return emitOpError() << "yields " << value.getType() << " for "
                           << end.getType();
  return getLibrary() ? verifyLibraryCall(*this) : success();
}

/// None on tensors; on memrefs it reads its inputs and writes its outputs.
void KernelOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &input : getInputsMutable())
    if (isa<BaseMemRefType>(input.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &input);
  for (OpOperand &output : getOutputsMutable())
    effects.emplace_back(MemoryEffects::Write::get(), &output);
}

} // namespace autopar
