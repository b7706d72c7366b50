//===- GemmTest.cpp - GEMMs against plain loops ---------------------------===//

#include "cpu/Gemm.h"
#include "GemmProblem.h"
#include "NaiveGemm.h"
#include "core/DataType.h"
#include "cpu/Activation.h"
#include "cpu/CpuParts.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

using namespace autopar::runtime;

namespace {

/// oneDNN with one thread per worker, or nothing where it is not installed.
struct Machine {
  explicit Machine(int threads, bool withLibrary = true)
      : pool(threads, /*spin=*/false) {
    if (withLibrary) {
      EXPECT_TRUE(library.load().ok());
    }
    library.useCallingThreads(pool);
    gemm = std::make_unique<Gemm>(library, pool, workspace, memory, 4);
  }
  OneDnn library;
  ThreadPool pool;
  MemoryCounter memory;
  Workspace workspace{pool.threads(), memory};
  std::unique_ptr<Gemm> gemm;
};

void expectNear(const std::vector<float> &got, const std::vector<float> &wanted,
                const aprt_gemm_desc &desc, float tolerance = 1e-4f) {
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], wanted[i], tolerance)
        << "at " << i << " of " << describe(desc);
}

enum class AddendPlace { Separate, InC };

void checkProblem(Machine &machine, GemmProblem &p, AddendPlace place) {
  std::vector<float> wanted = p.c, got = p.c;
  bool inC = place == AddendPlace::InC;
  naiveGemm(p.desc, p.a.data(), p.b.data(), p.bias.data(),
            inC ? wanted.data() : p.addend.data(), wanted.data(), machine.pool);
  for (int repetition = 0; repetition < 2; ++repetition) {
    got = p.c;
    Status status = machine.gemm->run(
        p.desc,
        {p.a.data(), p.desc.slot < 0 ? p.b.data() : nullptr, p.bias.data(),
         inC ? got.data() : p.addend.data(), got.data()});
    ASSERT_TRUE(status.ok()) << status.message();
    expectNear(got, wanted, p.desc);
  }
}

class GemmThreads : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, GemmThreads, ::testing::Values(1, 2, 3));

TEST_P(GemmThreads, RandomProblems) {
  Machine machine(GetParam());
  std::mt19937 random(7 + GetParam());
  for (int i = 0; i < 300; ++i) {
    GemmProblem p = randomProblem(random);
    checkProblem(machine, p, i % 2 ? AddendPlace::InC : AddendPlace::Separate);
    if (HasFatalFailure())
      return;
  }
}

TEST_P(GemmThreads, PackedProblems) {
  Machine machine(GetParam());
  std::mt19937 random(70 + GetParam());
  for (int i = 0; i < 200; ++i) {
    GemmProblem p = randomProblem(random);
    p.desc.slot = i % 4;
    Status status = machine.gemm->pack(p.desc, p.b.data());
    ASSERT_TRUE(status.ok()) << status.message();
    checkProblem(machine, p, i % 2 ? AddendPlace::InC : AddendPlace::Separate);
    if (HasFatalFailure())
      return;
  }
}

/// GEMMs that more than one thread shares: by batch, rows and columns.
TEST_P(GemmThreads, LargeProblems) {
  Machine machine(GetParam());
  std::mt19937 random(5);
  const int64_t shapes[][4] = {{1, 300, 256, 200}, {1, 5, 1000, 300},
                               {1, 1, 777, 512},   {6, 128, 128, 64},
                               {1, 131, 70, 513},  {3, 40, 300, 100}};
  for (const auto &shape : shapes)
    for (int packed = 0; packed < 2; ++packed) {
      GemmProblem p;
      p.desc.dtype = APRT_F32;
      p.desc.batch_rank = shape[0] > 1;
      p.desc.batch[0] = shape[0];
      p.desc.m = shape[1];
      p.desc.n = shape[2];
      p.desc.k = shape[3];
      denseStrides(p, p.desc.a_strides, shape[1], shape[3], false, 0);
      denseStrides(p, p.desc.b_strides, shape[3], shape[2], false, 0);
      denseStrides(p, p.desc.c_strides, shape[1], shape[2], false, 0);
      p.desc.bias = p.desc.addend = 1;
      p.desc.activation = APRT_ACT_GELU_ERF;
      p.desc.slot = packed - 1;
      p.fill(random);
      Machine fresh(GetParam());
      if (packed) {
        ASSERT_TRUE(fresh.gemm->pack(p.desc, p.b.data()).ok());
      }
      checkProblem(packed ? fresh : machine, p, AddendPlace::Separate);
      checkProblem(packed ? fresh : machine, p, AddendPlace::InC);
    }
}

