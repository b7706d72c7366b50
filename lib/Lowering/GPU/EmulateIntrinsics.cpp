//===- EmulateIntrinsics.cpp - What a GPU has and a host has not ----------===//

#include "EmulateKernels.h"
#include "autopar/emulated.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include <cstddef>

using namespace llvm;

namespace autopar::gpu {

namespace {

/// Functions that libdevice and the C library have in common: `__nv_NAME` of
/// f64, `__nv_NAMEf` of f32.
const StringSet<> &commonFunctions() {
  static const StringSet<> names{
      "acos",  "acosh", "asin",      "asinh", "atan",      "atan2",  "atanh",
      "cbrt",  "ceil",  "copysign",  "cos",   "cosh",      "erf",    "erfc",
      "exp",   "exp10", "exp2",      "expm1", "fabs",      "floor",  "fma",
      "fmax",  "fmin",  "fmod",      "hypot", "lgamma",    "log",    "log10",
      "log1p", "log2",  "nearbyint", "pow",   "remainder", "rint",   "round",
      "sin",   "sinh",  "sqrt",      "tan",   "tanh",      "tgamma", "trunc"};
  return names;
}

class IntrinsicBinder {
public:
  IntrinsicBinder(Function &kernel, Value *thread)
      : module(*kernel.getParent()), kernel(kernel), thread(thread),
        builder(kernel.getContext()) {}
  Error run();

private:
  Error bind(CallInst &call);
  Error refuse(const CallInst &call);
  bool bindRegister(CallInst &call, StringRef name);
  bool bindBarrier(CallInst &call, StringRef name);
  bool bindShuffle(CallInst &call, StringRef name);
  bool bindPredicate(CallInst &call, StringRef name);
  bool bindFunction(CallInst &call, StringRef name);
  Value *field(size_t offset, unsigned index);
  Value *linearThread();
  CallInst *callEmulator(StringRef name, Type *result, ArrayRef<Value *> args);

