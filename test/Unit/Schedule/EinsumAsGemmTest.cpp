//===- EinsumAsGemmTest.cpp - Einsums as GEMMs by strides -----------------===//

#include "autopar/Dialect/EinsumAsGemm.h"
#include "gtest/gtest.h"

using namespace autopar;
using Sizes = llvm::SmallVector<int64_t>;

static std::optional<EinsumAsGemm> gemm(llvm::StringRef lhs,
                                        llvm::StringRef rhs,
                                        llvm::StringRef result, Sizes lhsShape,
                                        Sizes rhsShape) {
  return einsumAsGemm(lhs, rhs, result, lhsShape, rhsShape);
}

/// Computes the GEMM by strides and the einsum by its letters, both on small
/// integers, and compares.
static void expectEqual(llvm::StringRef lhs, llvm::StringRef rhs,
                        llvm::StringRef result, Sizes lhsShape,
                        Sizes rhsShape) {
  auto g = gemm(lhs, rhs, result, lhsShape, rhsShape);
  ASSERT_TRUE(g.has_value());
  std::string letters;
  Sizes sizes;
  auto collect = [&](llvm::StringRef part, const Sizes &shape) {
    for (size_t i = 0; i < part.size(); ++i)
      if (letters.find(part[i]) == std::string::npos) {
        letters += part[i];
        sizes.push_back(shape[i]);
      }
  };
  collect(lhs, lhsShape);
  collect(rhs, rhsShape);
  auto volume = [](const Sizes &shape) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  };
  std::vector<int64_t> a(volume(lhsShape)), b(volume(rhsShape));
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = 3 + i * 7 % 11;
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = 1 + i * 5 % 13;
  int64_t count = 1;
  for (char letter : result)
    count *= sizes[letters.find(letter)];
  std::vector<int64_t> expected(count), actual(count, 0);

  Sizes index(letters.size(), 0);
  auto offset = [&](llvm::StringRef part) {
    int64_t at = 0;
    for (char letter : part) {
      size_t i = letters.find(letter);
      at = at * sizes[i] + index[i];
    }
    return at;
  };
  for (int64_t point = 0; point < volume(sizes); ++point) {
    int64_t rest = point;
    for (size_t i = sizes.size(); i-- > 0; rest /= sizes[i])
      index[i] = rest % sizes[i];
    expected[offset(result)] += a[offset(lhs)] * b[offset(rhs)];
  }

  auto &left = g->swapped ? b : a;
  auto &right = g->swapped ? a : b;
  size_t r = g->batch.size();
  for (int64_t point = 0;
       point <
       volume(Sizes(llvm::ArrayRef<int64_t>(g->batch))) * g->m * g->n * g->k;
       ++point) {
    int64_t rest = point, k = rest % g->k;
    rest /= g->k;
    int64_t n = rest % g->n;
    rest /= g->n;
    int64_t m = rest % g->m;
    rest /= g->m;
    int64_t ao = m * g->aStrides[r] + k * g->aStrides[r + 1];
    int64_t bo = k * g->bStrides[r] + n * g->bStrides[r + 1];
    int64_t co = m * g->cStrides[r] + n * g->cStrides[r + 1];
    for (size_t i = r; i-- > 0; rest /= g->batch[i]) {
      int64_t at = rest % g->batch[i];
      ao += at * g->aStrides[i];
      bo += at * g->bStrides[i];
      co += at * g->cStrides[i];
    }
    actual[co] += left[ao] * right[bo];
  }
  EXPECT_EQ(expected, actual);
}

TEST(EinsumAsGemm, PlainGemmCollapsesRows) {
  auto g = gemm("abk", "kn", "abn", {2, 3, 4}, {4, 5});
  ASSERT_TRUE(g.has_value());
  EXPECT_TRUE(g->batch.empty());
  EXPECT_EQ(g->m, 6);
  EXPECT_EQ(g->n, 5);
  EXPECT_EQ(g->k, 4);
  expectEqual("abk", "kn", "abn", {2, 3, 4}, {4, 5});
  expectEqual("mk", "nk", "mn", {2, 3}, {4, 3});
  expectEqual("km", "kn", "mn", {3, 2}, {3, 4});
}

TEST(EinsumAsGemm, AttentionReadsHeadsByStrides) {
  auto g = gemm("bshd", "bthd", "bhst", {2, 3, 4, 5}, {2, 6, 4, 5});
  ASSERT_TRUE(g.has_value());
  EXPECT_EQ(g->batch.size(), 2u);
  expectEqual("bshd", "bthd", "bhst", {2, 3, 4, 5}, {2, 6, 4, 5});
  expectEqual("bhst", "bthd", "bshd", {2, 4, 3, 6}, {2, 6, 4, 5});
}

TEST(EinsumAsGemm, TransposedResultSwapsTheOperands) {
  auto g = gemm("mk", "kn", "nm", {2, 3}, {3, 4});
  ASSERT_TRUE(g.has_value());
  EXPECT_TRUE(g->swapped);
  expectEqual("mk", "kn", "nm", {2, 3}, {3, 4});
}

TEST(EinsumAsGemm, FreeDimensionsApartBecomeBatch) {
  expectEqual("amk", "kn", "man", {2, 3, 4}, {4, 5});
  expectEqual("bmk", "bkn", "bmn", {1, 3, 4}, {1, 4, 5});
  expectEqual("hd", "hd", "h", {4, 5}, {4, 5});
  expectEqual("k", "kn", "n", {3}, {3, 4});
  expectEqual("m", "n", "mn", {3}, {4});
}

TEST(EinsumAsGemm, ContractionsApartNeedLoops) {
  EXPECT_FALSE(gemm("amb", "abn", "mn", {2, 3, 4}, {2, 4, 5}).has_value());
  EXPECT_TRUE(gemm("mab", "abn", "mn", {3, 2, 4}, {2, 4, 5}).has_value());
}