/// Rows keep their bits whatever the number of threads.
TEST(Gemm, CutByRowsIsBitIdentical) {
  std::mt19937 random(3);
  GemmProblem p;
  p.desc = {APRT_F32, 0,        {}, 256, 192, 320, {320, 1},
            {192, 1}, {192, 1}, 0,  0,   0,   -1};
  p.fill(random);
  std::vector<float> one(p.c.size()), two(p.c.size());
  Machine single(1), pair(2);
  ASSERT_TRUE(
      single.gemm
          ->run(p.desc, {p.a.data(), p.b.data(), nullptr, nullptr, one.data()})
          .ok());
  ASSERT_TRUE(
      pair.gemm
          ->run(p.desc, {p.a.data(), p.b.data(), nullptr, nullptr, two.data()})
          .ok());
  EXPECT_EQ(one, two);
}

/// A description of dense matrices, one after the other.
GemmProblem denseProblem(int64_t batches, int64_t m, int64_t n, int64_t k,
                         bool transposedA, bool transposedB) {
  GemmProblem p;
  p.desc.dtype = APRT_F32;
  p.desc.batch_rank = batches > 1;
  p.desc.batch[0] = batches;
  p.desc.m = m;
  p.desc.n = n;
  p.desc.k = k;
  denseStrides(p, p.desc.a_strides, m, k, transposedA, 0);
  denseStrides(p, p.desc.b_strides, k, n, transposedB, 0);
  denseStrides(p, p.desc.c_strides, m, n, false, 0);
  p.desc.slot = -1;
  return p;
}

/// Of [batch, m, n, k]: both orders of the matrices, packed or not, with all
/// that a GEMM takes along.
void checkForms(int threads, const int64_t (&shape)[4], std::mt19937 &random) {
  for (int form = 0; form < 8; ++form) {
    GemmProblem p = denseProblem(shape[0], shape[1], shape[2], shape[3],
                                 form & 1, form & 2);
    p.desc.bias = p.desc.addend = 1;
    p.desc.activation = int64_t(random() % 7);
    p.desc.slot = form & 4 ? 0 : -1;
    p.fill(random);
    Machine machine(threads);
    if (p.desc.slot >= 0) {
      ASSERT_TRUE(machine.gemm->pack(p.desc, p.b.data()).ok());
    }
    checkProblem(machine, p,
                 form % 3 ? AddendPlace::Separate : AddendPlace::InC);
    if (::testing::Test::HasFatalFailure())
      return;
  }
}

/// One row or one column: more results than are added up at a time, lengths
/// with and without a rest, batches, both orders of the matrix, packed or not.
TEST_P(GemmThreads, MatrixTimesVector) {
  std::mt19937 random(13);
  const int64_t shapes[][4] = {
      {1, 1, 9001, 37},  {1, 9001, 1, 37}, {1, 1, 70, 1003}, {1, 70, 1, 1003},
      {24, 1, 512, 64},  {24, 512, 1, 64}, {5, 1, 17, 33},   {1, 1, 1, 4099},
      {1, 1, 100000, 1}, {3, 16, 1, 16}};
  for (const auto &shape : shapes)
    ASSERT_NO_FATAL_FAILURE(checkForms(GetParam(), shape, random));
}

/// Many small matrices go to the library in one call.
TEST_P(GemmThreads, SmallBatches) {
  std::mt19937 random(15);
  const int64_t shapes[][4] = {
      {64, 16, 16, 16}, {7, 3, 40, 5}, {12, 16, 16, 64}, {30, 2, 33, 17}};
  for (const auto &shape : shapes)
    ASSERT_NO_FATAL_FAILURE(checkForms(GetParam(), shape, random));
}

