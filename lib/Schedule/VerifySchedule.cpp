//===- VerifySchedule.cpp - Replay buffers and messages -------------------===//

#include "Replay.h"
#include "autopar/Cost/KernelGroups.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Dialect/LibraryCall.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/Schedule/PersistentBuffers.h"
#include "autopar/shared_memory.h"
#include "mlir/IR/TypeUtilities.h"
#include <map>

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "autopar/Schedule/Passes.h.inc"

static bool isEvent(Operation *op) {
  return isa<RecordEventOp, WaitEventOp>(op);
}

/// Checks that kernels' bodies work on tensors and all other ops on buffers.
static LogicalResult checkForm(func::FuncOp func) {
  if (func.getNumArguments() != 0 || func.getNumResults() != 0)
    return func.emitError("still has arguments or results; run "
                          "autopar-assign-buffers first");
  for (Operation &op : func.getBody().front()) {
    if (!isa<KernelOp, BufferOp, func::ReturnOp>(op) && !isEvent(&op) &&
        !isCommunication(&op))
      return op.emitError("is not part of a schedule: kernels, communication "
                          "and buffers are");
    if (isa<BufferOp>(op))
      continue;
    if (op.getNumResults() != 0)
      return op.emitError("has a tensor result; run autopar-assign-buffers "
                          "first");
    for (Value operand : op.getOperands())
      if (!operand.getDefiningOp<BufferOp>())
        return op.emitError("has an operand that is no autopar.buffer");
  }
  return success();
}

/// Checks that the attributes that later passes and Lowering read are well
/// formed.
static LogicalResult checkAttributes(func::FuncOp func) {
  for (Operation &op : func.getBody().front()) {
    for (StringRef name : {AutoparDialect::kValue, AutoparDialect::kStream,
                           AutoparDialect::kSequence})
      if (Attribute number = op.getAttr(name);
          number && !isa<IntegerAttr>(number))
        return op.emitError() << name << " must be an integer";
    if (Attribute name = op.getAttr(AutoparDialect::kOp);
        name && !isa<StringAttr>(name))
      return op.emitError() << AutoparDialect::kOp << " must be a string";
    Attribute inPlace = op.getAttr(AutoparDialect::kInPlace);
    if (!inPlace)
      continue;
    auto kernel = dyn_cast<KernelOp>(op);
    auto inputs = dyn_cast<DenseI64ArrayAttr>(inPlace);
    int64_t count = kernel ? kernel.getInputs().size() : 0;
    if (!kernel || !inputs ||
        inputs.size() != int64_t(kernel.getOutputs().size()) ||
        llvm::any_of(inputs.asArrayRef(), [&](int64_t input) {
          return input < -1 || input >= count;
        }))
      return op.emitError() << AutoparDialect::kInPlace
                            << " must be, on a kernel, an input or -1 for each "
                               "output";
  }
  return success();
}

/// Checks that collectives have device axes, and element types that the target
/// can add.
static LogicalResult checkCollectives(func::FuncOp func) {
  bool shorts = targetTable(func).communication.reducesShortIntegers;
  for (Operation &op : func.getBody().front()) {
    if (!isCommunication(&op))
      continue;
    if (auto overAxes = dyn_cast<MeshAxesOpInterface>(op))
      for (Attribute axis : overAxes.getAxes())
        if (cast<StringAttr>(axis).getValue().split('.').first == kTimeAxis)
          return op.emitError("communicates over time, which has no devices");
    Type type = getElementTypeOrSelf(op.getOperand(0).getType());
    if (isa<AllReduceOp, ReduceScatterOp>(op) && !shorts && type.isInteger(16))
      return op.emitError() << "reduces " << type << ", which the target's "
                            << "communication does not; run "
                               "autopar-widen-reductions first";
  }
  return success();
}

/// Checks that a call is stored over no input but the addend, and only if the
/// library allows it.
static LogicalResult checkInPlace(KernelOp kernel, const LibraryCalls &calls) {
  auto inPlace =
      kernel->getAttrOfType<DenseI64ArrayAttr>(AutoparDialect::kInPlace);
  int64_t input = inPlace ? inPlace[0] : -1;
  int64_t addend = kernel.getLibrary()->getOperand(kAddendRole);
  if (input < 0 || (calls.inPlace && input == addend))
    return success();
  return kernel.emitError() << "is a library call whose result is stored over "
                            << "input " << input << ", which the library may "
                            << "still read";
}

