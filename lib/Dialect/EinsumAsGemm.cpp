//===- EinsumAsGemm.cpp - An einsum as one batched GEMM -------------------===//

#include "autopar/Dialect/EinsumAsGemm.h"
#include "autopar/Dialect/Bytes.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/Layout.h"
#include "autopar/Dialect/Shapes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using mlir::Operation;
using mlir::Value;

namespace autopar {
namespace {

/// A run of letters that is one dimension in every tensor that has it.
struct Run {
  int64_t size = 1;
  int64_t lhs = 0, rhs = 0, result = 0; // element strides; 0: not in the tensor
  SmallVector<int64_t, 2> sizes;        // of its letters
};
using Runs = SmallVector<Run, 4>;

struct Tensor {
  StringRef letters;
  SmallVector<int64_t> shape, strides;

  Tensor(StringRef letters, ArrayRef<int64_t> sizes)
      : letters(letters), shape(sizes), strides(sizes.size(), 1) {
    for (size_t i = shape.size(); i-- > 1;)
      strides[i - 1] = strides[i] * shape[i];
  }
  int64_t stride(char letter) const {
    size_t at = letters.find(letter);
    return at == StringRef::npos ? 0 : strides[at];
  }
};
} // namespace

static bool has(StringRef letters, char letter) {
  return letters.contains(letter);
}

/// Letters of `order` that `keep` wants, those of size 1 dropped, neighbours
/// joined where every tensor allows it.
static Runs collapse(const Tensor &order, const Tensor &lhs, const Tensor &rhs,
                     const Tensor &result, function_ref<bool(char)> keep) {
  Runs runs;
  for (auto [letter, size] : zip(order.letters, order.shape)) {
    if (size == 1 || !keep(letter))
      continue;
    Run run{size,
            lhs.stride(letter),
            rhs.stride(letter),
            result.stride(letter),
            {size}};
    bool joins = !runs.empty() && runs.back().lhs == run.lhs * size &&
                 runs.back().rhs == run.rhs * size &&
                 runs.back().result == run.result * size;
    if (!joins) {
      runs.push_back(run);
      continue;
    }
    run.size *= runs.back().size;
    run.sizes.insert(run.sizes.begin(), runs.back().sizes.begin(),
                     runs.back().sizes.end());
    runs.back() = run;
  }
  return runs;
}

/// Returns whether one of the two dimensions is contiguous (a dimension of size
/// 1 always is).
static bool isMatrix(int64_t rows, int64_t rowStride, int64_t columns,
                     int64_t columnStride) {
  return rows == 1 || columns == 1 || rowStride == 1 || columnStride == 1;
}

/// The GEMM with `m` (of lhs) and `n` (of rhs) as matrix dimensions and all
/// other runs as batch; nullopt where strides forbid it.
static std::optional<EinsumAsGemm> build(ArrayRef<Run> batch, const Run &m,
                                         const Run &n, const Run &k) {
  if (n.size != 1 && n.result != 1)
    return std::nullopt;
  if (!isMatrix(m.size, m.lhs, k.size, k.lhs) ||
      !isMatrix(k.size, k.rhs, n.size, n.rhs))
    return std::nullopt;
  EinsumAsGemm gemm;
  for (const Run &run : batch) {
    gemm.batch.push_back(run.size);
    gemm.aStrides.push_back(run.lhs);
    gemm.bStrides.push_back(run.rhs);
    gemm.cStrides.push_back(run.result);
  }
  gemm.m = m.size;
  gemm.n = n.size;
  gemm.k = k.size;
  gemm.aStrides.append({m.lhs, k.lhs});
  gemm.bStrides.append({k.rhs, n.rhs});
  gemm.cStrides.append({m.result, n.result});
  gemm.columnShape.assign(n.sizes.begin(), n.sizes.end());
  return gemm;
}

/// The strides of a dimension of size 1 are free: make them those of a dense
/// matrix, so that a library sees a usual one.
static void nameUnitStrides(EinsumAsGemm &gemm) {
  auto fix = [](MutableArrayRef<int64_t> strides, int64_t rows,
                int64_t columns) {
    int64_t &row = strides[strides.size() - 2], &column = strides.back();
    if (columns == 1)
      column = rows == 1 || row != 1 ? 1 : rows;
    if (rows == 1)
      row = column == 1 ? columns : 1;
  };
  fix(gemm.aStrides, gemm.m, gemm.k);
  fix(gemm.bStrides, gemm.k, gemm.n);
  fix(gemm.cStrides, gemm.m, gemm.n);
}

static Run mirrored(Run run) {
  std::swap(run.lhs, run.rhs);
  return run;
}

/// Tries every pair of runs as rows and columns and keeps the largest GEMM;
/// the other free runs become batch dimensions.
static std::optional<EinsumAsGemm> choose(const Runs &batch, Runs rows,
                                          Runs columns, const Run &k) {
  if (rows.empty())
    rows.push_back(Run());
  if (columns.empty())
    columns.push_back(Run());
  if (batch.size() + rows.size() + columns.size() > kMaxGemmBatch + 2)
    return std::nullopt;
  std::optional<EinsumAsGemm> best;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < columns.size(); ++j) {
      Runs outer = batch;
      for (size_t r = 0; r < rows.size(); ++r)
        if (r != i)
          outer.push_back(rows[r]);
      for (size_t c = 0; c < columns.size(); ++c)
        if (c != j)
          outer.push_back(columns[c]);
      auto gemm = build(outer, rows[i], columns[j], k);
      if (gemm && (!best || gemm->m * gemm->n > best->m * best->n))
        best = gemm;
    }
  return best;
}

