//===- Memory.cpp - Bytes of one device -----------------------------------===//

#include "autopar/Dialect/Interpreter/Memory.h"

using namespace mlir;

namespace autopar::interpreter {

/// Calls visit(row-major number, number in memory) for each element; false if
/// the strides are not known.
template <typename Visit>
static bool forEachElement(ShapedType type, Visit visit) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    strides = stridesOf(type.getShape());
  else if (failed(memref.getStridesAndOffset(strides, offset)))
    return false;
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides))
    return false; // the offset is part of where the place begins
  forEachIndex(type.getShape(), [&](ArrayRef<int64_t> index, int64_t i) {
    int64_t at = 0;
    for (auto [k, stride] : llvm::zip_equal(index, strides))
      at += k * stride;
    visit(i, at);
  });
  return true;
}

bool overlap(const Place &a, const Place &b) {
  if (a.space != b.space)
    return false;
  if (a.space == BufferSpace::Persistent)
    return a.position == b.position;
  int64_t first = a.position + byteOffset(a.type),
          other = b.position + byteOffset(b.type);
  return first < other + bytesOf(b.type) && other < first + bytesOf(a.type);
}

RankedTensorType valueType(Type type) {
  auto shaped = cast<ShapedType>(type);
  return RankedTensorType::get(shaped.getShape(), shaped.getElementType());
}

/// Bytes with all bits set: NaNs show that nothing was written.
static std::vector<uint8_t> freshBytes(int64_t count) {
  return std::vector<uint8_t>(count, 0xff);
}

void Memory::renewArena(int64_t bytes) { arena = freshBytes(bytes); }

void Memory::addPersistent(ShapedType type) {
  persistent.push_back(freshBytes(bytesOf(type)));
}

/// The bytes from the place's first one on. `Bytes` is const in a const Memory.
template <typename Bytes, typename Tensors>
static auto bytesAt(Bytes &arena, Tensors &persistent, const Place &place) {
  auto from = [&](auto &bytes, size_t first) {
    first = std::min(first + byteOffset(place.type), bytes.size());
    return std::pair(bytes.data() + first, int64_t(bytes.size() - first));
  };
  if (place.space == BufferSpace::Arena)
    return from(arena, place.position);
  if (size_t(place.position) < persistent.size())
    return from(persistent[place.position], 0);
  return from(arena, arena.size());
}

std::optional<Tensor> Memory::load(const Place &place) const {
  Tensor tensor(valueType(place.type));
  int64_t width = elementBytes(tensor.element());
  auto [bytes, count] = bytesAt(arena, persistent, place);
  bool inside = true;
  auto visit = [&, bytes = bytes, count = count](int64_t i, int64_t number) {
    inside &= number >= 0 && (number + 1) * width <= count;
    if (inside)
      loadElement(tensor, i, bytes + number * width);
  };
  inside &= forEachElement(place.type, visit);
  return inside ? std::optional(std::move(tensor)) : std::nullopt;
}

bool Memory::store(const Place &place, const Tensor &tensor, Chosen chosen) {
  int64_t width = elementBytes(tensor.element());
  auto [bytes, count] = bytesAt(arena, persistent, place);
  bool inside = true;
  auto visit = [&, bytes = bytes, count = count](int64_t i, int64_t number) {
    inside &= number >= 0 && (number + 1) * width <= count;
    if (inside && chosen(number))
      storeElement(tensor, i, bytes + number * width);
  };
  inside &= forEachElement(place.type, visit);
  return inside;
}

} // namespace autopar::interpreter
