//===- FormKernels.cpp - Make each kernel group an autopar.kernel ---------===//

#include "CopyKernel.h"
#include "ScheduledWork.h"
#include "autopar/Cost/KernelGroups.h"
#include "autopar/Cost/WorkOfFunction.h"
#include "autopar/Dialect/KernelFacts.h"
#include "autopar/Schedule/Passes.h"
#include "autopar/Schedule/ReportName.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace autopar {
#define GEN_PASS_DEF_FORMKERNELS
#include "autopar/Schedule/Passes.h.inc"

/// Copies results that share memory with an argument or another result.
static void copyResults(func::FuncOp func) {
  Operation *end = func.getBody().front().getTerminator();
  OpBuilder builder(end);
  for (auto [index, copied] : llvm::enumerate(resultsToCopy(func))) {
    if (!copied)
      continue;
    Value value = end->getOperand(index);
    KernelOp kernel = createCopy(builder, value);
    end->setOperand(index, kernel.getResult(0));
  }
}

/// Copies the next values of states that cannot be computed in the state's
/// memory.
static void copyStates(func::FuncOp func) {
  ScheduledWork work = workOf(func);
  Operation *end = func.getBody().front().getTerminator();
  OpBuilder builder(end);
  for (auto [result, copied] :
       llvm::zip_equal(work.work.stateResults, statesToCopy(work.work.list)))
    if (copied)
      end->setOperand(
          result, createCopy(builder, end->getOperand(result)).getResult(0));
}

/// ONNX names of the group's outputs, "" where one has none; null if none has.
static ArrayAttr outputNames(OpBuilder &builder, const KernelGroup &group) {
  SmallVector<Attribute> names;
  bool any = false;
  for (Value output : group.outputs) {
    auto all = output.getDefiningOp()->getAttrOfType<ArrayAttr>(
        AutoparDialect::kNames);
    unsigned number = cast<OpResult>(output).getResultNumber();
    bool named = all && number < all.size();
    names.push_back(named ? all[number] : builder.getStringAttr(""));
    any |= named;
  }
  return any ? builder.getArrayAttr(names) : ArrayAttr();
}

static void setFacts(OpBuilder &builder, KernelOp kernel,
                     const KernelGroup &group) {
  kernel->setAttr(AutoparDialect::kOp,
                  builder.getStringAttr(schedule::reportName(group.root)));
  if (ArrayAttr names = outputNames(builder, group))
    kernel->setAttr(AutoparDialect::kNames, names);
  if (group.rowRank >= 0)
    kernel->setAttr(AutoparDialect::kRowRank,
                    builder.getI64IntegerAttr(group.rowRank));
  if (group.inPlace.empty())
    return;
  SmallVector<int64_t> inputs(group.outputs.size(), -1);
  for (auto [output, input] : group.inPlace)
    inputs[output] = input;
  kernel->setAttr(AutoparDialect::kInPlace,
                  builder.getDenseI64ArrayAttr(inputs));
}

/// The attribute of the call that the analysis of groups found.
static LibraryCallAttr attributeOf(MLIRContext *context,
                                   const GroupCall &call) {
  return LibraryCallAttr::get(context, call.kind, call.operands,
                              call.activation, /*channels_last=*/false,
                              /*packed=*/-1);
}

/// Builds the group's kernel on the values that `outside` maps its inputs to,
/// and maps its outputs to the kernel's results.
static void buildKernel(OpBuilder &builder, const KernelGroup &group,
                        IRMapping &outside) {
  SmallVector<Value> inputs;
  for (Value input : group.inputs)
    inputs.push_back(outside.lookupOrDefault(input));
  KernelOp kernel = createKernel(builder, group.root->getLoc(),
                                 ValueRange(group.outputs).getTypes(), inputs);
  setFacts(builder, kernel, group);
  Block &body = kernel.getBody().front();
  IRMapping inside;
  inside.map(group.inputs, body.getArguments());
  OpBuilder bodyBuilder = OpBuilder::atBlockEnd(&body);
  for (Operation *op : group.ops) // equal groups get equal bodies: no names
    bodyBuilder.clone(*op, inside)
        ->setDiscardableAttrs(builder.getDictionaryAttr({}));
  SmallVector<Value> yielded;
  for (Value output : group.outputs)
    yielded.push_back(inside.lookup(output));
  YieldOp::create(bodyBuilder, kernel.getLoc(), yielded);
  outside.map(group.outputs, kernel.getResults());
  if (group.call)
    kernel.setLibraryAttr(attributeOf(builder.getContext(), *group.call));
}

static void formKernels(func::FuncOp func) {
  copyResults(func);
  Block &body = func.getBody().front();
  KernelGroups groups = groupKernels(body);
  SmallVector<Operation *> old;
  for (Operation &op : body)
    old.push_back(&op);

  // Builds copies of the ops, since a reshape between groups may also be in the
  // body of a later group.
  Operation *last = old.back();
  OpBuilder builder(last);
  IRMapping values;
  for (const WorkStep &step : groups.steps) {
    if (step.group >= 0) {
      buildKernel(builder, groups.groups[step.group], values);
      continue;
    }
    if (step.op == last)
      continue;
    Operation *copy = builder.clone(*step.op, values);
    if (loopRoleOf(step.op) != LoopRole::View && !isa<KernelOp>(step.op))
      copy->setAttr(AutoparDialect::kOp,
                    builder.getStringAttr(schedule::reportName(step.op)));
  }
  for (OpOperand &operand : last->getOpOperands())
    operand.set(values.lookupOrDefault(operand.get()));
  for (Operation *op : llvm::drop_begin(llvm::reverse(old)))
    op->erase();
  copyStates(func);
}

namespace {
struct FormKernels : impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        formKernels(func);
  }
};
} // namespace
} // namespace autopar