std::optional<EinsumAsGemm> einsumAsGemm(StringRef lhsLetters,
                                         StringRef rhsLetters,
                                         StringRef resultLetters,
                                         ArrayRef<int64_t> lhsShape,
                                         ArrayRef<int64_t> rhsShape) {
  Tensor lhs(lhsLetters, lhsShape), rhs(rhsLetters, rhsShape);
  SmallVector<int64_t> resultShape;
  for (char letter : resultLetters) {
    size_t at = lhsLetters.find(letter);
    resultShape.push_back(at != StringRef::npos
                              ? lhsShape[at]
                              : rhsShape[rhsLetters.find(letter)]);
  }
  Tensor result(resultLetters, resultShape);
  auto inBoth = [&](char c) {
    return has(lhsLetters, c) && has(rhsLetters, c);
  };
  Runs k = collapse(lhs, lhs, rhs, result,
                    [&](char c) { return !has(resultLetters, c); });
  if (k.size() > 1)
    return std::nullopt;
  Runs batch = collapse(result, lhs, rhs, result, inBoth);
  Runs rows = collapse(result, lhs, rhs, result,
                       [&](char c) { return !has(rhsLetters, c); });
  Runs columns = collapse(result, lhs, rhs, result,
                          [&](char c) { return !has(lhsLetters, c); });
  Run contracted = k.empty() ? Run() : k.front();

  // Columns of the result must be contiguous: they are rhs's letters or lhs's.
  auto straight = choose(batch, rows, columns, contracted);
  for (Runs *runs : {&batch, &rows, &columns})
    for (Run &run : *runs)
      run = mirrored(run);
  auto swapped = choose(batch, columns, rows, mirrored(contracted));
  if (swapped)
    swapped->swapped = true;
  bool takeSwapped = swapped && (!straight || swapped->m * swapped->n >
                                                  straight->m * straight->n);
  auto best = takeSwapped ? swapped : straight;
  if (best)
    nameUnitStrides(*best);
  return best;
}

std::optional<EinsumAsGemm> einsumAsGemm(EinsumOp op) {
  return einsumAsGemm(op.getLhsLetters(), op.getRhsLetters(),
                      op.getResultLetters(), op.getLhs().getType().getShape(),
                      op.getRhs().getType().getShape());
}

