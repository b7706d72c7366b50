//===- RuntimeCalls.cpp - The runtime's functions within a program --------===//
//
// A loaded program defines each function of runtime.def by a call through the
// table that `aprt_program_runtime` points to:
//
//   aprt_gemm(rank, ...) { return aprt_program_runtime->aprt_gemm(rank, ...); }
//
// so that it looks no name up in the process that loads it, which may hold two
// runtimes.
//
//===----------------------------------------------------------------------===//

#include "HostCode.h"
#include "RuntimeAbi.h"
#include "autopar/Lowering/Executable.h"
#include "llvm/IR/IRBuilder.h"
#include <cstddef>

using namespace llvm;

namespace autopar {

namespace {
/// A function, and its place in the table in bytes.
struct TableEntry {
  abi::Function function;
  size_t offset;
};
} // namespace

static constexpr TableEntry entries[] = {
#define APRT_FUNCTION(result, name, parameters)                                \
  {abi::function<name>, offsetof(aprt_runtime, name)},
#include "autopar/runtime.def"
};

static Type *typeOf(LLVMContext &context, abi::Machine machine) {
  switch (machine) {
  case abi::Machine::Void:
    return Type::getVoidTy(context);
  case abi::Machine::Int32:
    return Type::getInt32Ty(context);
  case abi::Machine::Int64:
    return Type::getInt64Ty(context);
  case abi::Machine::Float64:
    return Type::getDoubleTy(context);
  case abi::Machine::Pointer:
    return PointerType::get(context, 0);
  }
  llvm_unreachable("all kinds are above");
}

static FunctionType *typeOf(LLVMContext &context,
                            const abi::Function &function) {
  SmallVector<Type *> arguments{typeOf(context, abi::machineOf<aprt_rank *>())};
  for (const abi::Parameter &parameter : function.parameters)
    arguments.push_back(typeOf(context, parameter.machine));
  return FunctionType::get(typeOf(context, function.result), arguments,
                           /*isVarArg=*/false);
}

static void defineCall(Module &module, GlobalVariable *table,
                       const TableEntry &entry) {
  LLVMContext &context = module.getContext();
  FunctionType *type = typeOf(context, entry.function);
  Function *function = Function::Create(type, GlobalValue::ExternalLinkage,
                                        entry.function.name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  IRBuilder<> builder(BasicBlock::Create(context, "", function));
  PointerType *pointer = builder.getPtrTy();
  Value *place = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), builder.CreateLoad(pointer, table), entry.offset);
  SmallVector<Value *> arguments(llvm::make_pointer_range(function->args()));
  CallInst *call =
      builder.CreateCall(type, builder.CreateLoad(pointer, place), arguments);
  call->setTailCallKind(CallInst::TCK_MustTail);
  if (type->getReturnType()->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
}

Expected<ProgramBytes> compileRuntimeCalls(ArrayRef<std::string> cpuFeatures) {
  auto machine = createMachine(cpuFeatures);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  Module module("runtime", context);
  PointerType *pointer = PointerType::get(context, 0);
  auto *table = new GlobalVariable(
      module, pointer, /*isConstant=*/false, GlobalValue::ExternalLinkage,
      ConstantPointerNull::get(pointer), abi::nameOf<&aprt_program_runtime>);
  for (const TableEntry &entry : entries)
    defineCall(module, table, entry);
  retarget(module, **machine);
  return emitObject(module, **machine);
}

} // namespace autopar
