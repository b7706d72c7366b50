//===- CudaKernelMemory.cpp - Loads, stores and places in memory ----------===//

#include "CudaKernelPrinter.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar::gpu {

/// The scalar type behind arrays and vectors.
static Type scalarOf(Type type) {
  while (auto array = dyn_cast<LLVM::LLVMArrayType>(type))
    type = array.getElementType();
  return getElementTypeOrSelf(type);
}

static int64_t scalarsIn(Type type) {
  int64_t count = 1;
  while (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    count *= array.getNumElements();
    type = array.getElementType();
  }
  return count * laneCount(type);
}

static bool isZero(LLVM::GEPOp op) {
  return llvm::all_of(op.getRawConstantIndices(),
                      [](int32_t index) { return index == 0; });
}

/// The type that is read and written through a pointer; null if there are
/// several.
Type CudaKernelPrinter::elementOf(Value pointer) {
  Type found;
  bool differs = false;
  SmallVector<Value> list{pointer};
  auto note = [&](Type type) {
    differs |= found && found != scalarOf(type);
    found = scalarOf(type);
  };
  while (!list.empty()) {
    Value now = list.pop_back_val();
    for (Operation *user : now.getUsers()) {
      if (auto address = dyn_cast<LLVM::GEPOp>(user)) {
        if (!isZero(address))
          note(address.getElemType());
        list.push_back(address.getResult());
      }
      if (auto load = dyn_cast<LLVM::LoadOp>(user))
        note(load.getType());
      if (auto store = dyn_cast<LLVM::StoreOp>(user))
        note(store.getValue().getType());
    }
  }
  return differs ? Type() : found;
}

static Text scaled(const Text &index, int64_t by) {
  if (by == 1)
    return index;
  return binaryText(index, "*", {std::to_string(by)}, Binding::Product, true);
}

LogicalResult CudaKernelPrinter::address(LLVM::GEPOp op) {
  if (isa<VectorType>(op.getType()))
    return unknown(op);
  Address place = places.lookup(op.getBase());
  if (isZero(op)) {
    places[op] = place;
    return success();
  }
  Type type = op.getElemType();
  Text offset;
  auto add = [&](const Text &more) {
    offset = offset.text.empty()
                 ? more
                 : binaryText(offset, "+", more, Binding::Sum, true);
  };
  bool first = true;
  for (auto index : op.getIndices()) {
    if (!first) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      if (!array)
        return unknown(op);
      type = array.getElementType();
    }
    first = false;
    int64_t stride = scalarsIn(type);
    if (auto constant = llvm::dyn_cast_if_present<IntegerAttr>(index)) {
      if (constant.getInt() != 0)
        add({std::to_string(constant.getInt() * stride)});
      continue;
    }
    Value value = cast<Value>(index);
    if (lane(value, 0).text != "0")
      add(scaled(lane(value, 0), stride));
  }
  bool cheap = offset.isName();
  if (!offset.text.empty() && !cheap &&
      (offset.reads || !isUsedOnceNearby(op))) {
    std::string variable = freshName("at");
    line("const int64_t " + variable + " = " + offset.text + ";");
    offset = {variable};
  }
  Type element = scalarOf(op.getElemType());
  if (place.element != element) {
    std::string inside = place.offset.text.empty()
                             ? place.base
                             : "&" + place.base + "[" + place.offset.text + "]";
    place.base = llvm::formatv("(({0}{1} *){2})", place.isConst ? "const " : "",
                               *typeText(element), inside);
    place.element = element;
    place.offset = {};
  }
  if (place.offset.text.empty())
    place.offset = offset;
  else if (!offset.text.empty())
    place.offset = binaryText(place.offset, "+", offset, Binding::Sum, true);
  places[op] = place;
  return success();
}

/// The variable in memory.
std::string CudaKernelPrinter::access(Value pointer, Type type, bool &reads) {
  Address place = places.lookup(pointer);
  std::string offset = place.offset.text.empty() ? "0" : place.offset.text;
  reads |= place.offset.reads;
  if (place.element == type)
    return place.base + "[" + offset + "]";
  std::string inside =
      place.element ? "&" + place.base + "[" + offset + "]" : place.base;
  if (place.element && place.offset.text.empty())
    inside = place.base;
  return llvm::formatv("*({0}{1} *){2}", place.isConst ? "const " : "",
                       *typeText(type), inside);
}

LogicalResult CudaKernelPrinter::load(LLVM::LoadOp op) {
  if (!typeText(op.getType()))
    return unknown(op);
  bool reads = true;
  Type type = op.getType();
  std::string memory = access(op.getAddr(), type, reads);
  if (!isa<VectorType>(type)) {
    Binding binding = memory.front() == '*' ? Binding::Prefix : Binding::Whole;
    define(op, {Text{memory, binding, true}});
    return success();
  }
  if (op->use_empty())
    return success();
  if (typeText(type)->front() == 'P')
    helpers.insert(Helper::Pack);
  std::string variable = freshName("x");
  line("const " + *typeText(type) + " " + variable + " = " + memory + ";");
  name(op, variable);
  return success();
}

LogicalResult CudaKernelPrinter::store(LLVM::StoreOp op) {
  Type type = op.getValue().getType();
  if (!typeText(type))
    return unknown(op);
  if (typeText(type)->front() == 'P')
    helpers.insert(Helper::Pack);
  Text value = whole(op.getValue());
  bool reads = false;
  std::string memory = access(op.getAddr(), type, reads);
  flush(op);
  line(memory + " = " + value.text + ";");
  return success();
}

LogicalResult CudaKernelPrinter::stack(LLVM::AllocaOp op) {
  APInt count;
  if (!matchPattern(op.getArraySize(), m_ConstantInt(&count)))
    return unknown(op);
  Type element = scalarOf(op.getElemType());
  if (!typeText(element))
    return unknown(op);
  std::string variable = freshName("row");
  line(*typeText(element) + " " + variable + "[" +
       Twine(count.getSExtValue() * scalarsIn(op.getElemType())) + "];");
  places[op] = {variable, element, {}};
  return success();
}

/// Tables, and shared memory, which is declared in the order of its first use.
LogicalResult CudaKernelPrinter::declareArrays() {
  llvm::StringMap<std::string> known;
  WalkResult walked = function.walk([&](LLVM::AddressOfOp op) {
    auto module = function->getParentOfType<mlir::gpu::GPUModuleOp>();
    auto global = module.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
    if (!global || !typeText(scalarOf(global.getType())))
      return WalkResult(unknown(op));
    Type element = scalarOf(global.getType());
    if (global.getConstant()) {
      places[op] = {op.getGlobalName().str(), element, {}, /*isConst=*/true};
      return WalkResult::advance();
    }
    std::string &variable = known[op.getGlobalName()];
    if (variable.empty()) {
      variable = freshName("shared");
      line(llvm::formatv(
          "__shared__ {0}{1} {2}[{3}];",
          global.getAlignment().value_or(0) > 8
              ? llvm::formatv("__align__({0}) ", *global.getAlignment()).str()
              : "",
          *typeText(element), variable, scalarsIn(global.getType())));
    }
    places[op] = {variable, element, {}};
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

} // namespace autopar::gpu
