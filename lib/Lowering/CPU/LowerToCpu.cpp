//===- LowerToCpu.cpp - Scheduled IR to loops and calls -------------------===//

#include "../Common/HostProgram.h"
#include "../Common/SetupCalls.h"
#include "KernelFunctions.h"
#include "LibraryCalls.h"
#include "NarrowSlices.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_LOWERTOCPU
#include "autopar/Lowering/Passes.h.inc"

namespace {

ProgramOp describe(KernelOp kernel, StringRef kind) {
  ProgramOp row;
  row.name = nodeName(kernel.getLoc()).str();
  row.kind = kind.str();
  for (Value operand : kernel->getOperands())
    row.bytes += denseBytes(operand.getType());
  for (Operation &op : kernel.getBody().front())
    if (auto counted = dyn_cast<KernelOpInterface>(op))
      row.flops += counted.getFlops();
  return row;
}

bool hasNoElements(Value memref) {
  return cast<ShapedType>(memref.getType()).getNumElements() == 0;
}

std::optional<int64_t> persistentIndex(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  if (buffer && buffer.getSpace() == BufferSpace::Persistent)
    return buffer.getPosition();
  return std::nullopt;
}

/// Lowers the functions of one module; `loops` remembers kernels over stages.
class CpuProgram {
public:
  CpuProgram(HostProgram &program) : program(program), loops(program.module) {}

  /// Makes the functions of `stage` under their names.
  LogicalResult lowerStep(func::FuncOp step, StringRef name, int64_t stage);
  LogicalResult lowerSetup(func::FuncOp setup, StringRef name, int64_t stage);

private:
  LogicalResult lowerBody(HostFunction &host, func::FuncOp function,
                          bool isStep);
  LogicalResult lowerKernel(HostFunction &host, KernelOp kernel, bool isStep);
  void lowerLibraryCall(HostFunction &host, KernelOp kernel,
                        cpu::LibraryCall call, bool isStep);
  LogicalResult lowerLoops(HostFunction &host, KernelOp kernel);
  void findUses(func::FuncOp step, int64_t stage);

  HostProgram &program;
  cpu::KernelFunctions loops;
};

/// How a kernel becomes a call of a library, if it does.
std::optional<cpu::LibraryCall> libraryCall(KernelOp kernel) {
  return kernel.getLibrary() ? cpu::matchLibraryCall(kernel) : std::nullopt;
}

/// A tensor all of whose uses in @step may read a packed form is not kept as it
/// is.
void CpuProgram::findUses(func::FuncOp step, int64_t stage) {
  for (Operation &op : step.getBody().front().without_terminator()) {
    int packed = -1;
    if (auto kernel = dyn_cast<KernelOp>(op))
      if (auto call = libraryCall(kernel))
        packed = call->b;
    for (auto [number, operand] : llvm::enumerate(op.getOperands()))
      if (auto index = persistentIndex(operand)) {
        PersistentUse &use = program.persistentUses[{stage, *index}];
        (static_cast<int>(number) == packed ? use.packed : use.plain) = true;
      }
  }
}

void CpuProgram::lowerLibraryCall(HostFunction &host, KernelOp kernel,
                                  cpu::LibraryCall call, bool isStep) {
  auto operand = [&](int number) {
    return number < 0 ? HostArgument{}
                      : host.address(kernel->getOperand(number));
  };
  StringRef kind = call.isGemm ? "gemm" : "convolution";
  HostArgument op = host.op(describe(kernel, kind));
  auto weight = persistentIndex(kernel->getOperand(call.b));
  // A matrix that has to stay as it is serves products too: two copies of a
  // vocabulary's embedding would be most of some models.
  bool packs =
      isStep && weight &&
      !(call.isGemm && program.persistentUses[{host.stage, *weight}].plain);
  if (packs) {
    PackedWeight packed{call.isGemm ? StringLiteral("aprt_gemm_pack")
                                    : "aprt_conv_pack",
                        call.descriptor, call.slotWord, *weight,
                        static_cast<int32_t>(op.value)};
    call.descriptor[call.slotWord] =
        program.packedSlot(host.stage, std::move(packed));
  }
  host.call(call.isGemm ? StringLiteral("aprt_gemm") : "aprt_conv",
            {op, program.words(call.descriptor, packs ? call.slotWord : -1),
             operand(call.a), packs ? HostArgument{} : operand(call.b),
             operand(call.bias), operand(call.addend), operand(call.result)});
}

LogicalResult CpuProgram::lowerLoops(HostFunction &host, KernelOp kernel) {
  if (llvm::all_of(kernel.getOutputs(), hasNoElements))
    return success();
  FailureOr<cpu::LoopKernel> loop = loops.get(kernel);
  if (failed(loop))
    return failure();
  if (loop->work == 0)
    return success();
  std::vector<HostArgument> buffers, scalars;
  for (unsigned number : loop->buffers)
    buffers.push_back(host.address(kernel->getOperand(number)));
  for (ArrayAttr axes : loop->positions)
    scalars.push_back(host.position(axes));
  auto pointer = LLVM::LLVMPointerType::get(program.module.getContext());
  HostArgument scalarArray;
  if (!scalars.empty())
    scalarArray = host.array(scalars, host.builder.getI64Type());
  host.call("aprt_launch",
            {host.op(describe(kernel, "kernel")), host.function(loop->function),
             host.array(buffers, pointer), scalarArray, host.int64(loop->work),
             host.int64(loop->grain)});
  return success();
}

LogicalResult CpuProgram::lowerKernel(HostFunction &host, KernelOp kernel,
                                      bool isStep) {
  if (auto call = libraryCall(kernel)) {
    lowerLibraryCall(host, kernel, *call, isStep);
    return success();
  }
  return lowerLoops(host, kernel);
}

LogicalResult CpuProgram::lowerBody(HostFunction &host, func::FuncOp function,
                                    bool isStep) {
  cpu::narrowSlices(function);
  for (Operation &op : function.getBody().front().without_terminator()) {
    host.loc = op.getLoc();
    if (isa<BufferOp>(op))
      continue;
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      if (failed(lowerKernel(host, kernel, isStep)))
        return failure();
      continue;
    }
    if (failed(lowerCommunication(host, &op)))
      return failure();
  }
  return success();
}