/// Checks that a packed form is made of a constant that a step reads, and that
/// all its readers read the same form.
static LogicalResult checkPacked(KernelOp kernel, func::FuncOp function,
                                 std::map<int64_t, std::string> &forms) {
  LibraryCallAttr call = *kernel.getLibrary();
  if (call.getPacked() < 0)
    return success();
  std::optional<int64_t> constant =
      constantIndex(kernel.getInputs()[call.getPackable()]);
  if (!constant || !isStep(function))
    return kernel.emitError("reads what @setup cannot pack: only constants "
                            "that a step reads are packed");
  std::string form = std::to_string(*constant) + ' ' + packingOf(kernel);
  if (forms.try_emplace(call.getPacked(), form).first->second == form)
    return success();
  return kernel.emitError() << "reads packed form " << call.getPacked()
                            << ", which is of another constant or call";
}

/// Returns whether the body has an op that the target's library computes.
static bool isCallable(KernelOp kernel, const TargetTable &table) {
  return llvm::any_of(kernel.getBody().front(),
                      [&](Operation &op) { return callOf(&op, table); });
}

/// Checks that the target's library has the call.
static LogicalResult checkCall(KernelOp kernel, const TargetTable &table) {
  LibraryCallAttr call = *kernel.getLibrary();
  const LibraryCalls *calls = table.calls(call.getKind());
  if (!calls)
    return kernel.emitError()
           << "is the call " << call << ", which the target's library has not";
  Type type = getElementTypeOrSelf(kernel.getOutputs()[0].getType());
  if (!calls->take(type))
    return kernel.emitError()
           << "is a library call on " << type
           << ", a type that the target's library does not compute";
  if (failed(checkInPlace(kernel, *calls)))
    return failure();
  if (!calls->take(call.getEpilogue()) ||
      (call.getActivation() != Activation::None &&
       !calls->take(call.getActivation())))
    return kernel.emitError()
           << "is the call " << call
           << ", whose epilogue the target's library does not apply";
  return success();
}

/// Checks that the target's libraries have the calls, and that no op which they
/// have is loops.
static LogicalResult checkCalls(func::FuncOp func) {
  const TargetTable &table = targetTable(func);
  std::map<int64_t, std::string> forms;
  for (auto kernel : func.getOps<KernelOp>()) {
    if (!kernel.getLibrary()) {
      if (isCallable(kernel, table))
        return kernel.emitError("has loops for what the target's library "
                                "computes; run autopar-form-kernels");
      continue;
    }
    if (failed(checkPacked(kernel, func, forms)) ||
        failed(checkCall(kernel, table)))
      return failure();
  }
  if (!forms.empty() && (forms.begin()->first != 0 ||
                         forms.rbegin()->first + 1 != int64_t(forms.size())))
    return func.emitError("reads packed forms that are not numbered from 0 on");
  return success();
}

/// Checks that the function's communication is in the one global order.
static LogicalResult checkSequence(func::FuncOp func, int64_t &last) {
  for (Operation &op : func.getBody().front()) {
    if (!isCommunication(&op))
      continue;
    auto sequence = op.getAttrOfType<IntegerAttr>(AutoparDialect::kSequence);
    if (!sequence)
      return op.emitError() << "has no " << AutoparDialect::kSequence
                            << "; run autopar-order-work first";
    if (sequence.getInt() <= last)
      return op.emitError() << "has number " << sequence.getInt()
                            << " but stands after number " << last;
    last = sequence.getInt();
  }
  return success();
}

namespace {
struct VerifySchedule : impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() override {
    int64_t last = -1;
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      if (func.isExternal())
        continue;
      if (failed(checkForm(func)) || failed(checkAttributes(func)) ||
          failed(checkCalls(func)) || failed(checkCollectives(func)) ||
          failed(checkSequence(func, last)) || failed(replayMemory(func)) ||
          failed(replayStreams(func)))
        return signalPassFailure();
    }
    bool rendezvous = targetTable(getOperation()).communication.rendezvous;
    int64_t slots = rendezvous ? 0 : shared_memory::kChannelSlots;
    if (failed(replayMessages(getOperation(), slots)))
      signalPassFailure();
  }
};
} // namespace
} // namespace autopar