/// Each activation over its whole range, beside the C library's.
TEST(Gemm, ActivationsOfVectors) {
  Machine machine(1);
  constexpr int64_t middle = 2000, count = 2 * middle + 1;
  std::vector<float> x(count), c(count), one(1, 1);
  for (int64_t i = 0; i < count; ++i)
    x[size_t(i)] = float(i - middle) * 0.05f;
  x[0] = -3e38f;
  x[1] = 3e38f;
  for (int64_t kind = APRT_ACT_NONE; kind <= APRT_ACT_SILU; ++kind) {
    aprt_gemm_desc desc{APRT_F32,   0,          {}, 1, count, 1, {1, 1},
                        {count, 1}, {count, 1}, 0,  0, kind,  -1};
    ASSERT_TRUE(
        machine.gemm
            ->run(desc, {one.data(), x.data(), nullptr, nullptr, c.data()})
            .ok());
    for (size_t i = 2; i < size_t(count); ++i)
      ASSERT_NEAR(c[i], activate(kind, double(x[i])),
                  4e-7 * (1 + std::abs(double(x[i]))))
          << "activation " << kind << " of " << x[i];
    x[2] = std::nanf("");
    ASSERT_TRUE(
        machine.gemm
            ->run(desc, {one.data(), x.data(), nullptr, nullptr, c.data()})
            .ok());
    EXPECT_TRUE(std::isnan(c[2])) << "activation " << kind;
    x[2] = 0;
  }
}

/// A result has the same bits among any others and on any thread.
TEST(Gemm, CutGemvsAreBitIdentical) {
  std::mt19937 random(17);
  for (bool transposed : {false, true})
    for (int64_t k : {7, 64, 1003}) {
      constexpr int64_t m = 613;
      GemmProblem p = denseProblem(1, m, 1, k, transposed, false);
      p.fill(random);
      auto rows = [&](int threads, int64_t begin, int64_t end) {
        Machine machine(threads);
        std::vector<float> c(size_t(end - begin));
        aprt_gemm_desc desc = p.desc;
        desc.m = end - begin;
        const float *a = p.a.data() + begin * p.desc.a_strides[0];
        EXPECT_TRUE(
            machine.gemm->run(desc, {a, p.b.data(), nullptr, nullptr, c.data()})
                .ok());
        return c;
      };
      std::vector<float> all = rows(1, 0, m);
      EXPECT_EQ(all, rows(2, 0, m));
      for (int64_t cut : {2, 5, 306, 610}) {
        std::vector<float> parts = rows(1, 0, cut), rest = rows(2, cut, m);
        parts.insert(parts.end(), rest.begin(), rest.end());
        EXPECT_EQ(all, parts) << k << " cut at " << cut;
      }
    }
}

/// Rows of 512 numbers would all begin at the same two places of a page.
TEST(Gemm, PackedOnceUsedWithOtherRows) {
  for (int threads : {1, 2})
    for (int64_t n : {96, 512}) {
      Machine machine(threads);
      std::mt19937 random(11);
      GemmProblem p;
      p.desc = {APRT_F32, 0,      {}, 64, n, 80, {80, 1},
                {n, 1},   {n, 1}, 0,  0,  0, 0};
      p.fill(random);
      ASSERT_TRUE(machine.gemm->pack(p.desc, p.b.data()).ok());
      for (int64_t rows : {1, 7, 300}) {
        GemmProblem q = p;
        q.desc.m = rows;
        q.desc.slot = -1;
        q.fill(random);
        q.b = p.b;
        q.desc.slot = 0;
        checkProblem(machine, q, AddendPlace::Separate);
      }
    }
}

TEST(Gemm, OtherTypesUsePlainLoops) {
  Machine machine(2);
  aprt_gemm_desc desc{APRT_I32, 0,      {}, 3, 2, 4, {4, 1},
                      {2, 1},   {2, 1}, 0,  0, 0, -1};
  std::vector<int32_t> a(12, 2), b(8, 3), c(6);
  ASSERT_TRUE(
      machine.gemm->run(desc, {a.data(), b.data(), nullptr, nullptr, c.data()})
          .ok());
  EXPECT_EQ(c, std::vector<int32_t>(6, 24));
  desc.dtype = APRT_F16;
  std::vector<Float16> ha(12, toFloat16(0.5f)), hb(8, toFloat16(3)), hc(6);
  ASSERT_TRUE(
      machine.gemm
          ->run(desc, {ha.data(), hb.data(), nullptr, nullptr, hc.data()})
          .ok());
  EXPECT_EQ(toFloat(hc[5]), 6.0f);
}

TEST(Gemm, BFloat16) {
  Machine machine(2);
  constexpr int64_t m = 70, n = 40, k = 33;
  aprt_gemm_desc desc{APRT_BF16, 0,      {}, m, n, k, {k, 1},
                      {n, 1},    {n, 1}, 1,  0, 1, -1};
  std::vector<BFloat16> a(m * k), b(k * n), bias(n), c(m * n), wanted(m * n);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = toBFloat16(float(i % 7) - 3);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = toBFloat16(float(i % 5) - 2);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = toBFloat16(float(i));
  naiveGemm(desc, a.data(), b.data(), bias.data(), nullptr, wanted.data(),
            machine.pool);
  ASSERT_TRUE(
      machine.gemm
          ->run(desc, {a.data(), b.data(), bias.data(), nullptr, c.data()})
          .ok());
  for (size_t i = 0; i < c.size(); ++i)
    ASSERT_NEAR(toFloat(c[i]), toFloat(wanted[i]), 0.5) << i;
}