LogicalResult CpuProgram::lowerStep(func::FuncOp step, StringRef name,
                                    int64_t stage) {
  findUses(step, stage);
  HostFunction host(program, stage);
  if (failed(lowerBody(host, step, /*isStep=*/true)))
    return failure();
  emitHostFunction(program, name, /*hasTime=*/true, std::move(host.calls));
  return success();
}

/// After lowerStep, which says what is packed and what steps read.
LogicalResult CpuProgram::lowerSetup(func::FuncOp setup, StringRef name,
                                     int64_t stage) {
  HostFunction host(program, stage), packs(program, stage);
  if (setup && failed(lowerBody(host, setup, /*isStep=*/false)))
    return failure();
  for (const PackedWeight &weight : program.packed[stage])
    packs.call(weight.callee,
               {{HostArgument::Op, {}, weight.op},
                program.words(weight.descriptor, weight.slotWord),
                packs.persistent(weight.persistent)});
  std::vector<int64_t> bytes;
  auto stages = program.module->getAttrOfType<ArrayAttr>(kPersistent);
  if (stages && stage < static_cast<int64_t>(stages.size()))
    for (auto entry :
         cast<ArrayAttr>(stages[stage]).getAsRange<DictionaryAttr>())
      bytes.push_back(denseBytes(entry.getAs<TypeAttr>("type").getValue()));
  emitHostFunction(program, name, /*hasTime=*/false,
                   setupCalls(program, stage, std::move(host.calls),
                              std::move(packs.calls), bytes));
  return success();
}

//===----------------------------------------------------------------------===//
// What the program exports
//===----------------------------------------------------------------------===//

void makeStageTable(HostProgram &program, ArrayRef<std::string> functions) {
  MLIRContext *context = program.module.getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(program.module.getBody());
  Location loc = program.module.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto type = LLVM::LLVMArrayType::get(pointer, functions.size());
  auto table = LLVM::GlobalOp::create(
      builder, loc, type, /*isConstant=*/true, LLVM::Linkage::External,
      "aprt_program_stages", Attribute(), /*alignment=*/8);
  Block *block = builder.createBlock(&table.getInitializer());
  builder.setInsertionPointToStart(block);
  Value value = LLVM::UndefOp::create(builder, loc, type);
  for (auto [number, name] : llvm::enumerate(functions)) {
    Value address = LLVM::AddressOfOp::create(builder, loc, pointer, name);
    value = LLVM::InsertValueOp::create(builder, loc, value, address,
                                        static_cast<int64_t>(number));
  }
  LLVM::ReturnOp::create(builder, loc, value);
}

void makeManifestGlobal(HostProgram &program, StringRef text) {
  OpBuilder builder = OpBuilder::atBlockEnd(program.module.getBody());
  std::string zeroEnded = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), zeroEnded.size());
  LLVM::GlobalOp::create(builder, program.module.getLoc(), type,
                         /*isConstant=*/true, LLVM::Linkage::External,
                         "aprt_program_manifest",
                         builder.getStringAttr(zeroEnded));
}

FailureOr<Mesh> meshOf(ModuleOp module) {
  for (auto mesh : module.getOps<MeshOp>())
    return mesh.getMesh().toMesh();
  return module.emitError("no autopar.mesh in the module: it was not planned");
}

void eraseScheduled(ModuleOp module) {
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    function.erase();
  for (auto mesh : llvm::make_early_inc_range(module.getOps<MeshOp>()))
    mesh.erase();
  SmallVector<StringAttr> names;
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    if (attribute.getName().getValue().starts_with("autopar."))
      names.push_back(attribute.getName());
  for (StringAttr name : names)
    module->removeDiscardableAttr(name);
}

struct LowerToCpuPass : impl::LowerToCpuBase<LowerToCpuPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Mesh> mesh = meshOf(module);
    if (failed(mesh))
      return signalPassFailure();
    int64_t stages = 1;
    while (findStageFunction(module, "step", stages))
      ++stages;
    HostProgram program(module, *mesh, stages);
    CpuProgram cpu(program);
    std::vector<std::string> functions;
    for (int64_t stage = 0; stage < stages; ++stage)
      if (failed(lowerStage(cpu, program, stage, functions)))
        return signalPassFailure();
    program.finishWords();
    FailureOr<std::string> manifest = makeManifest(program);
    if (failed(manifest))
      return signalPassFailure();
    makeStageTable(program, functions);
    makeManifestGlobal(program, *manifest);
    eraseScheduled(module);
  }

  LogicalResult lowerStage(CpuProgram &cpu, HostProgram &program, int64_t stage,
                           std::vector<std::string> &functions) {
    std::string prefix = "stage_" + std::to_string(stage);
    for (StringRef kind : {"setup", "step"})
      functions.push_back(prefix + "_" + kind.str());
    auto step = findStageFunction(program.module, "step", stage);
    if (!step)
      return program.module.emitError()
             << "no function @step_" << stage
             << ": the module was not partitioned and scheduled";
    if (failed(cpu.lowerStep(step, functions.back(), stage)))
      return failure();
    return cpu.lowerSetup(findStageFunction(program.module, "setup", stage),
                          functions[functions.size() - 2], stage);
  }
};

} // namespace
} // namespace autopar