/// A tensor in memory is a row-major tensor whose letters have another order.
std::optional<EinsumAsGemm> einsumAsGemm(EinsumOp op,
                                         ArrayRef<int64_t> lhsLayout,
                                         ArrayRef<int64_t> rhsLayout) {
  auto letters = [](StringRef all, ArrayRef<int64_t> layout) {
    return std::string(
        inMemoryOrder(ArrayRef(all.data(), all.size()), layout).data(),
        all.size());
  };
  std::optional<EinsumAsGemm> plain = einsumAsGemm(op),
                              stored = einsumAsGemm(
                                  letters(op.getLhsLetters(), lhsLayout),
                                  letters(op.getRhsLetters(), rhsLayout),
                                  op.getResultLetters(),
                                  inMemoryOrder(shapeOf(op.getLhs()),
                                                lhsLayout),
                                  inMemoryOrder(shapeOf(op.getRhs()),
                                                rhsLayout));
  auto facts = [](const EinsumAsGemm &gemm) {
    return std::tie(gemm.swapped, gemm.batch, gemm.m, gemm.n, gemm.k,
                    gemm.columnShape);
  };
  bool same = plain && stored && facts(*plain) == facts(*stored);
  return same ? stored : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Alignment
//===----------------------------------------------------------------------===//

namespace {
/// Letters that grow, with their new sizes.
using Sizes = llvm::SmallMapVector<char, int64_t, 2>;
} // namespace

static SmallVector<int64_t> growthOf(StringRef letters, Value value,
                                     const Sizes &sizes) {
  SmallVector<int64_t> growth;
  for (auto [letter, size] : llvm::zip_equal(letters, shapeOf(value))) {
    const auto *larger = sizes.find(letter);
    growth.push_back(larger == sizes.end() ? 0 : larger->second - size);
  }
  return growth;
}

/// The letters that play the role of `letter`: in the same ones of the three
/// tensors. A GEMM has them as one dimension.
static size_t lettersAlike(EinsumOp op, char letter) {
  auto isIn = [](StringRef letters, char one) { return letters.contains(one); };
  std::string all = (op.getLhsLetters() + op.getResultLetters()).str();
  for (char other : op.getRhsLetters())
    if (!isIn(all, other))
      all += other;
  llvm::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return llvm::count_if(all, [&](char other) {
    return llvm::all_of(
        ArrayRef{op.getLhsLetters(), op.getRhsLetters(), op.getResultLetters()},
        [&](StringRef letters) {
          return isIn(letters, letter) == isIn(letters, other);
        });
  });
}

std::optional<GemmGrowth> alignedGrowth(Operation *op, int64_t bytes) {
  auto einsum = dyn_cast<EinsumOp>(op);
  if (bytes == 0 || !einsum || einsum.getCallKinds().empty())
    return std::nullopt;
  int64_t element = elementBytes(getElementTypeOrSelf(einsum.getResult()));
  Sizes sizes;
  auto align = [&](StringRef letters, Value value) {
    int64_t size = letters.empty() ? 1 : shapeOf(value).back();
    // A row of several dimensions is not aligned by padding one of them.
    if (size > 1 && size * element % bytes != 0 &&
        lettersAlike(einsum, letters.back()) == 1)
      sizes[letters.back()] = llvm::alignTo(size, bytes / element);
  };
  align(einsum.getLhsLetters(), einsum.getLhs());
  align(einsum.getRhsLetters(), einsum.getRhs());
  align(einsum.getResultLetters(), einsum.getResult());
  if (sizes.empty())
    return std::nullopt;
  return GemmGrowth{
      growthOf(einsum.getLhsLetters(), einsum.getLhs(), sizes),
      growthOf(einsum.getRhsLetters(), einsum.getRhs(), sizes),
      growthOf(einsum.getResultLetters(), einsum.getResult(), sizes)};
}

} // namespace autopar
