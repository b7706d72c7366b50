//===- EmitFolds.cpp - Loops that make one value of many ------------------===//

#include "LoopEmitter.h"

using namespace mlir;

namespace autopar::loops {

LoopEmitter::Values
LoopEmitter::foldRange(Value extent, unsigned depth, ValueRange inits,
                       function_ref<Values(Index, ValueRange)> body) {
  SmallVector<Scope> outer(scopes.begin(), scopes.end());
  findings.folds = true;
  findings.wholeFolds |= depth == 0;
  auto loop = scf::ForOp::create(
      builder, loc, constantInt(0), extent, constantInt(1), inits,
      [](OpBuilder &nested, Location at, Value, ValueRange carried) {
        scf::YieldOp::create(nested, at, carried);
      });
  moveTo(loop, depth);
  scopes.truncate(depth + 1);
  scopes.push_back({loop.getBody(), loop});
  depths[loop.getInductionVar()] = depth + 1;
  for (Value carried : loop.getRegionIterArgs())
    depths[carried] = depth + 1;
  Values next = body({loop.getInductionVar()}, loop.getRegionIterArgs());
  loop.getBody()->getTerminator()->setOperands(next);
  scopes = outer;
  for (auto [result, last] : llvm::zip_equal(loop.getResults(), next)) {
    depths[result] = depth;
    if (varying.contains(last) || varying.contains(extent))
      varying.insert(result);
  }
  return Values(loop.getResults());
}

Value LoopEmitter::foldRange(Value extent, unsigned depth, Value init,
                             function_ref<Value(Index, Value)> body) {
  return foldRange(extent, depth, ValueRange(init),
                   [&](Index index, ValueRange carried) {
                     return Values{body(index, carried.front())};
                   })
      .front();
}

/// Returns whether more of what was read is contiguous along the innermost
/// digits than along something else.
static bool readsColumns(ArrayRef<Read> reads) {
  int64_t along = 0, across = 0;
  for (const Read &read : reads) {
    if (read.stride == 1 && read.size > 1)
      along += read.elements;
    if (read.stride == 0)
      across += read.elements;
  }
  return along > across;
}

/// The innermost loop of a fold keeps several sums in its vectors.
static constexpr int64_t kMostTerms = 2048;

LoopEmitter::FoldBlocks LoopEmitter::foldBlocks(ArrayRef<int64_t> extents,
                                                Type type, int64_t terms) {
  int64_t below = llvm::product_of(extents);
  if (!isa<FloatType>(type) || below <= terms)
    return {};
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    below /= extent;
    if (below > terms)
      continue;
    int64_t size = terms / below;
    return {static_cast<unsigned>(dim), size, (extent + size - 1) / size};
  }
  return {};
}

Value LoopEmitter::blockEnd(Value first, int64_t block, int64_t extent) {
  if (extent % block == 0)
    return constantInt(block);
  return make<arith::MinSIOp>(constantInt(block),
                              make<arith::SubIOp>(constantInt(extent), first));
}

Value LoopEmitter::fold(ArrayRef<int64_t> extents, ArrayRef<Index> fixed,
                        Value init, FoldBody body, Combine combine, bool sums) {
  size_t before = reads.size();
  FoldBlocks blocks;
  if (sums)
    blocks = foldBlocks(extents, init.getType(), kMostTerms);
  SmallVector<Index> at;
  std::function<Value(unsigned, Value)> level = [&](unsigned dim,
                                                    Value carried) -> Value {
    if (dim == extents.size())
      return body(at, carried);
    SmallVector<Index> around(fixed.begin(), fixed.end());
    llvm::append_range(around, at);
    unsigned where = std::max(depth(around), depth(carried));
    auto inner = [&](Index index, Value acc) {
      at.push_back(index);
      Value next = level(dim + 1, acc);
      at.pop_back();
      return next;
    };
    if (dim != blocks.dim)
      return foldRange(constantInt(extents[dim]), where, carried, inner);
    auto part = [&](Index block, Value acc) {
      Value first = mulInt(block.value, blocks.size);
      Value extent = blockEnd(first, blocks.size, extents[dim]);
      Value sum = foldRange(extent, depth(first), init, [&](Index i, Value x) {
        return inner({addInt(first, i.value)}, x);
      });
      return combine(acc, sum);
    };
    return foldRange(constantInt(blocks.count), where, carried, part);
  };
  Value result = level(0, init);
  findings.foldsFound.push_back(
      {digitsOf(fixed), llvm::product_of(extents), static_cast<bool>(combine),
       readsColumns(ArrayRef(reads).drop_front(before))});
  return result;
}

} // namespace autopar::loops
