//===- GridEmitter.cpp - Loops shared by the threads of a GPU -------------===//

#include "GridEmitter.h"

using namespace mlir;

namespace autopar::gpu {

/// Shorter folds are not worth sharing.
static constexpr int64_t kLeastShared = 9;
/// Elements that a thread has under way at once where it keeps no row.
static constexpr int64_t kUnderWay = 8;

int64_t RowGroup::vectorOf(int64_t extent) const {
  int64_t size = vector;
  while (extent % size != 0)
    size /= 2;
  return size;
}

void GridEmitter::share(const RowGroup &rowGroup) {
  group = rowGroup;
  if (group.lane)
    varying.insert(group.lane);
}

Value GridEmitter::rowNumber() {
  return group.row ? group.row : constantInt(0);
}

Index GridEmitter::addRowElement(Index rows, ArrayRef<Part> inside,
                                 Index element) {
  SmallVector<Part> parts(spaces[rows.value]), pieces(inside);
  int64_t below = 1;
  bool dense = true;
  for (Part &piece : llvm::reverse(pieces)) {
    piece.index = digit(element, below, piece.size);
    dense &= piece.stride == below;
    below *= piece.size;
  }
  llvm::append_range(parts, pieces);
  Index flat = addSpace(parts);
  Value view = dense ? element.value : addSpace(pieces).value;
  views[flat.value] = {rows.value, view};
  wholes[{rows.value, view}] = wholes[{view, rows.value}] = flat.value;
  return flat;
}

//===----------------------------------------------------------------------===//
// Elements of a row
//===----------------------------------------------------------------------===//

/// Element `within` of the consecutive ones that this thread takes in its turn
/// `chunk`. Turns past the row's end repeat its last elements.
Index GridEmitter::elementOf(int64_t extent, Value chunk, int64_t within,
                             Value &alive) {
  Element &known = elements[{reinterpret_cast<const void *>(extent),
                             chunk.getAsOpaquePointer(),
                             reinterpret_cast<const void *>(within)}];
  if (!known.space) {
    int64_t vector = group.vectorOf(extent), vectors = extent / vector;
    Value lane = group.lane ? group.lane : constantInt(0);
    Value at = addInt(mulInt(chunk, group.lanes), lane);
    std::optional<int64_t> turn = getConstantIntValue(chunk);
    bool mayPass = !turn || (*turn + 1) * group.lanes > vectors;
    if (vectors % group.lanes != 0 && mayPass) {
      known.alive = make<arith::CmpIOp>(arith::CmpIPredicate::slt, at,
                                        constantInt(vectors));
      at = make<arith::MinSIOp>(at, constantInt(vectors - 1));
    }
    SmallVector<Part, 2> parts{{{at}, vector, vectors}};
    if (vector > 1)
      parts.push_back({{constantInt(within)}, 1, vector});
    known.space = addSpace(parts).value;
  }
  alive = known.alive;
  return {known.space, 1, extent};
}

bool GridEmitter::keeps(int64_t extent) const {
  int64_t vector = group.vectorOf(extent);
  int64_t chunks = llvm::divideCeil(extent / vector, group.lanes);
  return chunks * vector <= group.kept;
}

LoopEmitter::Values GridEmitter::forElements(int64_t extent, unsigned depth,
                                             ValueRange inits,
                                             ElementBody body) {
  int64_t vector = group.vectorOf(extent);
  int64_t chunks = llvm::divideCeil(extent / vector, group.lanes);
  auto take = [&](Value chunk, Values &carried) {
    for (int64_t within = 0; within < vector; ++within) {
      Value alive;
      Index element = elementOf(extent, chunk, within, alive);
      carried = body(element, carried, alive);
    }
  };
  if (keeps(extent)) {
    Values carried(inits);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      take(constantInt(chunk), carried);
    return carried;
  }
  int64_t together = std::max<int64_t>(1, kUnderWay / vector);
  while (chunks % together != 0)
    together /= 2;
  return foldRange(
      constantInt(chunks / together), depth, inits,
      [&](Index turn, ValueRange before) {
        Values carried(before);
        for (int64_t number = 0; number < together; ++number)
          take(addInt(mulInt(turn.value, together), constantInt(number)),
               carried);
        return carried;
      });
}

void GridEmitter::forOwnElements(int64_t extent, ElementBody body) {
  int64_t vector = group.vectorOf(extent), vectors = extent / vector;
  Value lane = group.lane ? group.lane : constantInt(0);
  Value left =
      make<arith::SubIOp>(constantInt(vectors + group.lanes - 1), lane);
  Value turns = make<arith::DivUIOp>(left, constantInt(group.lanes));
  foldRange(turns, 0, ValueRange(), [&](Index turn, ValueRange) -> Values {
    for (int64_t within = 0; within < vector; ++within) {
      Value alive;
      body(elementOf(extent, turn.value, within, alive), {}, nullptr);
    }
    return {};
  });
}

bool GridEmitter::varies(ArrayRef<Index> indices) {
  return llvm::any_of(indices, [&](const Index &index) {
    if (!spaces.contains(index.value))
      return varying.contains(index.value);
    return llvm::any_of(partsOf(index),
                        [&](const Part &part) { return varies(part.index); });
  });
}

Value GridEmitter::fold(ArrayRef<int64_t> extents, ArrayRef<Index> fixed,
                        Value init, FoldBody body, Combine combine, bool sums) {
  int64_t extent = llvm::product_of(extents);
  bool together = sharesRows() && combine && extent >= kLeastShared &&
                  !varies(fixed) && !varying.contains(init);
  if (!together)
    return LoopEmitter::fold(extents, fixed, init, body, combine, sums);
  auto step = [&](Index element, ValueRange carried, Value alive) -> Values {
    Value next = body(delinearize(element, extents), carried.front());
    if (alive)
      next = make<arith::SelectOp>(alive, next, carried.front());
    return {next};
  };
  Values mine = forElements(extent, depth(fixed), init, step);
  return joinRow(mine,
                 [&](ValueRange a, ValueRange b) -> Values {
                   return {combine(a.front(), b.front())};
                 })
      .front();
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Adds the constant part of an offset apart, so that LLVM sees which accesses
/// are neighbours.
Value GridEmitter::address(Value pointer, Type stored, Value offset) {
  auto sum = offset.getDefiningOp<arith::AddIOp>();
  std::optional<int64_t> fixed =
      sum ? getConstantIntValue(sum.getRhs()) : std::nullopt;
  if (!fixed || *fixed < INT32_MIN || *fixed > INT32_MAX)
    return LoopEmitter::address(pointer, stored, offset);
  Value base = make<LLVM::GEPOp>(pointer.getType(), stored, pointer,
                                 ArrayRef<LLVM::GEPArg>{sum.getLhs()});
  return make<LLVM::GEPOp>(
      pointer.getType(), stored, base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(*fixed)});
}

/// Returns whether `value` is known to be a multiple of `factor`.
static bool isMultiple(Value value, int64_t factor) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known % factor == 0;
  if (auto product = value.getDefiningOp<arith::MulIOp>())
    return isMultiple(product.getRhs(), factor);
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return isMultiple(sum.getLhs(), factor) && isMultiple(sum.getRhs(), factor);
  return false;
}

