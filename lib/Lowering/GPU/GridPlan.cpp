//===- GridPlan.cpp - Which thread does what ------------------------------===//

#include "GridPlan.h"
#include "../Loops/KernelBody.h"
#include "autopar/Dialect/KernelFacts.h"

using namespace mlir;

namespace autopar::gpu {

using loops::Findings;
using loops::FoldFinding;

namespace {

/// Threads that keep the memory of a large GPU busy.
constexpr int64_t kManyThreads = 1 << 16;
/// Folds of fewer elements are one thread's.
constexpr int64_t kShortFold = 16;
/// Elements of a row that a thread keeps in registers, in small and in the
/// largest blocks.
constexpr int64_t kKept = 32, kKeptOfMany = 16;
constexpr int64_t kMostThreads = 1024;
/// Elements that memory delivers together.
constexpr int64_t kFetched = 8;
/// Narrower parts are not worth a tile.
constexpr int64_t kLeastTile = 8;

bool isWithin(const Part &part, const FoldFinding &fold) {
  return llvm::any_of(fold.digits, [&](auto digit) {
    return part.stride >= digit.first &&
           part.stride * part.size <= digit.second;
  });
}

bool coversAll(ArrayRef<Part> parts, const FoldFinding &fold) {
  return llvm::all_of(parts,
                      [&](const Part &part) { return isWithin(part, fold); });
}

/// The folds that decide which threads work together.
SmallVector<FoldFinding> decidingFolds(ArrayRef<FoldFinding> found,
                                       ArrayRef<Part> parts, bool inPlace) {
  SmallVector<FoldFinding> all, rows;
  for (const FoldFinding &fold : found)
    if (inPlace || (fold.combines && fold.extent >= kShortFold))
      (coversAll(parts, fold) ? all : rows).push_back(fold);
  return rows.empty() ? all : rows;
}

/// Digits that all folds depend on number the rows.
void splitRows(GridPlan &plan, ArrayRef<FoldFinding> folds) {
  SmallVector<Part> parts;
  std::swap(parts, plan.parts);
  for (const Part &part : parts) {
    bool numbersRows = llvm::all_of(
        folds, [&](const FoldFinding &fold) { return isWithin(part, fold); });
    (numbersRows ? plan.parts : plan.inside).push_back(part);
    (numbersRows ? plan.rowCount : plan.length) *= part.size;
  }
}

/// A block per row: each thread a few turns, with as few idle threads in the
/// last turn as can be.
int64_t lanesOfBlock(int64_t vectors, bool manyRows) {
  int64_t best = std::min<int64_t>(kMostThreads, llvm::alignTo(vectors, kWarp));
  int64_t idle = best * llvm::divideCeil(vectors, best) - vectors;
  if (!manyRows)
    return best;
  for (int64_t turns = 2; turns <= 4; ++turns) {
    int64_t lanes = llvm::alignTo(llvm::divideCeil(vectors, turns), kWarp);
    if (lanes <= kMostThreads && lanes > kWarp &&
        lanes * turns - vectors <= idle) {
      best = lanes;
      idle = lanes * turns - vectors;
    }
  }
  return best;
}

/// Neighbouring threads on neighbouring elements of the row: a warp or a block
/// per row.
void shareAlongRow(GridPlan &plan, int64_t extent, int64_t vector) {
  RowGroup &group = plan.group;
  group.vector = vector;
  while (group.vector > 1 &&
         (extent % group.vector != 0 || extent / group.vector < kWarp))
    group.vector /= 2;
  int64_t vectors = extent / group.vectorOf(extent);
  bool manyRows = plan.rowCount >= 512;
  group.lanes = kWarp;
  if (vectors > 4 * kWarp || (!manyRows && vectors > 2 * kWarp))
    group.lanes = lanesOfBlock(vectors, manyRows);
  if (group.lanes == kWarp && manyRows)
    group.rows = 4;
  group.kept = group.lanes > kMostThreads / 2 ? kKeptOfMany : kKept;
}

/// Neighbouring threads on neighbouring rows, which are side by side in memory;
/// more threads per row where there are few rows, and then fewer rows per
/// block, as long as neighbours still share what is fetched at once.
void shareAcrossRows(GridPlan &plan, int64_t extent) {
  RowGroup &group = plan.group;
  group.neighbours = false;
  int64_t fewest = 1;
  while (fewest < kFetched && plan.rowCount >= 2 * fewest * kFetched)
    fewest *= 2;
  while (group.lanes * fewest < kMostThreads &&
         plan.rowCount * group.lanes < kManyThreads &&
         extent / (2 * group.lanes) >= 4)
    group.lanes *= 2;
  if (group.lanes == 1) {
    group.rows = std::min(plan.rowCount, 4 * kWarp);
    return;
  }
  int64_t most = std::min({plan.rowCount, kWarp, kMostThreads / group.lanes});
  while (2 * group.rows <= most)
    group.rows *= 2;
  while (plan.inPlace && plan.rowCount % group.rows != 0)
    group.rows /= 2;
  group.kept = group.lanes > kMostThreads / 2 ? kKeptOfMany : kKept;
}

void planRows(GridPlan &plan, ArrayRef<FoldFinding> folds, int64_t vector) {
  splitRows(plan, folds);
  const FoldFinding *longest = llvm::max_element(
      folds, [](const auto &a, const auto &b) { return a.extent < b.extent; });
  plan.mapping = GridPlan::Rows;
  bool together = llvm::any_of(
      folds, [](const FoldFinding &fold) { return fold.combines; });
  int64_t extent = std::max(longest->extent, plan.length);
  if (!together || extent < kShortFold)
    plan.group.rows = std::min<int64_t>(plan.rowCount, 4 * kWarp);
  else if (longest->columns)
    shareAcrossRows(plan, extent);
  else
    shareAlongRow(plan, longest->extent, vector);
}

/// Movement that reads along another dimension than it writes.
bool planTiles(GridPlan &plan, const Findings &findings) {
  if (findings.crossStride == 0 || findings.folds || plan.inPlace)
    return false;
  auto *read = llvm::find_if(plan.parts, [&](const Part &part) {
    return part.stride == findings.crossStride;
  });
  const Part &written = plan.parts.back();
  if (read == plan.parts.end() || read == &written || read->size < kLeastTile ||
      written.size < kLeastTile)
    return false;
  plan.mapping = GridPlan::Tiles;
  plan.across = findings.crossStride;
  return true;
}

void planFlat(GridPlan &plan, const Findings &findings, int64_t vector) {
  int64_t innermost = plan.parts.empty() ? 1 : plan.parts.back().size;
  plan.vector = findings.folds ? 1 : vector;
  while (innermost % plan.vector != 0)
    plan.vector /= 2;
  int64_t turns = plan.space / plan.vector;
  if (!plan.inPlace && !findings.folds && turns >= 4 * kManyThreads)
    plan.times = std::max<int64_t>(1, 4 / plan.vector);
  if (turns < 2 * kManyThreads)
    plan.threads = 128;
}

/// The folds of the kernel. If outputs are stored over inputs, all folded
/// elements are of the iteration's own row (verify-schedule checks this),
/// although indices may not show it.
SmallVector<FoldFinding> foldsOf(KernelOp kernel, const Findings &findings,
                                 const GridPlan &plan) {
  auto folds = llvm::to_vector(findings.foldsFound);
  if (!plan.inPlace)
    return folds;
  for (Operation &op : kernel.getBody().front()) {
    if (loopRoleOf(&op) != LoopRole::RowReduction)
      continue;
    int64_t rowLength = plan.space / std::max<int64_t>(1, rowCountOf(&op));
    for (FoldFinding &fold : folds)
      fold.digits = {{rowLength, plan.space}};
    break;
  }
  return folds;
}

} // namespace

void GridPlan::shareLess() {
  if (mapping == Tiles) {
    mapping = Flat;
    return;
  }
  bool byWarps = group.neighbours && group.lanes > kWarp;
  group = RowGroup();
  group.lanes = byWarps ? kWarp : 1;
  group.rows = byWarps ? 1 : std::min(rowCount, 4 * kWarp);
}

int64_t GridPlan::blocks() const {
  if (mapping == Rows)
    return llvm::divideCeil(rowCount, group.rows);
  if (mapping == Flat)
    return llvm::divideCeil(space / vector, threads * times);
  int64_t count = 1;
  for (const Part &part : parts)
    count *= part.stride == 1 || part.stride == across
                 ? llvm::divideCeil(part.size, Tile::kSide)
                 : part.size;
  return count;
}

int64_t GridPlan::threadCount() const {
  return mapping == Rows ? group.threads() : threads;
}

GridPlan planGrid(KernelOp kernel, const Findings &findings,
                  int64_t alignedVector) {
  GridPlan plan;
  plan.space = loops::spaceOf(kernel);
  plan.inPlace = loops::isInPlace(kernel);
  std::set<int64_t> cuts(findings.boundaries);
  loops::cutAtOutputs(kernel, plan.space, cuts);
  SmallVector<FoldFinding> found = foldsOf(kernel, findings, plan);
  for (const FoldFinding &fold : found)
    for (auto [from, to] : fold.digits)
      cuts.insert({std::max<int64_t>(1, from), to});
  plan.parts = loops::cutSpace(plan.space, cuts);
  SmallVector<FoldFinding> folds =
      decidingFolds(found, plan.parts, plan.inPlace);
  if (!folds.empty())
    planRows(plan, folds, alignedVector);
  else if (!planTiles(plan, findings))
    planFlat(plan, findings, alignedVector);
  return plan;
}

} // namespace autopar::gpu
