//===- SoftConversions.cpp - Halves without instructions for them ---------===//

#include "HostCode.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

namespace autopar {

/// A function that each object may have, with one block; its argument.
static Value *beginFunction(IRBuilder<> &builder, Module &module,
                            StringRef name, Type *result, Type *operand) {
  auto *type = FunctionType::get(result, operand, /*isVarArg=*/false);
  Function *function =
      Function::Create(type, GlobalValue::WeakODRLinkage, name, module);
  function->setVisibility(GlobalValue::HiddenVisibility);
  builder.SetInsertPoint(BasicBlock::Create(module.getContext(), "", function));
  return function->getArg(0);
}

/// The function that x86 code calls to round f32 to bf16: the upper half of the
/// bits after adding just less than half of the last place, or half if that
/// place is odd. A NaN stays one.
static void defineRoundingToBf16(Module &module) {
  IRBuilder<> builder(module.getContext());
  Value *value = beginFunction(builder, module, "__truncsfbf2",
                               builder.getBFloatTy(), builder.getFloatTy());
  Value *bits = builder.CreateBitCast(value, builder.getInt32Ty());
  Value *upper = builder.CreateLShr(bits, 16);
  Value *odd = builder.CreateAnd(upper, 1);
  Value *sum = builder.CreateAdd(bits, builder.getInt32(0x7fff));
  Value *rounded = builder.CreateLShr(builder.CreateAdd(sum, odd), 16);
  Value *chosen = builder.CreateSelect(builder.CreateFCmpUNO(value, value),
                                       builder.CreateOr(upper, 0x40), rounded);
  Value *half = builder.CreateTrunc(chosen, builder.getInt16Ty());
  builder.CreateRet(builder.CreateBitCast(half, builder.getBFloatTy()));
}

/// f16 to f32: exponents are moved by 112, up to 255 from that of infinities; a
/// subnormal is the part of a normal number above 2^-14.
static void defineExtension(Module &module) {
  IRBuilder<> b(module.getContext());
  Value *half =
      beginFunction(b, module, "__extendhfsf2", b.getFloatTy(), b.getHalfTy());
  Value *bits =
      b.CreateZExt(b.CreateBitCast(half, b.getInt16Ty()), b.getInt32Ty());
  Value *sign = b.CreateShl(b.CreateAnd(bits, 0x8000), 16);
  Value *magnitude = b.CreateAnd(bits, 0x7fff);
  Value *moved = b.CreateShl(magnitude, 13);
  Value *normal = b.CreateAdd(moved, b.getInt32(112u << 23));
  Value *infinite = b.CreateOr(moved, 255u << 23);
  Value *least = b.getInt32(113u << 23);
  Value *difference =
      b.CreateFSub(b.CreateBitCast(b.CreateAdd(moved, least), b.getFloatTy()),
                   b.CreateBitCast(least, b.getFloatTy()));
  Value *subnormal = b.CreateBitCast(difference, b.getInt32Ty());
  Value *chosen = b.CreateSelect(
      b.CreateICmpUGE(magnitude, b.getInt32(0x7c00)), infinite,
      b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(0x400)), subnormal,
                     normal));
  b.CreateRet(b.CreateBitCast(b.CreateOr(chosen, sign), b.getFloatTy()));
}

/// f32 to f16, to the nearest, ties to even: as for bf16 where the result is
/// normal; the addition of 0.5 rounds where it is not.
static void defineRoundingToHalf(Module &module) {
  IRBuilder<> b(module.getContext());
  Value *value =
      beginFunction(b, module, "__truncsfhf2", b.getHalfTy(), b.getFloatTy());
  Value *bits = b.CreateBitCast(value, b.getInt32Ty());
  Value *sign = b.CreateAnd(b.CreateLShr(bits, 16), 0x8000);
  Value *magnitude = b.CreateAnd(bits, 0x7fffffff);
  Value *odd = b.CreateAnd(b.CreateLShr(magnitude, 13), 1);
  Value *near = b.CreateAdd(magnitude, b.getInt32(0xc8000fff)); // -112 << 23
  Value *normal = b.CreateLShr(b.CreateAdd(near, odd), 13);
  Value *magic = b.getInt32(126u << 23); // 0.5, with a last place of 2^-24
  Value *sum = b.CreateFAdd(b.CreateBitCast(magnitude, b.getFloatTy()),
                            b.CreateBitCast(magic, b.getFloatTy()));
  Value *subnormal = b.CreateSub(b.CreateBitCast(sum, b.getInt32Ty()), magic);
  Value *notFinite =
      b.CreateSelect(b.CreateICmpUGT(magnitude, b.getInt32(255u << 23)),
                     b.getInt32(0x7e00), b.getInt32(0x7c00));
  Value *chosen = b.CreateSelect(
      b.CreateICmpUGE(magnitude, b.getInt32(143u << 23)), notFinite,
      b.CreateSelect(b.CreateICmpULT(magnitude, b.getInt32(113u << 23)),
                     subnormal, normal));
  Value *half = b.CreateTrunc(b.CreateOr(chosen, sign), b.getInt16Ty());
  b.CreateRet(b.CreateBitCast(half, b.getHalfTy()));
}

void defineConversions(Module &module, const TargetMachine &machine) {
  defineRoundingToBf16(module);
  if (machine.getTargetFeatureString().contains("+f16c"))
    return;
  defineExtension(module);
  defineRoundingToHalf(module);
}

} // namespace autopar
