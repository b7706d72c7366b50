//===- TransposeTiles.cpp - Reads across a tile, through registers --------===//
//
// Movement that reads along another dimension than it writes goes in square
// tiles. The innermost loop reads one element per line of the cache there: the
// tile is read by lines before its loops instead, transposed in registers and
// kept on the stack, where the innermost loop finds its elements side by side.
//
//===----------------------------------------------------------------------===//

#include "KernelNest.h"
#include "autopar/Lowering/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace autopar {

#define GEN_PASS_DEF_TRANSPOSETILES
#include "autopar/Lowering/Passes.h.inc"

namespace {

using cpu::kTileSide;

/// Two loops over the rows and columns of a tile that do nothing else.
struct TileLoops {
  scf::ForOp rows, columns;
};

bool isOverTile(scf::ForOp loop) {
  return loop.getInitArgs().empty() &&
         getConstantIntValue(loop.getLowerBound()) == 0 &&
         getConstantIntValue(loop.getUpperBound()) == kTileSide &&
         getConstantIntValue(loop.getStep()) == 1;
}

/// The factor of `index` in `value` = rest + factor * index; nothing if `value`
/// has no such form, or is not known to have it.
std::optional<int64_t> factorOf(Value value, Value index) {
  if (value == index)
    return 1;
  auto *loop = cast<BlockArgument>(index).getOwner()->getParentOp();
  Operation *op = value.getDefiningOp();
  if (!op || !loop->isAncestor(op))
    return 0;
  if (!isa<arith::AddIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<int64_t> left = factorOf(op->getOperand(0), index);
  std::optional<int64_t> right = factorOf(op->getOperand(1), index);
  if (!left || !right)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *left + *right;
  if (*left == 0 && *right == 0)
    return 0;
  if (std::optional<int64_t> times = getConstantIntValue(op->getOperand(1)))
    return *left * *times;
  return std::nullopt;
}

/// `load` reads element `index` = rest + row + stride * column of `argument`.
struct CrossRead {
  LLVM::LoadOp load;
  Value argument, index;
  int64_t stride;
};

std::optional<CrossRead> crossRead(TileLoops tile, LLVM::LoadOp load) {
  auto address = load.getAddr().getDefiningOp<LLVM::GEPOp>();
  Type type = load.getType();
  if (!address || address.getDynamicIndices().size() != 1 ||
      address.getRawConstantIndices().size() != 1 ||
      address.getElemType() != type || !type.isIntOrFloat() ||
      type.getIntOrFloatBitWidth() % 8 != 0)
    return std::nullopt;
  Value index = address.getDynamicIndices()[0];
  std::optional<int64_t> row = factorOf(index, tile.rows.getInductionVar());
  std::optional<int64_t> column =
      factorOf(index, tile.columns.getInductionVar());
  if (row != 1 || !column || *column == 0 || *column == 1)
    return std::nullopt;
  return CrossRead{load, address.getBase(), index, *column};
}

/// Returns whether nothing in the tile writes to `argument`, which no other
/// aliases.
bool isOnlyRead(TileLoops tile, Value argument) {
  auto function = tile.rows->getParentOfType<LLVM::LLVMFuncOp>();
  auto block = dyn_cast<BlockArgument>(argument);
  if (!function || !block || block.getOwner() != &function.front() ||
      !function.getArgAttr(block.getArgNumber(),
                           LLVM::LLVMDialect::getNoAliasAttrName()))
    return false;
  WalkResult walk = tile.rows.getBody()->walk([&](Operation *op) {
    auto store = dyn_cast<LLVM::StoreOp>(op);
    if (!store && (op == tile.columns || isa<LLVM::LoadOp, scf::YieldOp>(op) ||
                   isMemoryEffectFree(op)))
      return WalkResult::advance();
    auto address =
        store ? store.getAddr().getDefiningOp<LLVM::GEPOp>() : nullptr;
    bool apart = address && address.getBase() != argument &&
                 isa<BlockArgument>(address.getBase());
    return apart ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !walk.wasInterrupted();
}

/// Builds code before a tile's loops.
class TileReader {
public:
  TileReader(TileLoops tile) : tile(tile), builder(tile.rows) {}
  /// Makes the innermost loop read the transposed tile.
  void replace(CrossRead read);

private:
  Value constant(int64_t value);
  Value firstIndex(Value index);
  Value offset(Value pointer, Type type, Value index);
  SmallVector<Value> readLines(const CrossRead &read, VectorType line);
  void transpose(MutableArrayRef<Value> lines);
  Value keep(ArrayRef<Value> lines, Type element);

  TileLoops tile;
  OpBuilder builder;
  IRMapping first; // values of the loops at row 0 and column 0
};
} // namespace

Value TileReader::constant(int64_t value) {
  return arith::ConstantOp::create(builder, tile.rows.getLoc(),
                                   builder.getI64IntegerAttr(value));
}

/// `index` at row 0 and column 0, before the loops.
Value TileReader::firstIndex(Value index) {
  Operation *op = index.getDefiningOp();
  if (index == tile.rows.getInductionVar() ||
      index == tile.columns.getInductionVar())
    return constant(0);
  if (!op || !tile.rows->isAncestor(op))
    return index;
  if (Value known = first.lookupOrNull(index))
    return known;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(firstIndex(operand));
  Operation *copy = builder.clone(*op);
  copy->setOperands(operands);
  first.map(index, copy->getResult(0));
  return copy->getResult(0);
}

Value TileReader::offset(Value pointer, Type type, Value index) {
  return LLVM::GEPOp::create(builder, tile.rows.getLoc(), pointer.getType(),
                             type, pointer, ArrayRef<LLVM::GEPArg>{index},
                             LLVM::GEPNoWrapFlags::inbounds);
}

SmallVector<Value> TileReader::readLines(const CrossRead &read,
                                         VectorType line) {
  Location loc = tile.rows.getLoc();
  Type element = line.getElementType();
  Value at = firstIndex(read.index);
  SmallVector<Value> lines;
  for (int64_t column = 0; column < kTileSide; ++column) {
    Value start =
        arith::AddIOp::create(builder, loc, at, constant(column * read.stride));
    lines.push_back(LLVM::LoadOp::create(
        builder, loc, line, offset(read.argument, element, start),
        /*alignment=*/element.getIntOrFloatBitWidth() / 8));
  }
  return lines;
}

/// Exchanges the blocks beside the diagonal, of half the side, then of a
/// quarter and so on.
void TileReader::transpose(MutableArrayRef<Value> lines) {
  int32_t side = lines.size();
  for (int32_t block = side / 2; block > 0; block /= 2) {
    SmallVector<int32_t> low, high;
    for (int32_t i = 0; i < side; ++i) {
      low.push_back(i & block ? side + i - block : i);
      high.push_back(i & block ? side + i : i + block);
    }
    for (int32_t i = 0; i < side; ++i) {
      if (i & block)
        continue;
      Value a = lines[i], b = lines[i + block];
      Location loc = tile.rows.getLoc();
      lines[i] = LLVM::ShuffleVectorOp::create(builder, loc, a, b, low);
      lines[i + block] =
          LLVM::ShuffleVectorOp::create(builder, loc, a, b, high);
    }
  }
}

/// Stores the lines one after the other in a buffer on the stack.
Value TileReader::keep(ArrayRef<Value> lines, Type element) {
  Location loc = tile.rows.getLoc();
  auto function = tile.rows->getParentOfType<LLVM::LLVMFuncOp>();
  OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
  Value size = arith::ConstantOp::create(
      entry, loc, builder.getI64IntegerAttr(kTileSide * kTileSide));
  Value buffer = LLVM::AllocaOp::create(
      entry, loc, LLVM::LLVMPointerType::get(builder.getContext()), element,
      size, /*alignment=*/64);
  for (auto [row, line] : llvm::enumerate(lines))
    LLVM::StoreOp::create(builder, loc, line,
                          offset(buffer, element, constant(row * kTileSide)));
  return buffer;
}

void TileReader::replace(CrossRead read) {
  // Bits move, whatever they mean.
  Type element = read.load.getType();
  Type bits = builder.getIntegerType(element.getIntOrFloatBitWidth());
  SmallVector<Value> lines = readLines(read, VectorType::get(kTileSide, bits));
  transpose(lines);
  Value buffer = keep(lines, element);
  Location loc = read.load.getLoc();
  builder.setInsertionPoint(read.load);
  Value row = arith::MulIOp::create(builder, loc, tile.rows.getInductionVar(),
                                    constant(kTileSide));
  Value at =
      arith::AddIOp::create(builder, loc, row, tile.columns.getInductionVar());
  read.load.getAddrMutable().assign(offset(buffer, element, at));
  builder.setInsertionPoint(tile.rows);
}

namespace {
struct TransposeTilesPass : impl::TransposeTilesBase<TransposeTilesPass> {
  void runOnOperation() override {
    SmallVector<TileLoops> tiles;
    getOperation()->walk([&](scf::ForOp columns) {
      auto rows = dyn_cast<scf::ForOp>(columns->getParentOp());
      if (rows && isOverTile(rows) && isOverTile(columns))
        tiles.push_back({rows, columns});
    });
    for (TileLoops tile : tiles) {
      SmallVector<CrossRead> reads;
      for (auto load : tile.columns.getBody()->getOps<LLVM::LoadOp>())
        if (std::optional<CrossRead> read = crossRead(tile, load);
            read && isOnlyRead(tile, read->argument))
          reads.push_back(*read);
      TileReader reader(tile);
      for (const CrossRead &read : reads)
        reader.replace(read);
    }
  }
};
} // namespace
} // namespace autopar