  Module &module;
  Function &kernel;
  Value *thread;
  IRBuilder<> builder;
};

void replace(CallInst &call, Value *value) {
  if (value)
    call.replaceAllUsesWith(value);
  call.eraseFromParent();
}

/// Calls a function of the emulator. LLVM may neither move nor copy the call,
/// because threads meet at one place of the code.
CallInst *IntrinsicBinder::callEmulator(StringRef name, Type *result,
                                        ArrayRef<Value *> args) {
  SmallVector<Type *> types;
  for (Value *arg : args)
    types.push_back(arg->getType());
  FunctionCallee callee = module.getOrInsertFunction(
      name, FunctionType::get(result, types, /*isVarArg=*/false));
  auto *function = cast<Function>(callee.getCallee());
  function->addFnAttr(Attribute::Convergent);
  function->addFnAttr(Attribute::NoUnwind);
  CallInst *call = builder.CreateCall(callee, args);
  call->setConvergent();
  return call;
}

/// Number `index` of an array of the thread, which does not change.
Value *IntrinsicBinder::field(size_t offset, unsigned index) {
  Value *place = builder.CreateConstInBoundsGEP1_64(
      builder.getInt8Ty(), thread, offset + index * sizeof(uint32_t));
  LoadInst *load = builder.CreateLoad(builder.getInt32Ty(), place);
  load->setMetadata(LLVMContext::MD_invariant_load,
                    MDNode::get(module.getContext(), {}));
  return load;
}

/// x + size.x * (y + size.y * z), as warps are numbered.
Value *IntrinsicBinder::linearThread() {
  constexpr size_t index = offsetof(apemu_thread, thread_index);
  constexpr size_t size = offsetof(apemu_thread, block_size);
  Value *rows = builder.CreateAdd(
      field(index, 1), builder.CreateMul(field(size, 1), field(index, 2)));
  return builder.CreateAdd(field(index, 0),
                           builder.CreateMul(field(size, 0), rows));
}

bool IntrinsicBinder::bindRegister(CallInst &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm.read.ptx.sreg."))
    return false;
  if (name == "laneid") {
    replace(call, builder.CreateURem(linearThread(), builder.getInt32(32)));
    return true;
  }
  if (name == "warpid") {
    replace(call, builder.CreateUDiv(linearThread(), builder.getInt32(32)));
    return true;
  }
  if (name == "warpsize") {
    replace(call, builder.getInt32(32));
    return true;
  }
  static const std::pair<StringLiteral, size_t> arrays[] = {
      {"tid", offsetof(apemu_thread, thread_index)},
      {"ctaid", offsetof(apemu_thread, block_index)},
      {"ntid", offsetof(apemu_thread, block_size)},
      {"nctaid", offsetof(apemu_thread, grid_size)}};
  auto [array, axis] = name.split('.');
  for (auto [known, offset] : arrays)
    if (array == known && axis.size() == 1 && axis >= "x" && axis <= "z") {
      replace(call, field(offset, axis[0] - 'x'));
      return true;
    }
  return false;
}

bool IntrinsicBinder::bindBarrier(CallInst &call, StringRef name) {
  Type *nothing = builder.getVoidTy();
  if (name == "llvm.nvvm.bar.warp.sync") {
    callEmulator("apemu_warp_barrier", nothing,
                 {thread, call.getArgOperand(0)});
  } else if (name == "llvm.nvvm.barrier0" ||
             (name == "llvm.nvvm.barrier.cta.sync.aligned.all" &&
              isa<ConstantInt>(call.getArgOperand(0)) &&
              cast<ConstantInt>(call.getArgOperand(0))->isZero())) {
    callEmulator("apemu_barrier", nothing, {thread});
  } else {
    return false;
  }
  replace(call, nullptr);
  return true;
}

/// `llvm.nvvm.shfl.sync.MODE.TYPE(mask, value, lane, clamp)`; with a `p` at the
/// end of the type it gives {value, whether the lane was in range}.
bool IntrinsicBinder::bindShuffle(CallInst &call, StringRef name) {
  if (!name.consume_front("llvm.nvvm.shfl.sync."))
    return false;
  auto [modeName, type] = name.split('.');
  static const std::pair<StringLiteral, int> modes[] = {
      {"idx", APEMU_SHUFFLE_IDX},
      {"up", APEMU_SHUFFLE_UP},
      {"down", APEMU_SHUFFLE_DOWN},
      {"bfly", APEMU_SHUFFLE_XOR}};
  const auto *mode = find_if(modes, [&, modeName = modeName](const auto &row) {
    return row.first == modeName;
  });
  if (mode == std::end(modes))
    return false;
  Value *value = call.getArgOperand(1);
  Type *given = value->getType();
  Type *word = builder.getInt32Ty();
  Value *valid = ConstantPointerNull::get(builder.getPtrTy());
  bool wantsValid = call.getType()->isStructTy();
  if (wantsValid) {
    IRBuilder<> entry(&*kernel.getEntryBlock().begin());
    valid = entry.CreateAlloca(word);
  }
  Value *result = callEmulator("apemu_shuffle", word,
                               {thread, call.getArgOperand(0),
                                builder.CreateBitCast(value, word),
                                call.getArgOperand(2), call.getArgOperand(3),
                                builder.getInt32(mode->second), valid});
  result = builder.CreateBitCast(result, given);
  if (wantsValid) {
    Value *pair = PoisonValue::get(call.getType());
    pair = builder.CreateInsertValue(pair, result, 0);
    Value *inRange = builder.CreateIsNotNull(builder.CreateLoad(word, valid));
    result = builder.CreateInsertValue(pair, inRange, 1);
  }
  replace(call, result);
  return true;
}

/// Functions of libdevice with an integer as their result.
bool IntrinsicBinder::bindPredicate(CallInst &call, StringRef name) {
  Type *type = call.getType();
  if (!type->isIntegerTy() || call.arg_size() != 1)
    return false;
  Value *operand = call.getArgOperand(0);
  if (name == "__nv_abs" || name == "__nv_llabs") {
    replace(call, builder.CreateBinaryIntrinsic(Intrinsic::abs, operand,
                                                builder.getFalse()));
    return true;
  }
  unsigned classes = StringSwitch<unsigned>(name)
                         .Cases({"__nv_isnanf", "__nv_isnand"}, fcNan)
                         .Cases({"__nv_isinff", "__nv_isinfd"}, fcInf)
                         .Cases({"__nv_finitef", "__nv_isfinited"}, fcFinite)
                         .Default(fcNone);
  if (classes == fcNone)
    return false;
  Value *is = builder.createIsFPClass(operand, classes);
  replace(call, builder.CreateZExt(is, type));
  return true;
}

bool IntrinsicBinder::bindFunction(CallInst &call, StringRef name) {
  if (!name.consume_front("__nv_"))
    return false;
  name.consume_front("fast_");
  Type *type = call.getType();
  StringRef base = name;
  if (type->isFloatTy() && !base.consume_back("f"))
    return false;
  Value *operand = call.arg_size() ? call.getArgOperand(0) : nullptr;
  if (base == "rsqrt") {
    Value *root = builder.CreateUnaryIntrinsic(Intrinsic::sqrt, operand);
    replace(call, builder.CreateFDiv(ConstantFP::get(type, 1.0), root));
    return true;
  }
  SmallVector<Value *> args(call.args());
  if (base == "powi") {
    base = "pow";
    args[1] = builder.CreateSIToFP(args[1], type);
  }
  if (!commonFunctions().contains(base))
    return false;
  SmallVector<Type *> types;
  for (Value *arg : args)
    types.push_back(arg->getType());
  FunctionCallee callee = module.getOrInsertFunction(
      (base + (type->isFloatTy() ? "f" : "")).str(),
      FunctionType::get(type, types, /*isVarArg=*/false));
  auto *function = cast<Function>(callee.getCallee());
  function->addFnAttr(Attribute::NoUnwind);
  function->setDoesNotAccessMemory();
  replace(call, builder.CreateCall(callee, args));
  return true;
}

Error IntrinsicBinder::refuse(const CallInst &call) {
  const Function *callee = call.getCalledFunction();
  return createStringError(
      "kernel '" + kernel.getName() + "' calls " +
      (callee ? "'" + callee->getName() + "'" : Twine("through a pointer")) +
      ", which the emulated GPU does not have");
}

Error IntrinsicBinder::bind(CallInst &call) {
  const Function *callee = call.getCalledFunction();
  if (!callee)
    return refuse(call);
  StringRef name = callee->getName();
  if (!name.starts_with("llvm.nvvm.") && callee->isIntrinsic())
    return Error::success();
  builder.SetInsertPoint(&call);
  if (bindRegister(call, name) || bindBarrier(call, name) ||
      bindShuffle(call, name) || bindPredicate(call, name) ||
      bindFunction(call, name))
    return Error::success();
  return refuse(call);
}

Error IntrinsicBinder::run() {
  SmallVector<CallInst *> calls;
  for (BasicBlock &block : kernel)
    for (Instruction &instruction : block)
      if (auto *call = dyn_cast<CallInst>(&instruction))
        calls.push_back(call);
  for (CallInst *call : calls)
    if (Error error = bind(*call))
      return error;
  return Error::success();
}

} // namespace

Error bindIntrinsics(Function &kernel, Value *thread) {
  return IntrinsicBinder(kernel, thread).run();
}

} // namespace autopar::gpu
