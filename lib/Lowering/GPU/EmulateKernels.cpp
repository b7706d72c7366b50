//===- EmulateKernels.cpp - GPU kernels as host code ----------------------===//

#include "EmulateKernels.h"
#include "../Common/HostCode.h"
#include "KernelTable.h"
#include "autopar/emulated.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Alignment.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include <cstddef>

using namespace llvm;

namespace autopar::gpu {

namespace {

constexpr unsigned kSharedSpace = 3;

/// A kernel while it becomes host code.
struct HostKernel {
  Function *body = nullptr; // (arguments of the kernel..., apemu_thread *)
  Function *entry = nullptr;
  int64_t sharedBytes = 0;

  Value *thread() const { return body->arg_end() - 1; }
};

/// Adds the thread as a last argument to the function. The new function stays
/// visible from outside, so that its arguments keep their numbers while it is
/// optimized.
Function *addThread(Function &kernel) {
  LLVMContext &context = kernel.getContext();
  SmallVector<Type *> types(kernel.getFunctionType()->params());
  types.push_back(PointerType::getUnqual(context));
  auto *type =
      FunctionType::get(Type::getVoidTy(context), types, /*isVarArg=*/false);
  Function *body = Function::Create(type, GlobalValue::ExternalLinkage, "",
                                    kernel.getParent());
  body->takeName(&kernel);
  body->splice(body->begin(), &kernel);
  for (auto [from, to] : zip(kernel.args(), body->args())) {
    from.replaceAllUsesWith(&to);
    to.takeName(&from);
    if (from.hasNoAliasAttr())
      to.addAttr(Attribute::NoAlias);
  }
  (body->arg_end() - 1)->setName("thread");
  kernel.eraseFromParent();
  return body;
}

/// Shared arrays become places in thread->shared, in the order of the module.
void placeShared(HostKernel &kernel) {
  Module &module = *kernel.body->getParent();
  IRBuilder<> builder(&*kernel.body->getEntryBlock().begin());
  Value *base = nullptr;
  for (GlobalVariable &array : module.globals()) {
    if (array.getAddressSpace() != kSharedSpace)
      continue;
    SmallVector<Use *> uses;
    for (Use &use : array.uses())
      if (auto *user = dyn_cast<Instruction>(use.getUser()))
        if (user->getFunction() == kernel.body)
          uses.push_back(&use);
    if (uses.empty())
      continue;
    if (!base) {
      Value *field = builder.CreateConstInBoundsGEP1_64(
          builder.getInt8Ty(), kernel.thread(), offsetof(apemu_thread, shared),
          "shared.field");
      base = builder.CreateLoad(builder.getPtrTy(), field, "shared");
      base = builder.CreateAddrSpaceCast(base, array.getType());
    }
    Align alignment = std::max(array.getAlign().valueOrOne(), Align(16));
    kernel.sharedBytes = alignTo(kernel.sharedBytes, alignment);
    Value *place = builder.CreateConstInBoundsGEP1_64(
        builder.getInt8Ty(), base, kernel.sharedBytes, array.getName());
    for (Use *use : uses)
      use->set(place);
    kernel.sharedBytes +=
        module.getDataLayout().getTypeAllocSize(array.getValueType());
  }
}

/// Shared arrays are named by instructions alone, which can be told apart by
/// kernel.
void expandSharedConstants(Module &module) {
  SmallVector<Constant *> arrays;
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == kSharedSpace)
      arrays.push_back(&global);
  convertUsersOfConstantsToInstructions(arrays);
}

void eraseShared(Module &module) {
  for (GlobalVariable &global : make_early_inc_range(module.globals()))
    if (global.getAddressSpace() == kSharedSpace && global.use_empty())
      global.eraseFromParent();
}

/// `void entry(void *const *arguments, apemu_thread *thread)`: loads the
/// arguments and calls the kernel.
Function *makeEntry(Function &body) {
  LLVMContext &context = body.getContext();
  auto *pointer = PointerType::getUnqual(context);
  auto *type =
      FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  Function *entry =
      Function::Create(type, GlobalValue::InternalLinkage,
                       body.getName() + "_entry", body.getParent());
  IRBuilder<> builder(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> values;
  for (Argument &argument : body.args()) {
    if (&argument == body.arg_end() - 1)
      break;
    Value *place = builder.CreateConstInBoundsGEP1_64(pointer, entry->getArg(0),
                                                      argument.getArgNo());
    place = builder.CreateLoad(pointer, place);
    values.push_back(builder.CreateLoad(argument.getType(), place));
  }
  values.push_back(entry->getArg(1));
  builder.CreateCall(&body, values);
  builder.CreateRetVoid();
  return entry;
}

/// Returns whether threads meet in the kernel, so that each needs a stack of
/// its own.
bool synchronises(const Function &body) {
  for (const BasicBlock &block : body)
    for (const Instruction &instruction : block)
      if (auto *call = dyn_cast<CallInst>(&instruction))
        if (const Function *callee = call->getCalledFunction())
          if (callee->getName() == "apemu_barrier" ||
              callee->getName() == "apemu_warp_barrier" ||
              callee->getName() == "apemu_shuffle")
            return true;
  return false;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Constants as the structs of autopar/emulated.h, all of whose members are
/// words.
class TableMaker {
public:
  explicit TableMaker(Module &module)
      : module(module), word(Type::getInt64Ty(module.getContext())) {}

  Constant *number(uint64_t value) { return ConstantInt::get(word, value); }

  Constant *kernel(const HostKernel &kernel, const ProgramKernel &row) {
    SmallVector<Constant *> parameters;
    for (const ProgramKernel::Buffer &buffer : row.buffers)
      parameters.push_back(ConstantStruct::getAnon(
          {number(buffer.bytes), number((buffer.reads ? APEMU_READ : 0) |
                                        (buffer.writes ? APEMU_WRITE : 0))}));
    Constant *name =
        ConstantDataArray::getString(module.getContext(), row.name);
    return ConstantStruct::getAnon(
        {constant(name, "name"), kernel.entry,
         number(synchronises(*kernel.body)), number(kernel.sharedBytes),
         number(row.buffers.size()), number(row.scalars),
         array(parameters, "parameters")});
  }

  /// The exported module, and the same as PTX.
  void finish(ArrayRef<Constant *> kernels) {
    Constant *table = array(kernels, "kernels");
    auto exportModule = [&](uint64_t magic, StringRef name) {
      Constant *root = ConstantStruct::getAnon(
          {number(magic), number(kernels.size()), table});
      new GlobalVariable(module, root->getType(), /*isConstant=*/true,
                         GlobalValue::ExternalLinkage, root, name);
    };
    exportModule(APEMU_MAGIC, abi::nameOf<aprt_program_device_code>);
    exportModule(APEMU_PTX_MAGIC, abi::nameOf<aprt_program_device_ptx>);
  }

private:
  Constant *constant(Constant *value, StringRef name) {
    return new GlobalVariable(module, value->getType(), /*isConstant=*/true,
                              GlobalValue::InternalLinkage, value, name);
  }
  Constant *array(ArrayRef<Constant *> rows, StringRef name) {
    if (rows.empty())
      return ConstantPointerNull::get(
          PointerType::getUnqual(module.getContext()));
    auto *type = ArrayType::get(rows.front()->getType(), rows.size());
    return constant(ConstantArray::get(type, rows), name);
  }

  Module &module;
  IntegerType *word;
};

Error checkRow(const Function *function, const ProgramKernel &row) {
  if (!function || function->isDeclaration())
    return createStringError("no kernel '" + row.name + "' in the GPU module");
  if (function->arg_size() != row.buffers.size() + row.scalars)
    return createStringError("kernel '" + row.name + "' has " +
                             Twine(function->arg_size()) +
                             " arguments, not those of its row");
  return Error::success();
}

/// A GPU gives a kernel the bytes of its row; arrays end at multiples of 16.
Error checkShared(const HostKernel &kernel, const ProgramKernel &row) {
  int64_t bytes = alignTo(kernel.sharedBytes, 16);
  if (bytes == static_cast<int64_t>(alignTo(row.sharedBytes, 16)))
    return Error::success();
  return createStringError("kernel '" + row.name + "' has " + Twine(bytes) +
                           " bytes of shared memory, its row " +
                           Twine(row.sharedBytes));
}

/// Drops metadata that the NVPTX back end reads and this host's does not know.
void dropDeviceForms(Module &module) {
  for (Function &function : module) {
    function.setCallingConv(CallingConv::C);
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
  }
  if (NamedMDNode *annotations = module.getNamedMetadata("nvvm.annotations"))
    annotations->eraseFromParent();
}

} // namespace

Error emulateKernels(Module &module, ArrayRef<ProgramKernel> rows,
                     TargetMachine &machine) {
  dropDeviceForms(module);
  expandSharedConstants(module);
  std::vector<HostKernel> kernels;
  for (const ProgramKernel &row : rows) {
    Function *function = module.getFunction(row.name);
    if (Error error = checkRow(function, row))
      return error;
    HostKernel &kernel = kernels.emplace_back();
    kernel.body = addThread(*function);
    // Neighbouring stores of one byte's pattern would become a memset.
    kernel.body->addFnAttr("no-builtins");
  }
  autopar::retarget(module, machine);
  for (auto [kernel, row] : zip_equal(kernels, rows)) {
    placeShared(kernel);
    if (Error error = checkShared(kernel, row))
      return error;
    if (Error error = bindIntrinsics(*kernel.body, kernel.thread()))
      return error;
  }
  eraseShared(module);
  // Optimizes before accesses are announced: 16-byte accesses stay whole, and
  // accesses that the kernel makes one by one are not joined.
  autopar::optimize(module, machine, OptimizationLevel::O2, Vectorize::No);
  TableMaker table(module);
  SmallVector<Constant *> entries;
  for (auto [kernel, row] : zip_equal(kernels, rows)) {
    if (Error error = announceAccesses(*kernel.body, kernel.thread()))
      return error;
    kernel.body->setLinkage(GlobalValue::InternalLinkage);
    kernel.entry = makeEntry(*kernel.body);
    entries.push_back(table.kernel(kernel, row));
  }
  table.finish(entries);
  std::string problem;
  raw_string_ostream os(problem);
  if (verifyModule(module, &os))
    return createStringError("the emulated kernels are no valid code: " +
                             problem);
  return Error::success();
}

Expected<std::unique_ptr<Module>> emulateKernels(mlir::gpu::GPUModuleOp kernels,
                                                 LLVMContext &context,
                                                 TargetMachine &machine) {
  mlir::MLIRContext &mlirContext = *kernels.getContext();
  mlir::registerBuiltinDialectTranslation(mlirContext);
  mlir::registerLLVMDialectTranslation(mlirContext);
  mlir::registerGPUDialectTranslation(mlirContext);
  mlir::registerNVVMDialectTranslation(mlirContext);
  std::unique_ptr<Module> module =
      mlir::translateModuleToLLVMIR(kernels, context, "kernels");
  if (!module)
    return createStringError("the kernels do not translate to LLVM IR");
  if (Error error = emulateKernels(*module, kernelTable(kernels), machine))
    return error;
  return module;
}

} // namespace autopar::gpu
