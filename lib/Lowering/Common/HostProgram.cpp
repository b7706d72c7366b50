//===- HostProgram.cpp - The calls that a rank makes ----------------------===//

#include "HostProgram.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Schedule/PersistentBuffers.h"
#include "autopar/Schedule/ReportName.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace autopar {

aprt_dtype dtypeOf(Type element) {
  if (element.isF16())
    return APRT_F16;
  if (element.isBF16())
    return APRT_BF16;
  if (element.isF32())
    return APRT_F32;
  if (element.isF64())
    return APRT_F64;
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1)
    return APRT_BOOL;
  bool isUnsigned = element.isUnsignedInteger();
  if (width <= 8)
    return isUnsigned ? APRT_U8 : APRT_I8;
  if (width <= 16)
    return isUnsigned ? APRT_U16 : APRT_I16;
  if (width <= 32)
    return isUnsigned ? APRT_U32 : APRT_I32;
  return isUnsigned ? APRT_U64 : APRT_I64;
}

StringRef dtypeName(Type element) { return abi::dtypeName(dtypeOf(element)); }

ProgramOp describeOp(Operation *op, StringRef kind) {
  ProgramOp row;
  row.name = schedule::reportName(op).str();
  row.kind = kind.str();
  for (Value operand : op->getOperands())
    row.bytes += bytesOf(operand.getType());
  if (auto stream = op->getAttrOfType<IntegerAttr>(AutoparDialect::kStream))
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

void HostProgram::usePacked(int64_t stage, int64_t slot,
                            const PackedWeight &weight) {
  packed[stage].try_emplace(slot, weight);
}

HostArgument HostProgram::placeWords(ArrayRef<int64_t> values,
                                     ArrayRef<int64_t> shape) {
  auto [it, isNew] = wordPlaces.try_emplace(values.vec(), allWords.size());
  if (isNew)
    llvm::append_range(allWords, values);
  return {HostArgument::Words,
          DenseI64ArrayAttr::get(module.getContext(), shape), it->second};
}

Typed<const int64_t *> HostProgram::words(ArrayRef<int64_t> values) {
  return Typed<const int64_t *>(placeWords(values, values));
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

LLVM::LLVMFuncOp HostProgram::declare(const abi::Function &callee) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(callee.name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(builder, module.getLoc(), callee.name,
                                  abi::llvmType(module.getContext(), callee));
}

//===----------------------------------------------------------------------===//
// The list of calls
//===----------------------------------------------------------------------===//

Typed<void *> HostFunction::address(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  int64_t position = buffer.getPosition(),
          offset = byteOffset(memref.getType());
  if (buffer.getSpace() == BufferSpace::Arena)
    return Typed<void *>({HostArgument::Arena, {}, position + offset});
  Typed<void *> tensor = persistent(position);
  // Parts of one input differ only in this offset, so the first part has one
  // too.
  if (!cast<MemRefType>(memref.getType()).getLayout().isIdentity() &&
      isHeldInput(buffer))
    tensor.argument.elements.push_back({HostArgument::Offset, {}, offset});
  return tensor;
}

Typed<void *> HostFunction::persistent(int64_t index) {
  return Typed<void *>({HostArgument::Persistent, {}, index});
}

Typed<int32_t> HostFunction::op(ProgramOp row) {
  return Typed<int32_t>({HostArgument::Op, {}, program.addOp(std::move(row))});
}

Typed<int32_t> HostFunction::kernel(int32_t number) {
  return Typed<int32_t>(
      {HostArgument::Kernel, builder.getI32IntegerAttr(number)});
}

Typed<aprt_kernel> HostFunction::function(LLVM::LLVMFuncOp callee) {
  return Typed<aprt_kernel>(
      {HostArgument::Function, FlatSymbolRefAttr::get(callee)});
}

Typed<int64_t> HostFunction::position(ArrayAttr axes) {
  return Typed<int64_t>({HostArgument::Position, axes});
}

/// The elements as an array of values of `type`.
template <typename T>
static HostArgument arrayOf(Type type, ArrayRef<Typed<T>> elements) {
  HostArgument array{HostArgument::Array, TypeAttr::get(type)};
  for (const Typed<T> &element : elements)
    array.elements.push_back(element.argument);
  return array;
}

Typed<void *const *> HostFunction::pointers(ArrayRef<Typed<void *>> elements) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext());
  return Typed<void *const *>(arrayOf(type, elements));
}

Typed<const int64_t *> HostFunction::words(ArrayRef<Typed<int64_t>> elements) {
  if (elements.empty())
    return nullptr;
  return Typed<const int64_t *>(arrayOf(builder.getI64Type(), elements));
}

} // namespace autopar
