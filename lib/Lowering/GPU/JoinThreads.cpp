//===- JoinThreads.cpp - What threads of a row tell each other ------------===//

#include "GridEmitter.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace autopar::gpu {

void GridEmitter::blockBarrier(unsigned depth) {
  moveTo(mlir::gpu::BarrierOp::create(builder, loc), depth);
}

void GridEmitter::barrier(unsigned depth) {
  if (!sharesRows())
    return;
  if (!group.neighbours || group.lanes > kWarp)
    return blockBarrier(depth);
  Value all = make<arith::ConstantOp>(builder.getI32IntegerAttr(-1));
  moveTo(NVVM::SyncWarpOp::create(builder, loc, all), depth);
}

Value GridEmitter::sharedArray(Type element, int64_t size) {
  auto type = LLVM::LLVMArrayType::get(element, size);
  std::string name = "shared_" + kernel + "_" + std::to_string(sharedArrays++);
  OpBuilder outside = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(outside, loc, type, /*isConstant=*/false,
                         LLVM::Linkage::Internal, name, Attribute(),
                         /*alignment=*/16, /*addrSpace=*/3);
  int64_t bytes = size * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  shared += llvm::alignTo(bytes, 16);
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext(), 3);
  return make<LLVM::AddressOfOp>(pointer, name);
}

void GridEmitter::storeShared(Value value, Value array, Type element,
                              Value index, Value condition, unsigned depth) {
  Value outer = storeGuard;
  storeGuard = condition;
  store(value, pin(array, depth), element, {index});
  storeGuard = outer;
}

//===----------------------------------------------------------------------===//
// Shuffles
//===----------------------------------------------------------------------===//

/// The value of the lane whose number differs by `distance`, a power of two.
Value GridEmitter::shuffle(Value value, int64_t distance) {
  Type type = value.getType(), i32 = builder.getI32Type();
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 64) {
    Type i64 = builder.getI64Type();
    Value bits = type == i64 ? value : make<arith::BitcastOp>(i64, value);
    Value half = constantInt(32);
    Value low = shuffle(make<arith::TruncIOp>(i32, bits), distance);
    Value high = shuffle(
        make<arith::TruncIOp>(i32, make<arith::ShRUIOp>(bits, half)), distance);
    Value joined = make<arith::OrIOp>(
        make<arith::ExtUIOp>(i64, low),
        make<arith::ShLIOp>(make<arith::ExtUIOp>(i64, high), half));
    return type == i64 ? joined : make<arith::BitcastOp>(type, joined);
  }
  Value sent = width < 32 ? make<arith::ExtUIOp>(i32, value) : value;
  Value offset = make<arith::ConstantOp>(builder.getI32IntegerAttr(distance));
  Value all = make<arith::ConstantOp>(builder.getI32IntegerAttr(kWarp));
  Value got = make<mlir::gpu::ShuffleOp>(sent, offset, all,
                                         mlir::gpu::ShuffleMode::XOR);
  return width < 32 ? make<arith::TruncIOp>(type, got) : got;
}

LoopEmitter::Values GridEmitter::joinNeighbours(Values mine,
                                                CombineMany combine,
                                                int64_t width, int64_t apart) {
  for (int64_t distance = width / 2; distance > 0; distance /= 2) {
    Values others;
    for (Value value : mine)
      others.push_back(shuffle(value, distance * apart));
    mine = combine(mine, others);
  }
  return mine;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Joins `parts` values per row, in order; lanes that follow each other have
/// the same one.
LoopEmitter::Values GridEmitter::joinThroughMemory(Values mine,
                                                   CombineMany combine,
                                                   int64_t parts) {
  unsigned at = 0;
  for (Value value : mine)
    at = std::max(at, depth(value));
  Value part = group.lane, writes;
  if (int64_t joined = group.lanes / parts; joined > 1) {
    Value first = make<arith::RemUIOp>(group.lane, constantInt(joined));
    part = make<arith::DivUIOp>(group.lane, constantInt(joined));
    writes =
        make<arith::CmpIOp>(arith::CmpIPredicate::eq, first, constantInt(0));
  }
  Value place = addInt(mulInt(part, group.rows), rowNumber());
  if (at > 0) // the contents of an earlier turn have been read
    barrier(at);
  Values arrays;
  for (Value value : mine) {
    Type type = value.getType();
    arrays.push_back(sharedArray(loops::storageType(type), parts * group.rows));
    storeShared(value, arrays.back(), type, place, writes, at);
  }
  barrier(at);
  Values joined;
  for (int64_t number = 0; number < parts; ++number) {
    Values theirs;
    for (auto [array, value] : llvm::zip_equal(arrays, mine)) {
      Value from = addInt(constantInt(number * group.rows), rowNumber());
      theirs.push_back(load(pin(array, at), value.getType(), {from}));
    }
    joined = joined.empty() ? theirs : combine(joined, theirs);
  }
  return joined;
}

LoopEmitter::Values GridEmitter::joinRow(Values mine, CombineMany combine) {
  // Lanes of a row in a warp, and how far apart they are.
  int64_t apart = group.neighbours ? 1 : group.rows;
  int64_t width = std::min(group.lanes, kWarp / apart);
  if (group.threads() < kWarp)
    width = 1;
  Values joined = joinNeighbours(std::move(mine), combine, width, apart);
  if (group.lanes > width)
    joined = joinThroughMemory(joined, combine, group.lanes / width);
  for (Value value : joined)
    varying.erase(value);
  return joined;
}

} // namespace autopar::gpu
