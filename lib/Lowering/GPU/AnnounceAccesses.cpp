//===- AnnounceAccesses.cpp - Accesses of memory, told before they happen -===//

#include "EmulateKernels.h"
#include "autopar/emulated.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace autopar::gpu {

namespace {

struct Access {
  Instruction *at;
  Value *address, *bytes;
  int how; // APEMU_READ or APEMU_WRITE
};

class Announcer {
public:
  Announcer(Function &kernel, Value *thread)
      : kernel(kernel), thread(thread), builder(kernel.getContext()),
        layout(kernel.getParent()->getDataLayout()) {}
  Error run();

private:
  void add(Instruction &at, Value *address, Type *type, int how) {
    accesses.push_back(
        {&at, address, builder.getInt64(layout.getTypeStoreSize(type)), how});
  }
  Error find(Instruction &instruction);
  void announce(const Access &access);

  Function &kernel;
  Value *thread;
  IRBuilder<> builder;
  const DataLayout &layout;
  std::vector<Access> accesses;
};

/// The memory to which an address points.
struct Pointee {
  enum { Private, Shared, Global } kind = Global;
  int parameter = -1; // parameter of a global place, if it is known
};

/// Returns the place of an address. `thread`, memory on the stack and constants
/// are private: no other thread writes them.
Pointee placeOf(const Value *address, const Value *thread) {
  SmallVector<const Value *> objects;
  getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  Pointee place;
  bool first = true;
  for (const Value *object : objects) {
    Pointee one;
    auto *load = dyn_cast<LoadInst>(object);
    if (object == thread || isa<AllocaInst>(object) ||
        isa<GlobalVariable>(object))
      one.kind = Pointee::Private;
    else if (load && getUnderlyingObject(load->getPointerOperand()) == thread)
      one.kind = Pointee::Shared;
    else if (auto *argument = dyn_cast<Argument>(object))
      one.parameter = argument->getArgNo();
    if (first)
      place = one;
    else if (place.kind != one.kind || place.parameter != one.parameter)
      place = Pointee();
    first = false;
  }
  return place;
}

Error Announcer::find(Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction)) {
    add(instruction, load->getPointerOperand(), load->getType(), APEMU_READ);
  } else if (auto *store = dyn_cast<StoreInst>(&instruction)) {
    add(instruction, store->getPointerOperand(),
        store->getValueOperand()->getType(), APEMU_WRITE);
  } else if (auto *copy = dyn_cast<MemTransferInst>(&instruction)) {
    accesses.push_back(
        {&instruction, copy->getRawSource(), copy->getLength(), APEMU_READ});
    accesses.push_back(
        {&instruction, copy->getRawDest(), copy->getLength(), APEMU_WRITE});
  } else if (auto *fill = dyn_cast<MemSetInst>(&instruction)) {
    accesses.push_back(
        {&instruction, fill->getRawDest(), fill->getLength(), APEMU_WRITE});
  } else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(instruction)) {
    return createStringError("kernel '" + kernel.getName() +
                             "' has an atomic access, which the emulated GPU "
                             "does not have");
  }
  return Error::success();
}

void Announcer::announce(const Access &access) {
  Pointee place = placeOf(access.address, thread);
  if (place.kind == Pointee::Private)
    return;
  builder.SetInsertPoint(access.at);
  Module &module = *kernel.getParent();
  Value *address =
      builder.CreateAddrSpaceCast(access.address, builder.getPtrTy());
  SmallVector<Value *> args{
      thread, address, builder.CreateZExt(access.bytes, builder.getInt64Ty()),
      builder.getInt32(access.how)};
  bool isShared = place.kind == Pointee::Shared;
  if (!isShared)
    args.push_back(builder.getInt32(place.parameter));
  SmallVector<Type *> types;
  for (Value *arg : args)
    types.push_back(arg->getType());
  FunctionCallee callee = module.getOrInsertFunction(
      isShared ? "apemu_shared" : "apemu_global",
      FunctionType::get(builder.getVoidTy(), types, /*isVarArg=*/false));
  builder.CreateCall(callee, args);
}

Error Announcer::run() {
  for (BasicBlock &block : kernel)
    for (Instruction &instruction : block)
      if (Error error = find(instruction))
        return error;
  for (const Access &access : accesses)
    announce(access);
  return Error::success();
}

} // namespace

Error announceAccesses(Function &kernel, Value *thread) {
  return Announcer(kernel, thread).run();
}

} // namespace autopar::gpu
