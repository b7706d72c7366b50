//===- LowerProgram.cpp - Scheduled IR to a host program ------------------===//

#include "LowerProgram.h"
#include "LibraryCalls.h"
#include "SetupCalls.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Shapes.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Schedule/PersistentBuffers.h"

using namespace mlir;

namespace autopar {

ProgramOp describeKernel(KernelOp kernel, StringRef kind) {
  ProgramOp row = describeOp(kernel, kind);
  for (Operation &op : kernel.getBody().front())
    if (auto counted = dyn_cast<KernelOpInterface>(op))
      row.flops += counted.getFlops();
  return row;
}

namespace {

/// Calls the function that packs the weight for its call.
void callPack(HostFunction &host, const PackedWeight &weight) {
  host.call(*weight.call.pack,
            {weight.op.argument, host.program.descriptor(weight.call),
             host.persistent(weight.persistent).argument});
}

/// Lowers the functions of one module.
class Lowering {
public:
  Lowering(HostProgram &program, TargetKernels &kernels)
      : program(program), kernels(kernels) {}

  /// Makes both functions of `stage` and adds their names.
  LogicalResult lowerStage(int64_t stage, std::vector<std::string> &functions);

private:
  LogicalResult lowerStep(func::FuncOp step, StringRef name, int64_t stage);
  LogicalResult lowerSetup(func::FuncOp setup, StringRef name, int64_t stage);
  LogicalResult lowerBody(HostFunction &host, func::FuncOp function);
  LogicalResult lowerOp(HostFunction &host, Operation *op);
  void noteWriter(func::FuncOp function, Operation *op);
  void lowerLibraryCall(HostFunction &host, KernelOp kernel);
  void findPlainReads(func::FuncOp step, int64_t stage);

  HostProgram &program;
  TargetKernels &kernels;
};

/// Notes the tensors that steps read in their plain form. A tensor of which
/// steps read only packed forms is released after setup.
void Lowering::findPlainReads(func::FuncOp step, int64_t stage) {
  for (Operation &op : step.getBody().front().without_terminator()) {
    auto kernel = dyn_cast<KernelOp>(op);
    auto call = kernel ? kernel.getLibrary() : std::nullopt;
    int64_t packed = call && call->getPacked() >= 0 ? call->getPackable() : -1;
    for (auto [number, operand] : llvm::enumerate(op.getOperands()))
      if (auto index = constantIndex(operand);
          index && static_cast<int64_t>(number) != packed)
        program.readPlain.insert({stage, *index});
  }
}

void Lowering::lowerLibraryCall(HostFunction &host, KernelOp kernel) {
  LibraryCallAttr call = *kernel.getLibrary();
  const LibraryKind &kind = libraryKind(call.getKind());
  Typed<int32_t> op = host.op(describeKernel(kernel, kind.name));
  LibraryCall described = describeLibraryCall(kernel);
  bool isPacked = call.getPacked() >= 0;
  if (isPacked) {
    auto weight =
        kernel.getInputs()[call.getPackable()].getDefiningOp<BufferOp>();
    program.usePacked(
        host.stage, call.getPacked(),
        {described, static_cast<int64_t>(weight.getPosition()), op});
  }
  std::vector<HostArgument> arguments{op.argument,
                                      program.descriptor(described)};
  for (auto [role, number] : llvm::zip_equal(kind.roles, call.getOperands())) {
    bool isNull = number < 0 || (isPacked && role == kind.packed);
    arguments.push_back(
        isNull ? HostArgument()
               : host.address(kernel.getInputs()[number]).argument);
  }
  for (Value output : kernel.getOutputs())
    arguments.push_back(host.address(output).argument);
  host.call(*described.compute, std::move(arguments));
}

LogicalResult Lowering::lowerOp(HostFunction &host, Operation *op) {
  if (isa<BufferOp>(op))
    return success();
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel)
    return lowerCommunication(host, op);
  if (kernel.getLibrary()) {
    lowerLibraryCall(host, kernel);
    return success();
  }
  bool isEmpty = llvm::all_of(kernel.getOutputs(), [](Value output) {
    return elementsOf(output) == 0;
  });
  return isEmpty ? success() : kernels.launch(host, kernel);
}

/// The last call that `op` became is the one after which its results are whole.
void Lowering::noteWriter(func::FuncOp function, Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  ValueRange written = kernel            ? kernel.getOutputs()
                       : isa<SendOp>(op) ? ValueRange()
                                         : op->getOperands().take_back(1);
  for (Value output : written)
    if (auto value = output.getDefiningOp()->getAttrOfType<IntegerAttr>(
            AutoparDialect::kValue))
      program.writers[{function, value.getInt()}] =
          static_cast<int64_t>(program.ops.size()) - 1;
}

LogicalResult Lowering::lowerBody(HostFunction &host, func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator()) {
    host.loc = op.getLoc();
    size_t before = program.ops.size();
    if (failed(lowerOp(host, &op)))
      return failure();
    bool isEvent = isa<RecordEventOp, WaitEventOp>(op);
    if (!isEvent && program.ops.size() > before)
      noteWriter(function, &op);
  }
  return success();
}

