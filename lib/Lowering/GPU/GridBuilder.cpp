//===- GridBuilder.cpp - One kernel as a function of a grid ---------------===//

#include "GridBuilder.h"
#include "CudaSource.h"
#include "autopar/Dialect/Bytes.h"

using namespace mlir;

namespace autopar::gpu {

bool isAligned(Value memref) {
  auto buffer = memref.getDefiningOp<BufferOp>();
  return !buffer || buffer.getSpace() != BufferSpace::Arena ||
         (buffer.getPosition() + byteOffset(memref.getType())) % kAccessBytes ==
             0;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

mlir::gpu::GPUFuncOp GridBuilder::makeFunction(const GridPlan &plan) {
  MLIRContext *context = builder.getContext();
  SmallVector<Type> types(arguments.buffers.size(),
                          LLVM::LLVMPointerType::get(context));
  types.append(arguments.positions.size(), builder.getI64Type());
  builder.setInsertionPointToEnd(module.getBody());
  function = mlir::gpu::GPUFuncOp::create(
      builder, loc, name, FunctionType::get(context, types, {}));
  function->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function->setAttr(AutoparDialect::kDescription,
                    builder.getStringAttr(descriptionOf(kernel)));
  auto size = [&](int64_t x) {
    return builder.getDenseI32ArrayAttr({static_cast<int32_t>(x), 1, 1});
  };
  function.setKnownBlockSizeAttr(size(plan.threadCount()));
  if (plan.blocks() <= INT32_MAX)
    function.setKnownGridSizeAttr(size(plan.blocks()));

  for (unsigned number = 0; number < arguments.buffers.size(); ++number) {
    function.setArgAttr(number, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
    if (isAligned(kernel->getOperand(arguments.buffers[number])))
      function.setArgAttr(number, LLVM::LLVMDialect::getAlignAttrName(),
                          builder.getI64IntegerAttr(kAccessBytes));
  }
  Block &entry = function.getBody().front();
  builder.setInsertionPointToEnd(&entry);
  auto done = mlir::gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(done);
  return function;
}

void GridBuilder::bindArguments(GridEmitter &emit) {
  Block &entry = function.getBody().front();
  for (BlockArgument argument : kernel.getBody().front().getArguments()) {
    unsigned number = argument.getArgNumber();
    emit.bind(argument, entry.getArgument(arguments.slots[number]),
              layoutOf(kernel->getOperand(number).getType()));
  }
  for (auto [number, axes] : llvm::enumerate(arguments.positions))
    emit.bindPosition(axes,
                      entry.getArgument(arguments.buffers.size() + number));
}

Value GridBuilder::constant(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}

/// A thread's or block's number, as i64.
template <typename OpT> Value GridBuilder::dimension() {
  Value index = OpT::create(builder, loc, mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index);
}

/// a * scale + b.
Value GridBuilder::plus(Value a, Value b, int64_t scale) {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  Value scaled = arith::MulIOp::create(builder, loc, a, constant(scale), nsw);
  return arith::AddIOp::create(builder, loc, scaled, b, nsw);
}

Value GridBuilder::digit(Value index, int64_t below, int64_t size) {
  if (below != 1)
    index = arith::DivUIOp::create(builder, loc, index, constant(below));
  if (size != 0)
    index = arith::RemUIOp::create(builder, loc, index, constant(size));
  return index;
}

Block *GridBuilder::guarded(Value index, int64_t size) {
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                       index, constant(size));
  auto guard = scf::IfOp::create(builder, loc, inside);
  return guard.thenBlock();
}

void GridBuilder::store(GridEmitter &emit, ArrayRef<OutputElement> elements) {
  Block &entry = function.getBody().front();
  storeOutputs(emit, kernel, arguments.slots, entry.getArguments(), elements);
}

/// Digits of `number`, which counts the combinations of the parts, the last
/// one fastest.
static SmallVector<Part> digitsOf(ArrayRef<Part> parts, Value number) {
  SmallVector<Part> result(parts);
  int64_t below = 1, all = 1;
  for (const Part &part : parts)
    all *= part.size;
  for (Part &part : llvm::reverse(result)) {
    bool top = below * part.size == all;
    part.index = {number, below, top ? 0 : part.size};
    below *= part.size;
  }
  return result;
}

loops::Findings GridBuilder::tryOut() {
  GridPlan plan;
  makeFunction(plan);
  GridEmitter emit = emitterFor(&function.getBody().front());
  int64_t space = loops::spaceOf(kernel);
  Value at = emit.openLoop(emit.constantInt(0), emit.constantInt(space));
  Index flat = emit.addSpace(Part{{at}, 1, space});
  store(emit, evaluateOutputs(emit, kernel, flat, space));
  function.erase();
  return emit.findings;
}

//===----------------------------------------------------------------------===//
// Mappings
//===----------------------------------------------------------------------===//

/// Each thread takes `vector` consecutive elements, and that `times` times.
void GridBuilder::emitFlat(const GridPlan &plan) {
  int64_t turns = plan.space / plan.vector, step = plan.threads;
  Value block = dimension<mlir::gpu::BlockIdOp>();
  Value first =
      plus(block, dimension<mlir::gpu::ThreadIdOp>(), step * plan.times);
  bool uneven = turns % (step * plan.times) != 0;
  Block *body = first.getParentBlock();
  if (uneven && plan.times == 1)
    body = guarded(first, turns);
  GridEmitter emit = emitterFor(body);
  RowGroup alone;
  alone.vector = plan.vector;
  emit.share(alone);
  SmallVector<Part> parts(plan.parts);
  if (plan.vector > 1) {
    parts.back().stride *= plan.vector;
    parts.back().size /= plan.vector;
  }
  SmallVector<std::pair<SmallVector<OutputElement>, Value>> found;
  for (int64_t time = 0; time < plan.times; ++time) {
    Value turn = emit.addInt(first, emit.constantInt(time * step)), alive;
    if (uneven && plan.times > 1) {
      alive = emit.make<arith::CmpIOp>(arith::CmpIPredicate::slt, turn,
                                       emit.constantInt(turns));
      turn = emit.clamp(turn, turns);
    }
    Index rows = emit.addSpace(digitsOf(parts, turn));
    for (int64_t within = 0; within < plan.vector; ++within) {
      Index element =
          emit.addSpace(Part{emit.constantIndex(within), 1, plan.vector});
      Index flat = emit.addRowElement(rows, Part{{}, 1, plan.vector}, element);
      flat.modulus = plan.space;
      found.push_back({evaluateOutputs(emit, kernel, flat, plan.space), alive});
    }
  }
  for (auto &[elements, alive] : found) {
    emit.guardStores(alive);
    store(emit, elements);
  }
}

/// Computes which lane of which row of the block a thread is, and returns the
/// number of its row.
Value GridBuilder::numberRow(RowGroup &group) {
  Value thread = dimension<mlir::gpu::ThreadIdOp>();
  int64_t inner = group.neighbours ? group.lanes : group.rows;
  Value low = digit(thread, 1, inner == group.threads() ? 0 : inner);
  Value high = digit(thread, inner, 0);
  group.lane = group.neighbours ? low : high;
  group.row = group.neighbours ? high : low;
  if (group.lanes == 1) {
    group.lane = nullptr;
    group.row = thread;
  } else if (group.rows == 1) {
    group.row = nullptr;
  }
  Value number = dimension<mlir::gpu::BlockIdOp>();
  return group.row ? plus(number, group.row, group.rows) : number;
}

void GridBuilder::emitRows(const GridPlan &plan) {
  RowGroup group = plan.group;
  Value number = numberRow(group);
  bool uneven = plan.rowCount % group.rows != 0;
  // If whole warps have rows of their own, warps without a row leave. Otherwise
  // all threads stay for the barriers and repeat the last row.
  bool leaves = group.lanes == 1 || group.neighbours;
  Block *body = number.getParentBlock();
  if (uneven && leaves)
    body = guarded(number, plan.rowCount);
  GridEmitter emit = emitterFor(body);
  emit.share(group);
  Value mayStore;
  if (uneven && !leaves) {
    mayStore = emit.make<arith::CmpIOp>(arith::CmpIPredicate::slt, number,
                                        emit.constantInt(plan.rowCount));
    number = emit.clamp(number, plan.rowCount);
  }
  auto both = [&](Value a, Value b) {
    return a && b ? emit.make<arith::AndIOp>(a, b) : a ? a : b;
  };
  Index rows = emit.addSpace(digitsOf(plan.parts, number));
  bool waits = plan.inPlace;
  auto put = [&](ArrayRef<OutputElement> elements, Value alive) {
    if (waits)
      emit.barrier(0);
    waits = false;
    emit.guardStores(both(alive, mayStore));
    store(emit, elements);
    emit.guardStores(nullptr);
  };
  if (plan.length == 1) {
    rows.modulus = plan.space;
    SmallVector<OutputElement> elements =
        evaluateOutputs(emit, kernel, rows, plan.space);
    Value first;
    if (group.lane)
      first = emit.make<arith::CmpIOp>(arith::CmpIPredicate::eq, group.lane,
                                       emit.constantInt(0));
    put(elements, first);
  } else {
    SmallVector<std::pair<SmallVector<OutputElement>, Value>> kept;
    bool keeps = emit.keeps(plan.length);
    auto take = [&](Index element, ValueRange, Value alive) {
      Index flat = emit.addRowElement(rows, plan.inside, element);
      flat.modulus = plan.space;
      auto found = evaluateOutputs(emit, kernel, flat, plan.space);
      if (keeps)
        kept.push_back({found, alive});
      else
        put(found, alive);
      return LoopEmitter::Values();
    };
    // Threads must not repeat elements here: by the second read of an element
    // it may be overwritten.
    if (plan.inPlace && !keeps)
      emit.forOwnElements(plan.length, take);
    else
      emit.forElements(plan.length, 0, {}, take);
    for (auto &[elements, alive] : kept)
      put(elements, alive);
  }
  shared = emit.sharedBytes();
}

/// Emits tiles of 32 x 32 iterations. A row of 32 threads works on each row of
/// a tile, and each thread on four rows.
void GridBuilder::emitTiles(const GridPlan &plan) {
  constexpr int64_t side = Tile::kSide;
  Value thread = dimension<mlir::gpu::ThreadIdOp>();
  Value block = dimension<mlir::gpu::BlockIdOp>();
  GridEmitter emit = emitterFor(thread.getParentBlock());
  Value fast = digit(thread, 1, side), slow = digit(thread, side, 0);
  int64_t step = plan.threads / side;

  SmallVector<Part> blockParts(plan.parts);
  for (Part &part : blockParts)
    if (part.stride == 1 || part.stride == plan.across)
      part.size = llvm::divideCeil(part.size, side);
  SmallVector<Part> numbers = digitsOf(blockParts, block);
  Tile tile;
  tile.across = plan.across;
  SmallVector<Value> mayStore;
  auto placeOf = [&](const Part &part, const Part &number, Value within,
                     Value &alive) {
    Value at = emit.addInt(emit.mulInt(emit.value(emit.addSpace(
                                           Part{number.index, 1, number.size})),
                                       side),
                           within);
    if (part.size % side == 0)
      return at;
    Value here = emit.make<arith::CmpIOp>(arith::CmpIPredicate::slt, at,
                                          emit.constantInt(part.size));
    alive = alive ? emit.make<arith::AndIOp>(alive, here) : here;
    return emit.clamp(at, part.size);
  };
  auto sideOf = [&](Value readPlace, Value writtenPlace, Value &alive) {
    SmallVector<Part> parts(plan.parts);
    for (auto [part, number] : llvm::zip_equal(parts, numbers)) {
      part.index = number.index;
      if (part.stride == 1)
        part.index = {placeOf(part, number, writtenPlace, alive)};
      else if (part.stride == plan.across)
        part.index = {placeOf(part, number, readPlace, alive)};
    }
    return Tile::Side{emit.addSpace(parts), readPlace, writtenPlace};
  };
  for (int64_t row = 0; row < side; row += step) {
    Value other = emit.addInt(slow, emit.constantInt(row)), alive, unused;
    tile.loads.push_back(sideOf(fast, other, unused));
    tile.stores.push_back(sideOf(other, fast, alive));
    mayStore.push_back(alive);
  }
  emit.useTile(tile);
  SmallVector<SmallVector<OutputElement>> found;
  for (const Tile::Side &store : tile.stores)
    found.push_back(evaluateOutputs(emit, kernel, store.flat, plan.space));
  for (auto [elements, alive] : llvm::zip_equal(found, mayStore)) {
    emit.guardStores(alive);
    store(emit, elements);
  }
  shared = emit.sharedBytes();
}

void GridBuilder::discard() {
  llvm::SmallVector<Operation *> unused{function};
  for (auto array : module.getOps<LLVM::GlobalOp>())
    if (array.getName().starts_with("shared_" + name + "_"))
      unused.push_back(array);
  for (Operation *op : unused)
    op->erase();
  shared = 0;
}

int64_t GridBuilder::build(const GridPlan &plan) {
  makeFunction(plan);
  switch (plan.mapping) {
  case GridPlan::Flat:
    emitFlat(plan);
    break;
  case GridPlan::Rows:
    emitRows(plan);
    break;
  case GridPlan::Tiles:
    emitTiles(plan);
    break;
  }
  return shared;
}

} // namespace autopar::gpu