LoopEmitter::IndexBlock GridEmitter::blockOf(Value index, int64_t extent) {
  auto sum = index.getDefiningOp<arith::AddIOp>();
  std::optional<int64_t> fixed =
      sum ? getConstantIntValue(sum.getRhs()) : std::nullopt;
  Value base = fixed ? sum.getLhs() : index;
  for (int64_t size = group.vector; size > 1; size /= 2)
    if (extent % size == 0 && isMultiple(base, size)) {
      int64_t within = ((fixed.value_or(0) % size) + size) % size;
      return {addInt(base, constantInt(fixed.value_or(0) - within)), within,
              size};
    }
  return {index};
}

void GridEmitter::storeOutput(Value value, Value pointer, Type element,
                              Index where, Index repeats) {
  Value outer = storeGuard;
  if (repeats.value) {
    Value first = make<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                      this->value(repeats), constantInt(0));
    storeGuard = outer ? make<arith::AndIOp>(outer, first) : first;
  }
  store(value, pointer, element, where);
  storeGuard = outer;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Digits of the flat index and constants only, contiguous along the tile's
/// other side.
static Value crossingFlat(const Tile &tile, ArrayRef<Index> at,
                          const Index &innermost) {
  if (innermost.divisor != tile.across)
    return nullptr;
  for (const Tile::Side &side : tile.stores)
    if (side.flat.value == innermost.value &&
        llvm::all_of(at, [&](const Index &index) {
          return index.value == side.flat.value ||
                 index.value.getDefiningOp<arith::ConstantOp>();
        }))
      return side.flat.value;
  return nullptr;
}

Value GridEmitter::readMemory(Value tensor, ArrayRef<Index> at) {
  if (!tile)
    return LoopEmitter::readMemory(tensor, at);
  auto type = cast<RankedTensorType>(tensor.getType());
  const Layout &layout = memory.find(tensor)->second.layout;
  SmallVector<Run> runs =
      runsOf(inMemoryOrder(at, layout), inMemoryOrder(type.getShape(), layout));
  Value flat =
      runs.empty() ? Value() : crossingFlat(*tile, at, runs.front().index);
  if (!flat)
    return LoopEmitter::readMemory(tensor, at);
  Value array = tileOf(tensor, at, flat);
  const Tile::Side &side = *llvm::find_if(
      tile->stores, [&](const auto &s) { return s.flat.value == flat; });
  Value place =
      addInt(mulInt(side.writtenPlace, Tile::kSide + 1), side.readPlace);
  return load(array, type.getElementType(), {place});
}

/// The tile of `tensor`, filled: [written place][read place], rows one longer
/// than the tile, so that columns of it are in different banks.
Value GridEmitter::tileOf(Value tensor, ArrayRef<Index> at, Value flat) {
  auto within = [&](Value other) {
    SmallVector<Index> moved(at);
    for (Index &index : moved)
      if (index.value == flat)
        index.value = other;
    return moved;
  };
  Key what =
      key(tensor.getAsOpaquePointer(), within(tile->stores.front().flat.value));
  what.push_back(this);
  if (Value known = remembered(what))
    return known;
  Type element = getElementTypeOrSelf(tensor.getType());
  Value array =
      sharedArray(loops::storageType(element), Tile::kSide * (Tile::kSide + 1));
  for (const Tile::Side &side : tile->loads) {
    Value read = LoopEmitter::readMemory(tensor, within(side.flat.value));
    Value place =
        addInt(mulInt(side.writtenPlace, Tile::kSide + 1), side.readPlace);
    storeShared(read, array, element, place, nullptr, 0);
  }
  blockBarrier(0);
  return remembered(what) = pin(array, 0);
}

} // namespace autopar::gpu