/// The same GEMM in elements of type T, whose values are small integers:
/// exact in every type.
template <typename T> void checkInType(Machine &machine, const GemmProblem &p) {
  using E = Element<T>;
  using Compute = typename E::Compute;
  aprt_gemm_desc desc = p.desc;
  for (int64_t dtype = APRT_I8; dtype <= APRT_F64; ++dtype)
    visitDtype(dtype, [&](auto example) {
      if (std::is_same_v<decltype(example), T>)
        desc.dtype = dtype;
    });
  desc.activation = desc.activation ? APRT_ACT_RELU : APRT_ACT_NONE;
  auto convert = [](const std::vector<float> &from) {
    std::vector<T> to;
    for (float value : from)
      to.push_back(E::store(Compute(int64_t(std::floor(value * 3)))));
    return to;
  };
  std::vector<T> a = convert(p.a), b = convert(p.b), bias = convert(p.bias);
  std::vector<T> addend = convert(p.addend), got = convert(p.c), wanted = got;
  naiveGemm(desc, a.data(), b.data(), bias.data(), addend.data(), wanted.data(),
            machine.pool);
  const T *matrix = b.data();
  if (desc.slot >= 0) {
    ASSERT_TRUE(machine.gemm->pack(desc, matrix).ok());
    matrix = nullptr;
  }
  Status status = machine.gemm->run(
      desc, {a.data(), matrix, bias.data(), addend.data(), got.data()});
  ASSERT_TRUE(status.ok()) << status.message();
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(E::load(got[i]), E::load(wanted[i]))
        << "at " << i << " of " << describe(desc);
}

TEST_P(GemmThreads, EveryType) {
  Machine machine(GetParam());
  std::mt19937 random(31);
  for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
    GemmProblem p = randomProblem(random);
    p.desc.slot = i % 3 ? -1 : 0;
    checkInType<double>(machine, p);
    checkInType<Float16>(machine, p);
    checkInType<BFloat16>(machine, p);
    checkInType<int8_t>(machine, p);
    checkInType<uint16_t>(machine, p);
    checkInType<int32_t>(machine, p);
    checkInType<int64_t>(machine, p);
  }
}

TEST(Gemm, WorksWithoutTheLibrary) {
  Machine machine(2, /*withLibrary=*/false);
  std::mt19937 random(9);
  for (int i = 0; i < 30; ++i) {
    GemmProblem p = randomProblem(random);
    if (i % 2) {
      p.desc.slot = 1;
      ASSERT_TRUE(machine.gemm->pack(p.desc, p.b.data()).ok());
      Machine fresh(1, false);
      ASSERT_TRUE(fresh.gemm->pack(p.desc, p.b.data()).ok());
      checkProblem(fresh, p, AddendPlace::Separate);
      continue;
    }
    checkProblem(machine, p, AddendPlace::Separate);
  }
}

TEST(Gemm, BadDescriptionsAreRefused) {
  Machine machine(1, false);
  aprt_gemm_desc good{APRT_F32, 0,      {}, 1, 1, 1, {1, 1},
                      {1, 1},   {1, 1}, 0,  0, 0, -1};
  aprt_gemm_desc desc = good;
  desc.m = -1;
  EXPECT_TRUE(machine.gemm->run(desc, {}).failed());
  desc = good;
  desc.dtype = 99;
  EXPECT_TRUE(machine.gemm->run(desc, {}).failed());
  desc = good;
  desc.slot = 2; // never packed
  EXPECT_TRUE(machine.gemm->run(desc, {}).failed());
  desc.slot = 4; // there are four
  EXPECT_TRUE(machine.gemm->pack(desc, nullptr).failed());
}

/// Two entries of a rank: what the one packs the other one may read.
struct TwoEntries {
  explicit TwoEntries(int threads) : parts(threads, false, true, memory) {
    EXPECT_TRUE(parts.library.load().ok());
    parts.library.useCallingThreads(parts.pool);
    for (auto &gemm : gemms)
      gemm = std::make_unique<Gemm>(parts.library, parts.pool, parts.workspace,
                                    parts.packedMemory, 1, &parts.packed,
                                    &parts.matrices);
  }
  RankMemory memory;
  CpuParts parts;
  std::unique_ptr<Gemm> gemms[2];
};

