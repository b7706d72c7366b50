//===- HostProgram.cpp - The calls that a rank makes ----------------------===//

#include "HostProgram.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Schedule/HeldInputs.h"
#include "autopar/Schedule/Names.h"
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

ProgramOp describeOp(Operation *op, StringRef kind) {
  ProgramOp row;
  row.name = nodeName(op->getLoc()).str();
  row.kind = kind.str();
  for (Value operand : op->getOperands())
    row.bytes += bytesOf(operand.getType());
  if (auto stream = op->getAttrOfType<IntegerAttr>(schedule::kStream))
    row.stream = stream.getInt();
  return row;
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

int32_t HostProgram::communicator(ArrayAttr axes, int64_t bytes) {
  std::string key;
  ProgramCommunicator made;
  SmallVector<unsigned> subAxes;
  for (auto axis : axes.getAsRange<StringAttr>()) {
    key += axis.getValue().str() + ",";
    made.axes.push_back(axis.str());
    if (auto found = mesh.lookup(axis.getValue()))
      llvm::append_range(subAxes, *found);
  }
  auto [it, isNew] = communicatorIndex.try_emplace(key, communicators.size());
  if (!isNew) {
    int64_t &most = communicators[it->second].bytes;
    most = std::max(most, bytes);
    return it->second;
  }
  made.bytes = bytes;
  int64_t devices = mesh.deviceCount();
  for (int64_t stage = 0; stage < stages; ++stage)
    for (int64_t device = 0; device < devices; ++device) {
      SmallVector<int64_t> members = mesh.group(subAxes, device);
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

int64_t HostProgram::packedSlot(int64_t stage, PackedWeight weight) {
  weight.descriptor[weight.slotWord] = 0;
  std::vector<int64_t> key{stage, weight.persistent,
                           weight.callee == "aprt_gemm_pack"};
  llvm::append_range(key, weight.descriptor);
  auto [it, isNew] = slots.try_emplace(key, packed[stage].size());
  if (isNew) {
    weight.descriptor[weight.slotWord] = it->second;
    packed[stage].push_back(std::move(weight));
  }
  return it->second;
}

HostArgument HostProgram::words(std::vector<int64_t> values, int64_t slotWord) {
  auto [it, isNew] = wordPlaces.try_emplace(values, allWords.size());
  if (isNew)
    llvm::append_range(allWords, values);
  if (slotWord >= 0)
    values[slotWord] = 0;
  auto shape = DenseI64ArrayAttr::get(module.getContext(), values);
  return {HostArgument::Words, shape, it->second};
}

LLVM::GlobalOp HostProgram::makeWords(StringRef name,
                                      ArrayRef<int64_t> values) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto type = LLVM::LLVMArrayType::get(builder.getI64Type(), values.size());
  auto data = DenseElementsAttr::get(
      RankedTensorType::get({static_cast<int64_t>(values.size())},
                            builder.getI64Type()),
      values);
  return LLVM::GlobalOp::create(builder, module.getLoc(), type,
                                /*isConstant=*/true, LLVM::Linkage::Internal,
                                name, data);
}

void HostProgram::finishWords() {
  if (!allWords.empty())
    makeWords(kWords, allWords);
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
// The list of calls
//===----------------------------------------------------------------------===//

HostArgument HostFunction::address(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  int64_t position = buffer.getPosition(),
          offset = byteOffset(memref.getType());
  if (buffer.getSpace() == BufferSpace::Arena)
    return {HostArgument::Arena, {}, position + offset};
  HostArgument tensor = persistent(position);
  // Parts of an input differ in this alone, also the one at its begin.
  if (!cast<MemRefType>(memref.getType()).getLayout().isIdentity() &&
      isHeldInput(buffer))
    tensor.elements.push_back({HostArgument::Offset, {}, offset});
  return tensor;
}

HostArgument HostFunction::persistent(int64_t index) {
  return {HostArgument::Persistent, {}, index};
}

HostArgument HostFunction::op(ProgramOp row) {
  return {HostArgument::Op, {}, program.addOp(std::move(row))};
}

HostArgument HostFunction::int32(int64_t value) {
  return {HostArgument::Constant, builder.getI32IntegerAttr(value)};
}

HostArgument HostFunction::int64(int64_t value) {
  return {HostArgument::Constant, builder.getI64IntegerAttr(value)};
}

HostArgument HostFunction::float64(double value) {
  return {HostArgument::Constant, builder.getF64FloatAttr(value)};
}

HostArgument HostFunction::function(LLVM::LLVMFuncOp callee) {
  return {HostArgument::Function, FlatSymbolRefAttr::get(callee)};
}

HostArgument HostFunction::position(ArrayAttr axes) {
  return {HostArgument::Position, axes};
}

HostArgument HostFunction::pointers(std::vector<HostArgument> elements) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext());
  return {HostArgument::Array, TypeAttr::get(type), 0, std::move(elements)};
}

HostArgument HostFunction::words(std::vector<HostArgument> elements) {
  if (elements.empty())
    return {};
  return {HostArgument::Array, TypeAttr::get(builder.getI64Type()), 0,
          std::move(elements)};
}

void HostFunction::call(StringLiteral callee,
                        std::vector<HostArgument> arguments) {
  calls.push_back({callee, std::move(arguments), loc});
}

} // namespace autopar
