//===- HostProgram.cpp - The calls that a rank makes ----------------------===//

#include "HostProgram.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar {

int32_t dtypeNumber(Type element) {
  if (element.isF16())
    return 9;
  if (element.isBF16())
    return 10;
  if (element.isF32())
    return 11;
  if (element.isF64())
    return 12;
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1)
    return 0;
  int32_t row = width <= 8 ? 0 : width <= 16 ? 1 : width <= 32 ? 2 : 3;
  return 1 + 2 * row + (element.isUnsignedInteger() ? 1 : 0);
}

StringRef dtypeName(Type element) {
  static const char *const names[] = {"bool", "i8",  "u8",  "i16", "u16",
                                      "i32",  "u32", "i64", "u64", "f16",
                                      "bf16", "f32", "f64"};
  return names[dtypeNumber(element)];
}

int64_t denseBytes(Type shaped) {
  auto type = cast<ShapedType>(shaped);
  unsigned width = type.getElementType().getIntOrFloatBitWidth();
  return type.getNumElements() * std::max(1u, width / 8);
}

//===----------------------------------------------------------------------===//
// What the functions share
//===----------------------------------------------------------------------===//

HostProgram::HostProgram(ModuleOp module, const Mesh &mesh, int64_t stages)
    : module(module), mesh(mesh), stages(stages), packed(stages) {}

int32_t HostProgram::addOp(ProgramOp op) {
  ops.push_back(std::move(op));
  return ops.size() - 1;
}

int32_t HostProgram::communicator(ArrayAttr axes) {
  std::string key;
  ProgramCommunicator made;
  SmallVector<unsigned> atoms;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    key += axis.getValue().str() + ",";
    made.axes.push_back(axis.str());
    if (auto found = mesh.lookup(axis.getValue()))
      llvm::append_range(atoms, *found);
  }
  auto [it, isNew] = communicatorIndex.try_emplace(key, communicators.size());
  if (!isNew)
    return it->second;
  int64_t devices = mesh.deviceCount();
  for (int64_t stage = 0; stage < stages; ++stage)
    for (int64_t device = 0; device < devices; ++device) {
      SmallVector<int64_t> members = mesh.group(atoms, device);
      if (*llvm::min_element(members) != device)
        continue; // each group once, at its first device
      std::vector<int64_t> ranks;
      for (int64_t member : members)
        ranks.push_back(stage * devices + member);
      made.groups.push_back(std::move(ranks));
    }
  communicators.push_back(std::move(made));
  return it->second;
}

void HostProgram::useChannel(int64_t channel, ProgramChannel what) {
  if (channels.size() <= static_cast<size_t>(channel))
    channels.resize(channel + 1);
  channels[channel] = what;
}

int64_t HostProgram::packedSlot(int64_t stage, PackedWeight weight,
                                size_t slotWord) {
  weight.descriptor[slotWord] = 0;
  std::vector<int64_t> key{stage, weight.persistent,
                           weight.callee == "aprt_gemm_pack"};
  llvm::append_range(key, weight.descriptor);
  auto [it, isNew] = slots.try_emplace(key, packed[stage].size());
  if (isNew) {
    weight.descriptor[slotWord] = it->second;
    packed[stage].push_back(std::move(weight));
  }
  return it->second;
}

LLVM::GlobalOp HostProgram::words(ArrayRef<int64_t> values) {
  std::vector<int64_t> key(values.begin(), values.end());
  auto [it, isNew] = wordArrays.try_emplace(key);
  if (!isNew)
    return it->second;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), values.size());
  auto data = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(values.size())},
                            builder.getI64Type()),
      values);
  std::string name = "words_" + std::to_string(wordArrays.size() - 1);
  it->second = LLVM::GlobalOp::create(builder, module.getLoc(), type,
                                      /*isConstant=*/true,
                                      LLVM::Linkage::Internal, name, data);
  return it->second;
}

LLVM::LLVMFuncOp HostProgram::declare(StringRef name, Type result,
                                      TypeRange arguments) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(
      builder, module.getLoc(), name,
      LLVM::LLVMFunctionType::get(result, llvm::to_vector(arguments)));
}

//===----------------------------------------------------------------------===//
// One function
//===----------------------------------------------------------------------===//

HostFunction::HostFunction(HostProgram &program, OpBuilder &builder,
                           StringRef name, int64_t stage, bool hasTime)
    : program(program), builder(builder), loc(program.module.getLoc()),
      stage(stage) {
  builder.setInsertionPointToEnd(program.module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> arguments{pointer};
  if (hasTime)
    arguments.push_back(builder.getI64Type());
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), arguments);
  function = LLVM::LLVMFuncOp::create(builder, loc, name, type,
                                      LLVM::Linkage::Internal);
  entry = function.addEntryBlock(builder);
  rank = entry->getArgument(0);
  Block *body = builder.createBlock(&function.getBody());
  fail = builder.createBlock(&function.getBody());
  Value status = fail->addArgument(builder.getI32Type(), loc);
  LLVM::ReturnOp::create(builder, loc, status);
  builder.setInsertionPointToEnd(entry);
  entryEnd = LLVM::BrOp::create(builder, loc, body);
  builder.setInsertionPointToEnd(body);
  time = hasTime ? Value(entry->getArgument(1)) : int64(0);
}

