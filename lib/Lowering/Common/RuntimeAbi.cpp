//===- RuntimeAbi.cpp - The runtime's C ABI for Lowering ------------------===//

#include "RuntimeAbi.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar::abi {

std::string textOf(ArrayRef<Enumerator> values, int64_t number) {
  for (const Enumerator &value : values)
    if (value.number == number)
      return value.name.str();
  return std::to_string(number);
}

StringRef dtypeName(aprt_dtype dtype) {
  switch (dtype) {
#define APRT_ELEMENT(name, number, text, bytes)                                \
  case name:                                                                   \
    return text;
#include "autopar/runtime.def"
  }
  llvm_unreachable("all types are above");
}

static Type typeOf(MLIRContext *context, Machine machine) {
  switch (machine) {
  case Machine::Void:
    return LLVM::LLVMVoidType::get(context);
  case Machine::Int32:
    return IntegerType::get(context, 32);
  case Machine::Int64:
    return IntegerType::get(context, 64);
  case Machine::Float64:
    return Float64Type::get(context);
  case Machine::Pointer:
    return LLVM::LLVMPointerType::get(context);
  }
  llvm_unreachable("all kinds are above");
}

LLVM::LLVMFunctionType llvmType(MLIRContext *context, Machine result,
                                ArrayRef<Machine> arguments) {
  SmallVector<Type> types;
  for (Machine argument : arguments)
    types.push_back(typeOf(context, argument));
  return LLVM::LLVMFunctionType::get(typeOf(context, result), types);
}

LLVM::LLVMFunctionType llvmType(MLIRContext *context,
                                const Function &function) {
  SmallVector<Machine> arguments{machineOf<aprt_rank *>()};
  for (const Parameter &parameter : function.parameters)
    arguments.push_back(parameter.machine);
  return llvmType(context, function.result, arguments);
}

} // namespace autopar::abi
