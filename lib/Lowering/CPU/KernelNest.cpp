//===- KernelNest.cpp - The loops of one kernel ---------------------------===//

#include "KernelNest.h"
#include "../Loops/KernelBody.h"
#include "autopar/Dialect/Shapes.h"

using namespace mlir;

namespace autopar::cpu {

using loops::Findings;
using loops::spaceOf;

namespace {

/// Sequential inner loops of at least this many elements inside one iteration.
constexpr int64_t kElementsPerIteration = 512;
/// Sums of so many columns at a time stay in the first cache.
constexpr int64_t kMostColumns = 512, kLeastColumns = 8;
/// Sums of a scatter's rows that are kept together at most, a second cache.
/// Each block looks at all indices, which takes as long as adding so many
/// elements: of shorter rows one block is as fast as many.
constexpr int64_t kMostScattered = 16384, kMostBlocks = 16,
                  kElementsPerBlock = 4;
/// Sides of tiles that are not square, where one dimension is short: whole
/// lines of what is read, of few rows, which may all be in one set of the
/// cache.
constexpr int64_t kTileRead = 32, kTileWritten = 8;

/// Columns whose sums are kept together: the longest part of the rows that
/// divides them, that other cuts allow, and that is not all of the space: the
/// columns are a loop of their own.
void cutColumns(int64_t space, const Findings &findings,
                std::set<int64_t> &cuts) {
  auto fits = [&](int64_t block) {
    return llvm::all_of(cuts, [&](int64_t cut) {
      return cut % block == 0 || block % cut == 0;
    });
  };
  for (auto [op, columns] : findings.columnReductions)
    for (int64_t block = std::min(kMostColumns, columns);
         block >= kLeastColumns; --block)
      if (columns % block == 0 && block < space && fits(block)) {
        cuts.insert(block);
        break;
      }
}

/// Cuts what the rows of a scatter have together into blocks. Returns the
/// length of blocks that do not divide the rows, for they have no such divisor;
/// 0: they are cut.
int64_t cutScatters(int64_t space, const Findings &findings,
                    std::set<int64_t> &cuts) {
  constexpr int64_t kGoodShare = 4; // of the wanted length, at least
  int64_t uneven = 0;
  for (const auto &[op, rows] : findings.scatters) {
    bool isWhole = llvm::all_of(cuts, [&elements = rows.elements](int64_t cut) {
      return cut % elements == 0;
    });
    cuts.insert(rows.elements);
    auto fits = [&](int64_t block) {
      return llvm::all_of(cuts, [&](int64_t cut) { return cut % block == 0; });
    };
    int64_t least =
        std::clamp<int64_t>(rows.width / kElementsPerBlock, 1, kMostBlocks);
    int64_t wanted =
        std::min(kMostScattered, std::max(kLeastColumns, space / least));
    int64_t block = wanted;
    while (block > 1 && !fits(block))
      --block;
    bool isGood = block * kGoodShare >= wanted;
    if (!isGood && isWhole && rows.elements > wanted)
      uneven = wanted;
    else if (block >= kLeastColumns)
      cuts.insert(block);
  }
  return uneven;
}

/// Blocks of the innermost part, if it is more than one.
void blockRows(Nest &nest, int64_t block) {
  if (block > 0 && !nest.parts.empty() && nest.parts.back().stride == 1 &&
      nest.parts.back().size > block)
    nest.blocks.back() = block;
}

bool hasRows(KernelOp kernel) {
  bool rows = false;
  kernel.getBody().walk([&](Operation *op) {
    auto facts = dyn_cast<KernelOpInterface>(op);
    rows |= facts && facts.getKernelClass() == KernelClass::Reduction;
  });
  return rows;
}

/// The layout of the first output of `shape`.
Layout layoutLike(KernelOp kernel, ArrayRef<int64_t> shape) {
  for (Value output : kernel.getOutputs())
    if (shapeOf(output) == shape)
      return layoutOf(output.getType());
  return {};
}

/// The dimension that should be the innermost loop: the one along which an op
/// of the output's shape works on whole rows. As (stride, size) of the space.
std::pair<int64_t, int64_t> rowPiece(KernelOp kernel, int64_t space) {
  std::pair<int64_t, int64_t> piece{0, 0};
  kernel.getBody().walk([&](Operation *op) {
    auto facts = dyn_cast<KernelOpInterface>(op);
    std::optional<int64_t> dim = facts ? facts.getRowDim() : std::nullopt;
    if (!dim || elementsOf(op->getResult(0)) != space)
      return;
    ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    Layout order = fullLayout(layoutLike(kernel, shape), shape.size());
    int64_t stride = 1;
    for (int64_t at : llvm::reverse(order)) {
      if (at == *dim)
        break;
      stride *= shape[at];
    }
    piece = {stride, shape[*dim]};
  });
  return piece;
}

/// Cuts the space at `cuts`; the pieces of rows are the innermost loops.
Nest cutNest(int64_t space, const std::set<int64_t> &cuts,
             std::pair<int64_t, int64_t> row) {
  Nest nest;
  nest.parts = loops::cutSpace(space, cuts);
  std::stable_partition(
      nest.parts.begin(), nest.parts.end(), [&](const Part &part) {
        return part.stride < row.first || part.stride >= row.first * row.second;
      });
  return nest;
}

/// Movement that reads along another dimension than it writes goes in tiles:
/// each line of the cache that it touches is used whole.
void tile(Nest &nest, const Findings &findings) {
  nest.blocks.assign(nest.parts.size(), 0);
  if (findings.crossStride == 0 || findings.folds)
    return;
  auto partAt = [&](int64_t stride) {
    return llvm::find_if(
        nest.parts, [&](const Part &part) { return part.stride == stride; });
  };
  auto *read = partAt(findings.crossStride), *written = partAt(1);
  if (read == nest.parts.end() || written == nest.parts.end())
    return;
  int64_t &readBlock = nest.blocks[read - nest.parts.begin()];
  int64_t &writtenBlock = nest.blocks[written - nest.parts.begin()];
  if (read->size >= kTileSide && written->size >= kTileSide)
    readBlock = writtenBlock = kTileSide; // see TransposeTiles
  else if (read->size >= 2 * kTileRead)
    readBlock = kTileRead;
  else if (written->size >= 2 * kTileWritten)
    writtenBlock = kTileWritten;
}

/// The number of leading parts that pieces of the launch may share out. A
/// kernel that writes over its input must fold a row before any of it is
/// written, so the parts that a fold runs over, or does not depend on, stay in
/// one iteration.
unsigned mostParallel(KernelOp kernel, const Nest &nest,
                      const Findings &findings) {
  unsigned last = nest.parts.size() - 1;
  if (!loops::isInPlace(kernel))
    return !findings.scatters.empty() && nest.blocks.back() ? last + 1 : last;
  auto isShared = [&](const Part &part) {
    return llvm::all_of(findings.foldsFound, [&](const auto &fold) {
      return llvm::any_of(fold.digits, [&](auto digit) {
        return part.stride < digit.second &&
               part.stride * part.size > digit.first;
      });
    });
  };
  const Part *row = llvm::find_if_not(nest.parts, isShared);
  return std::min<unsigned>(last, row - nest.parts.begin());
}

/// Leading parts, at most `last`, are parallel until one iteration is small
/// enough.
void shareOut(Nest &nest, int64_t space, bool rows, unsigned last) {
  int64_t rest = space;
  while (nest.parallel < last &&
         (nest.parallel == 0 || rows || nest.work < 256 ||
          rest > 8 * kElementsPerIteration)) {
    int64_t trips = nest.trips(nest.parallel);
    if (nest.parallel > 0 && !rows && nest.work >= 64 &&
        rest / trips < kElementsPerIteration)
      break;
    nest.work *= trips;
    rest /= trips;
    ++nest.parallel;
  }
  nest.inner = rest;
}

} // namespace

Nest flatNest(int64_t space) {
  Nest nest;
  nest.parts.push_back({{}, 1, space});
  nest.blocks.push_back(0);
  nest.parallel = 1;
  nest.work = space;
  return nest;
}

/// A reduction over the whole space must not be repeated per piece, nor see
/// what another piece writes: then one iteration of the launch computes all.
Nest nestOf(KernelOp kernel, const Findings &findings) {
  int64_t space = spaceOf(kernel);
  std::set<int64_t> cuts(findings.boundaries);
  loops::cutAtOutputs(kernel, space, cuts);
  int64_t uneven = cutScatters(space, findings, cuts);
  cutColumns(space, findings, cuts);
  std::pair<int64_t, int64_t> row = rowPiece(kernel, space);
  Nest nest = cutNest(space, cuts, row);
  tile(nest, findings);
  // The last block moves back: what it computes again must still be there.
  if (!loops::isInPlace(kernel))
    blockRows(nest, uneven);
  bool isOneBlock = nest.parts.size() == 1 && nest.blocks.back() == 0 &&
                    !findings.scatters.empty() && space <= kMaxStackRow;
  if ((findings.wholeFolds || isOneBlock) && space > 1) {
    nest.inner = space;
    return nest;
  }
  bool isBlocked = !nest.blocks.empty() && nest.blocks.back() != 0;
  if (nest.parts.size() <= 1 && row.second <= 1 && !isBlocked)
    return flatNest(space);
  shareOut(nest, space, hasRows(kernel), mostParallel(kernel, nest, findings));
  return nest;
}

/// Element evaluations per element of the space, for the grain.
int64_t costOf(KernelOp kernel, int64_t space) {
  int64_t total = space;
  kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
        total += type.getNumElements();
  });
  return std::max<int64_t>(1, total / std::max<int64_t>(space, 1));
}

} // namespace autopar::cpu