GemmProblem rowsTimes(int64_t m, int64_t n, int64_t k, int64_t batches,
                      bool transposed, std::mt19937 &random) {
  GemmProblem p = denseProblem(batches, m, n, k, false, transposed);
  p.desc.slot = 0;
  p.desc.bias = 1;
  p.fill(random);
  return p;
}

std::vector<float> resultOf(Gemm &gemm, const GemmProblem &p) {
  std::vector<float> c(p.c.size());
  Status status =
      gemm.run(p.desc, {p.a.data(), nullptr, p.bias.data(), nullptr, c.data()});
  EXPECT_TRUE(status.ok()) << status.message();
  return c;
}

/// A row times a matrix that another entry has packed: the bits of a plain one,
/// and one copy, whichever entry comes first.
TEST_P(GemmThreads, RowsTimesAMatrixOfAnotherEntry) {
  std::mt19937 random(11);
  for (const auto &[n, k, batches] : {std::array<int64_t, 3>{300, 257, 1},
                                      {64, 96, 1},
                                      {17, 1000, 1},
                                      {1030, 40, 1},
                                      {130, 71, 3}})
    for (int way = 0; way < 4; ++way) {
      bool transposed = way & 1, rowFirst = way & 2;
      GemmProblem row = rowsTimes(1, n, k, batches, transposed, random);
      GemmProblem many = rowsTimes(40, n, k, batches, transposed, random);
      row.desc.slot = many.desc.slot = 0;
      many.b = row.b;
      Machine alone(GetParam()), other(GetParam());
      ASSERT_TRUE(alone.gemm->pack(row.desc, row.b.data()).ok());
      ASSERT_TRUE(other.gemm->pack(many.desc, row.b.data()).ok());
      int64_t packedBytes = other.memory.currentBytes();
      TwoEntries entries(GetParam());
      Gemm &ofRow = *entries.gemms[!rowFirst],
           &ofMany = *entries.gemms[rowFirst];
      for (auto &gemm : entries.gemms)
        ASSERT_TRUE(gemm->pack(gemm.get() == &ofRow ? row.desc : many.desc,
                               row.b.data())
                        .ok());
      for (auto &gemm : entries.gemms)
        gemm->adoptPacked();
      EXPECT_EQ(resultOf(ofRow, row), resultOf(*alone.gemm, row))
          << describe(row.desc);
      EXPECT_EQ(resultOf(ofMany, many), resultOf(*other.gemm, many));
      EXPECT_EQ(entries.memory.packed.currentBytes(), packedBytes);
      // The plain matrix counts where there are several rows.
      GemmProblem few = rowsTimes(3, n, k, batches, transposed, random);
      few.desc.slot = 0;
      EXPECT_EQ(resultOf(ofRow, few), resultOf(*alone.gemm, few));
    }
}

/// Another matrix stays one.
TEST_P(GemmThreads, MatricesThatDifferStayTheirOwn) {
  std::mt19937 random(12);
  GemmProblem row = rowsTimes(1, 70, 50, 1, false, random);
  GemmProblem many = rowsTimes(40, 70, 50, 1, false, random);
  row.desc.slot = many.desc.slot = 0;
  many.b = row.b;
  many.b[1234] += 1;
  Machine alone(GetParam());
  ASSERT_TRUE(alone.gemm->pack(row.desc, row.b.data()).ok());
  TwoEntries entries(GetParam());
  ASSERT_TRUE(entries.gemms[0]->pack(many.desc, many.b.data()).ok());
  ASSERT_TRUE(entries.gemms[1]->pack(row.desc, row.b.data()).ok());
  EXPECT_EQ(resultOf(*entries.gemms[1], row), resultOf(*alone.gemm, row));
}

/// A thread that the pool does not know has its own number of threads back.
TEST(OneDnn, RunsOnTheCallingThreadAlone) {
  OneDnn library;
  ASSERT_TRUE(library.load().ok());
  std::thread([&] {
    library.setOpenMpThreads(3);
    {
      OnCallingThread alone(library);
      EXPECT_EQ(library.setOpenMpThreads(1), 1);
    }
    EXPECT_EQ(library.setOpenMpThreads(3), 3);
  }).join();
}

} // namespace