LogicalResult Lowering::lowerStep(func::FuncOp step, StringRef name,
                                  int64_t stage) {
  findPlainReads(step, stage);
  HostFunction host(program, stage);
  if (failed(lowerBody(host, step)))
    return failure();
  emitHostFunction(program, name, /*hasTime=*/true, std::move(host.calls));
  return success();
}

/// Bytes of the stage's persistent tensors, by index.
std::vector<int64_t> persistentBytes(ModuleOp module, int64_t stage) {
  std::vector<int64_t> bytes;
  auto stages = module->getAttrOfType<ArrayAttr>(AutoparDialect::kPersistent);
  if (stages && stage < static_cast<int64_t>(stages.size()))
    for (auto row : cast<ArrayAttr>(stages[stage]).getAsRange<PersistentAttr>())
      bytes.push_back(bytesOf(row.getType()));
  return bytes;
}

/// Runs after lowerStep, which finds the tensors that are packed and those that
/// steps read.
LogicalResult Lowering::lowerSetup(func::FuncOp setup, StringRef name,
                                   int64_t stage) {
  HostFunction host(program, stage), packs(program, stage);
  if (setup && failed(lowerBody(host, setup)))
    return failure();
  for (const auto &[slot, weight] : program.packed[stage])
    callPack(packs, weight);
  emitHostFunction(program, name, /*hasTime=*/false,
                   setupCalls(program, stage, std::move(host.calls),
                              std::move(packs.calls),
                              persistentBytes(program.module, stage)));
  return success();
}

LogicalResult Lowering::lowerStage(int64_t stage,
                                   std::vector<std::string> &functions) {
  std::string prefix = "stage_" + std::to_string(stage);
  for (StringRef kind : {"setup", "step"})
    functions.push_back(prefix + "_" + kind.str());
  auto step = findStageFunction(program.module, "step", stage);
  if (!step)
    return program.module.emitError()
           << "no function @step_" << stage
           << ": the module was not partitioned and scheduled";
  if (failed(lowerStep(step, functions.back(), stage)))
    return failure();
  return lowerSetup(findStageFunction(program.module, "setup", stage),
                    functions[functions.size() - 2], stage);
}

FailureOr<Mesh> meshOf(ModuleOp module) {
  for (auto mesh : module.getOps<MeshOp>())
    return mesh.getMesh().toMesh();
  return module.emitError("no autopar.mesh in the module: it was not planned");
}

/// Erases everything except the parts from which the executable is made.
void eraseScheduled(ModuleOp module) {
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    function.erase();
  for (auto mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    mesh.erase();
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    if (StringRef name = attribute.getName();
        name.starts_with("autopar.") && name != AutoparDialect::kTarget &&
        name != AutoparDialect::kMadeWeights &&
        name != AutoparDialect::kCpuFeatures)
      names.push_back(attribute.getName());
  for (StringAttr name : names)
    module->removeDiscardableAttr(name);
}

} // namespace

LogicalResult lowerProgram(ModuleOp module, TargetKernels &kernels) {
  FailureOr<Mesh> mesh = meshOf(module);
  if (failed(mesh))
    return failure();
  int64_t stages = 1;
  while (findStageFunction(module, "step", stages))
    ++stages;
  HostProgram program(module, *mesh, stages);
  Lowering lowering(program, kernels);
  std::vector<std::string> functions;
  for (int64_t stage = 0; stage < stages; ++stage)
    if (failed(lowering.lowerStage(stage, functions)))
      return failure();
  program.finishWords();
  program.kernels = kernels.table();
  FailureOr<std::string> manifest = makeManifest(program);
  if (failed(manifest))
    return failure();
  exportStages(program, functions);
  exportManifest(program, *manifest);
  eraseScheduled(module);
  return kernels.finish(program, functions, *manifest);
}

} // namespace autopar