void HostFunction::finish() {
  LLVM::ReturnOp::create(builder, loc, int32(0));
  fail->moveBefore(&function.getBody(), function.getBody().end());
}

Value HostFunction::entryValue(function_ref<Value()> build) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(entryEnd);
  return build();
}

Value HostFunction::int64(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(),
                                  builder.getI64IntegerAttr(value));
}

Value HostFunction::int32(int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                  builder.getI32IntegerAttr(value));
}

Value HostFunction::null() {
  return LLVM::ZeroOp::create(builder, loc, rank.getType());
}

Value HostFunction::words(ArrayRef<int64_t> values) {
  LLVM::GlobalOp global = program.words(values);
  return LLVM::AddressOfOp::create(builder, loc, global);
}

Value HostFunction::persistent(int64_t index) {
  Value &known = persistents[index];
  if (!known)
    known = entryValue([&]() -> Value {
      auto callee = program.declare("aprt_persistent", rank.getType(),
                                    {rank.getType(), builder.getI32Type()});
      return LLVM::CallOp::create(builder, loc, callee,
                                  ValueRange{rank, int32(index)})
          .getResult();
    });
  return known;
}

Value HostFunction::address(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  if (buffer.getSpace() == BufferSpace::Persistent)
    return persistent(buffer.getPosition());
  if (!arena)
    arena = entryValue([&]() -> Value {
      auto callee =
          program.declare("aprt_arena", rank.getType(), {rank.getType()});
      return LLVM::CallOp::create(builder, loc, callee, rank).getResult();
    });
  return LLVM::GEPOp::create(
      builder, loc, rank.getType(), builder.getI8Type(), arena,
      ArrayRef<LLVM::GEPArg>{int64(buffer.getPosition())});
}

Value HostFunction::stackArray(ValueRange values, Type type) {
  auto &[array, size] = stacks[type.getAsOpaquePointer()];
  int64_t wanted = std::max<int64_t>(1, values.size());
  if (!array)
    array = entryValue([&]() -> Value {
              return LLVM::AllocaOp::create(builder, loc, rank.getType(), type,
                                            int64(1), /*alignment=*/8);
            }).getDefiningOp<LLVM::AllocaOp>();
  if (wanted > size) {
    size = wanted;
    auto count = array.getArraySize().getDefiningOp<LLVM::ConstantOp>();
    count.setValueAttr(builder.getI64IntegerAttr(size));
  }
  for (auto [number, value] : llvm::enumerate(values)) {
    Value place = LLVM::GEPOp::create(
        builder, loc, rank.getType(), type, array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
    LLVM::StoreOp::create(builder, loc, value, place);
  }
  return array;
}

/// Without the time axis the runtime knows the index; with it, the index is
/// put together atom by atom.
Value HostFunction::position(ArrayAttr axes) {
  std::string key;
  llvm::raw_string_ostream(key) << axes;
  Value &known = positions[key];
  if (known)
    return known;
  return known = entryValue([&]() -> Value {
           Type i64 = builder.getI64Type();
           auto ask = [&](ArrayAttr names) -> Value {
             auto callee =
                 program.declare("aprt_axis_index", i64,
                                 {rank.getType(), builder.getI32Type()});
             Value comm = int32(program.communicator(names));
             return LLVM::CallOp::create(builder, loc, callee,
                                         ValueRange{rank, comm})
                 .getResult();
           };
           SmallVector<unsigned> atoms;
           for (auto axis : axes.getAsRange<StringAttr>())
             if (auto found = program.mesh.lookup(axis.getValue()))
               llvm::append_range(atoms, *found);
           auto isTime = [&](unsigned atom) {
             return program.mesh.atoms()[atom].time;
           };
           if (llvm::none_of(atoms, isTime))
             return ask(axes);
           Value index = int64(0);
           for (unsigned atom : atoms) {
             const MeshAtom &what = program.mesh.atoms()[atom];
             Value digit;
             if (what.time) {
               digit = LLVM::UDivOp::create(builder, loc, time,
                                            int64(what.divisor));
               digit =
                   LLVM::URemOp::create(builder, loc, digit, int64(what.size));
             } else {
               digit = ask(builder.getStrArrayAttr({StringRef(what.name)}));
             }
             index = LLVM::MulOp::create(builder, loc, index, int64(what.size));
             index = LLVM::AddOp::create(builder, loc, index, digit);
           }
           return index;
         });
}

void HostFunction::call(StringRef name, ValueRange arguments) {
  SmallVector<Value> values{rank};
  llvm::append_range(values, arguments);
  auto callee = program.declare(name, builder.getI32Type(),
                                ValueRange(values).getTypes());
  Value status = LLVM::CallOp::create(builder, loc, callee, values).getResult();
  Value failed = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne,
                                      status, int32(0));
  Block *next = builder.createBlock(fail);
  builder.setInsertionPointToEnd(next->getPrevNode());
  LLVM::CondBrOp::create(builder, loc, failed, fail, ValueRange{status}, next,
                         ValueRange{});
  builder.setInsertionPointToEnd(next);
}

} // namespace autopar
