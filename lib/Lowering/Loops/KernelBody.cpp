//===- KernelBody.cpp - What every device does with a kernel --------------===//

#include "KernelBody.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar::loops {

/// A key for the place where a memref begins: a byte of the arena, or of a
/// persistent tensor.
static std::string placeOf(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  if (!buffer)
    return "";
  int64_t position = buffer.getPosition(),
          offset = byteOffset(memref.getType());
  if (buffer.getSpace() == BufferSpace::Arena)
    return "arena[" + std::to_string(position + offset) + "]";
  return std::to_string(position) + "[" + std::to_string(offset) + "]";
}

KernelSlots::KernelSlots(KernelOp kernel) {
  std::map<std::string, unsigned> places;
  for (auto [number, operand] : llvm::enumerate(kernel->getOperands())) {
    auto [it, isNew] = places.try_emplace(placeOf(operand), buffers.size());
    if (isNew)
      buffers.push_back(number);
    slots.push_back(it->second);
  }
  kernel.getBody().walk([&](MeshAxesOpInterface op) {
    if (!llvm::is_contained(positions, op.getAxes()))
      positions.push_back(op.getAxes());
  });
}

bool isInPlace(KernelOp kernel) {
  return kernel->hasAttr(AutoparDialect::kInPlace);
}

std::string bodyKey(KernelOp kernel, ArrayRef<unsigned> slots) {
  std::string key;
  auto addNumber = [&](uint64_t number) {
    key.append(reinterpret_cast<const char *>(&number), sizeof(number));
  };
  // MLIR has one object for equal names, types and attributes, so that its
  // address is a key.
  auto add = [&](auto object) {
    addNumber(reinterpret_cast<uintptr_t>(object.getAsOpaquePointer()));
  };
  llvm::for_each(slots, addNumber);
  addNumber(isInPlace(kernel));
  Block &body = kernel.getBody().front();
  // The kernel gets the address of a part as an argument, so the part's offset
  // is not part of the key.
  for (Type type : kernel->getOperandTypes()) {
    auto shaped = cast<ShapedType>(type);
    add(bufferType(
        RankedTensorType::get(shaped.getShape(), shaped.getElementType()),
        layoutOf(type)));
  }
  llvm::DenseMap<Value, unsigned> numbers;
  auto define = [&](Value value) {
    numbers.try_emplace(value, numbers.size());
    add(value.getType());
  };
  llvm::for_each(body.getArguments(), define);
  for (Operation &op : body) {
    add(op.getName());
    addNumber(op.getNumOperands());
    for (Value operand : op.getOperands())
      addNumber(numbers.at(operand));
    for (NamedAttribute attribute : op.getAttrDictionary())
      if (attribute.getName() != AutoparDialect::kNames) {
        add(attribute.getName());
        add(attribute.getValue());
      }
    llvm::for_each(op.getResults(), define);
  }
  return key;
}

std::string nameOf(KernelOp kernel, unsigned number) {
  StringRef last = "copy";
  for (Operation &op : kernel.getBody().front().without_terminator())
    last = op.getName().stripDialect();
  return ("kernel_" + Twine(number) + "_" + last).str();
}

LogicalResult verifyBody(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    if (hasLoops(op))
      return WalkResult::advance();
    return op->emitOpError("has no loops inside a kernel");
  });
  return failure(result.wasInterrupted());
}

int64_t spaceOf(KernelOp kernel) {
  int64_t size = 1;
  for (Value result : kernel.getBody().front().getTerminator()->getOperands())
    size = std::max(size, elementsOf(result));
  return size;
}

void cutAtOutputs(KernelOp kernel, int64_t space, std::set<int64_t> &cuts) {
  for (Value result : kernel.getBody().front().getTerminator()->getOperands())
    if (int64_t count = elementsOf(result); count < space)
      cuts.insert(space / std::max<int64_t>(1, count));
}

SmallVector<Part> cutSpace(int64_t space, const std::set<int64_t> &cuts) {
  SmallVector<Part> parts;
  int64_t stride = 1;
  auto close = [&](int64_t end) {
    if (end > stride)
      parts.insert(parts.begin(), {{}, stride, end / stride});
    stride = end;
  };
  for (int64_t cut : cuts)
    if (cut < space && cut % stride == 0 && space % cut == 0)
      close(cut);
  close(space);
  return parts;
}

/// Returns the indices of the element whose place in memory is `where`.
static SmallVector<Index> indicesAt(LoopEmitter &emit, Index where,
                                    RankedTensorType type,
                                    ArrayRef<int64_t> layout) {
  SmallVector<Index> places =
      emit.delinearize(where, inMemoryOrder(type.getShape(), layout));
  SmallVector<Index> at(places);
  for (auto [place, dim] :
       llvm::zip_equal(places, fullLayout(layout, places.size())))
    at[dim] = place;
  return at;
}

SmallVector<OutputElement> evaluateOutputs(LoopEmitter &emit, KernelOp kernel,
                                           Index flat, int64_t size) {
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  SmallVector<OutputElement> elements;
  unsigned number = 0;
  for (auto [result, output] :
       llvm::zip_equal(yield.getValues(), kernel.getOutputs())) {
    auto type = cast<RankedTensorType>(result.getType());
    int64_t count = type.getNumElements();
    unsigned current = number++;
    if (count == 0)
      continue;
    Index where = emit.digit(flat, size / count, count), repeats;
    if (count < size)
      repeats = emit.digit(flat, 1, size / count);
    Value element = emit.element(
        result, indicesAt(emit, where, type, layoutOf(output.getType())));
    elements.push_back({element, where, repeats, current});
  }
  return elements;
}

void storeOutputs(LoopEmitter &emit, KernelOp kernel, ArrayRef<unsigned> slots,
                  ValueRange pointers, ArrayRef<OutputElement> elements) {
  unsigned inputs = kernel.getInputs().size();
  for (const OutputElement &element : elements) {
    Type type = kernel.getOutputs()[element.output].getType();
    emit.storeOutput(element.value, pointers[slots[inputs + element.output]],
                     getElementTypeOrSelf(type), element.where,
                     element.repeats);
  }
}

} // namespace autopar::loops
