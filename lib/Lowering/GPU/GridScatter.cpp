//===- GridScatter.cpp - Rows that updates are reduced into ---------------===//
//
// The threads of a row find the indices that are equal to its number, each in a
// part of the indices, and note them in shared memory. Then each thread reduces
// the updates for elements of its own, in the same order in every run. If the
// bits of all indices do not fit in half of a block's shared memory (some
// 196,000 for one row), or if the scatter is batched, each element looks at all
// indices.
//
//===----------------------------------------------------------------------===//

#include "GridEmitter.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar::gpu {

/// Fewer words of hits are not worth sharing a row for.
static constexpr int64_t kLeastWords = 16;
/// Indices of a word: number b * words + w is bit b of word w, so that
/// neighbouring threads read neighbouring indices.
static constexpr int64_t kBits = 32;

GridEmitter::Hits GridEmitter::findHits(ScatterOp op, Index row,
                                        int64_t words) {
  ArrayRef<int64_t> shape = shapeOf(op.getIndices());
  int64_t size = elementsOf(op.getIndices());
  Type i64 = builder.getI64Type(), stored = builder.getI32Type();
  unsigned depth = this->depth(row);
  Value made = sharedArray(stored, words * group.rows);
  if (depth > 0)
    barrier(depth);
  Value base = mulInt(rowNumber(), words), zero = constantInt(0);
  auto fill = [&](Index w, ValueRange any, Value alive) -> Values {
    Value number = value(w);
    Value word = foldRange(
        constantInt(kBits), this->depth(number), zero,
        [&](Index b, Value bits) {
          Value at = addInt(mulInt(b.value, words), number);
          Value isIndex = make<arith::CmpIOp>(arith::CmpIPredicate::slt, at,
                                              constantInt(size));
          at = make<arith::MinSIOp>(at, constantInt(size - 1));
          Value hit = hitsRow(*this, op, delinearize({at}, shape), row);
          hit = make<arith::AndIOp>(hit, isIndex);
          Value bit =
              make<arith::ShLIOp>(make<arith::ExtUIOp>(i64, hit), b.value);
          return make<arith::OrIOp>(bits, bit);
        });
    storeShared(make<arith::TruncIOp>(stored, word), made, stored,
                addInt(base, number), alive, this->depth(word));
    return {make<arith::OrIOp>(any.front(), word)};
  };
  Values mine = forElements(words, depth, zero, fill);
  Value any = joinRow(mine, [&](ValueRange a, ValueRange b) -> Values {
                return {make<arith::OrIOp>(a.front(), b.front())};
              }).front();
  barrier(depth);
  Value isNone = make<arith::CmpIOp>(arith::CmpIPredicate::eq, any, zero);
  return {pin(made, depth),
          make<arith::SelectOp>(isNone, zero, constantInt(words))};
}

/// The threads of a row find its updates together, and each reduces them for
/// elements of its own.
Value GridEmitter::scatterElement(ScatterOp op, ArrayRef<Index> at) {
  Index row = at[op.getDim()];
  ArrayRef<int64_t> shape = shapeOf(op.getIndices());
  int64_t size = elementsOf(op.getIndices());
  int64_t words = llvm::divideCeil(size, kBits);
  bool isLong = words >= kLeastWords;
  if (isLong && !op.getBatched())
    findings.foldsFound.push_back({digitsOf(row), words, true, false});
  // Threads of different rows look at different updates, so updates and indices
  // must be in memory: the threads of one row alone could not compute an
  // element together.
  bool areRead =
      memory.contains(op.getUpdates()) && memory.contains(op.getIndices());
  if (!isLong || !areRead || !sharesRows() || varies(row) || op.getBatched())
    return LoopEmitter::scatterElement(op, at);
  auto known = hitsOf.find(key(op, row));
  if (known == hitsOf.end()) {
    int64_t bytes = words * group.rows * int64_t(sizeof(int32_t));
    bool fits = bytes <= (kMostSharedBytes - shared) / 2;
    known = hitsOf.try_emplace(key(op, row)).first;
    if (fits)
      known->second = findHits(op, row, words);
  }
  Hits hits = known->second;
  if (!hits.words)
    return LoopEmitter::scatterElement(op, at);
  Value base = mulInt(rowNumber(), words), zero = constantInt(0);
  Value none = loops::neutralFor(*this, op.getKind(), op.getUpdates());
  bool natural = loops::isNatural(op.getUpdates().getType());
  unsigned depth = std::max(this->depth(at), this->depth(hits.count));
  auto reduceWord = [&](Index w, Value acc) {
    Value word = make<arith::ExtUIOp>(
        builder.getI64Type(),
        load(hits.words, builder.getI32Type(), {addInt(base, w.value)}));
    Value isNone = make<arith::CmpIOp>(arith::CmpIPredicate::eq, word, zero);
    Value bits = make<arith::SelectOp>(isNone, zero, constantInt(kBits));
    return foldRange(bits, this->depth(bits), acc, [&](Index b, Value acc) {
      Value number = addInt(mulInt(b.value, words), w.value);
      number = make<arith::MinSIOp>(number, constantInt(size - 1));
      Value bit = make<arith::ShRUIOp>(word, b.value);
      Value hit = make<arith::TruncIOp>(builder.getI1Type(), bit);
      Value x = updateAt(*this, op, delinearize({number}, shape), at);
      x = make<arith::SelectOp>(hit, x, none);
      return combineElements(*this, op.getKind(), acc, x, natural);
    });
  };
  return foldRange(hits.count, depth, none, reduceWord);
}

} // namespace autopar::gpu
