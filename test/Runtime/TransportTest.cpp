//===- TransportTest.cpp - Collectives against a serial oracle ------------===//

#include "DeviceTransport.h"
#include "Forked.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace autopar::runtime;

namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The value of element i of rank r's tensor: small integers add exactly.
float valueOf(int64_t rank, int64_t i) {
  return float((i * 7 + rank * 13) % 31 - 15);
}

std::vector<float> tensorOf(int64_t rank, int64_t count) {
  std::vector<float> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    result[i] = valueOf(rank, i);
  return result;
}

std::string differ(const char *what, int64_t at, double got, double wanted) {
  return std::string(what) + " differs at " + std::to_string(at) + ": " +
         std::to_string(got) + " instead of " + std::to_string(wanted);
}

/// Ranks on the host, and on emulated GPUs.
enum class On { Host, Device };

std::string runOn(On where, Manifest manifest, const RankBody &body) {
  for (const char *kind : {"all_gather", "all_to_all"})
    manifest.ops.push_back({kind, kind, 0, 0});
  return where == On::Host ? runForked(manifest, 30, body)
                           : runForked(manifest, 30, body, startOnDevice);
}

class Collectives : public ::testing::TestWithParam<std::tuple<int, On>> {
protected:
  int ranks() const { return std::get<0>(GetParam()); }
  void expectAll(const RankBody &body) const {
    EXPECT_EQ(runOn(std::get<1>(GetParam()), worldManifest(ranks()), body), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5, 6),
                                            ::testing::Values(On::Host,
                                                              On::Device)));

class Places : public ::testing::TestWithParam<On> {};
INSTANTIATE_TEST_SUITE_P(HostAndDevice, Places,
                         ::testing::Values(On::Host, On::Device));

TEST_P(Collectives, AllReduceSums) {
  int k = ranks();
  expectAll([k](int rank, Transport &transport) -> std::string {
    for (int64_t count : {0, 1, 5, 1000, 4097, 300000, 700001}) {
      std::vector<float> in = tensorOf(rank, count), out(count);
      bool inPlace = count % 2 == 1;
      float *to = inPlace ? in.data() : out.data();
      Status status =
          transport.allReduce(0, APRT_SUM, APRT_F32, count, in.data(), to);
      if (status.failed())
        return status.message();
      for (int64_t i = 0; i < count; ++i) {
        float wanted = 0;
        for (int r = 0; r < k; ++r)
          wanted += valueOf(r, i);
        if (to[i] != wanted)
          return differ("all-reduce", i, to[i], wanted);
      }
    }
    return "";
  });
}

TEST_P(Collectives, AllReduceOtherKindsAndTypes) {
  int k = ranks();
  expectAll([k](int rank, Transport &transport) -> std::string {
    constexpr int64_t count = 20000;
    std::vector<int64_t> integers(count);
    std::vector<double> doubles(count);
    std::vector<BFloat16> halves(count);
    for (int64_t i = 0; i < count; ++i) {
      integers[i] = int64_t(valueOf(rank, i));
      doubles[i] = valueOf(rank, i);
      halves[i] = toBFloat16(valueOf(rank, i));
    }
    Status status = transport.allReduce(0, APRT_MAX, APRT_I64, count,
                                        integers.data(), integers.data());
    if (status.ok())
      status = transport.allReduce(0, APRT_MIN, APRT_F64, count, doubles.data(),
                                   doubles.data());
    if (status.ok())
      status = transport.allReduce(0, APRT_SUM, APRT_BF16, count, halves.data(),
                                   halves.data());
    if (status.failed())
      return status.message();
    for (int64_t i = 0; i < count; ++i) {
      double most = -100, least = 100, sum = 0;
      for (int r = 0; r < k; ++r) {
        most = std::max<double>(most, valueOf(r, i));
        least = std::min<double>(least, valueOf(r, i));
        sum += valueOf(r, i);
      }
      if (integers[i] != int64_t(most) || doubles[i] != least ||
          toFloat(halves[i]) != float(sum))
        return differ("all-reduce", i, double(integers[i]), most);
    }
    return "";
  });
}

/// Floats that do not add exactly must give the same bits on every rank.
TEST_P(Collectives, AllReduceIsTheSameOnAllRanks) {
  int k = ranks();
  expectAll([k](int rank, Transport &transport) -> std::string {
    constexpr int64_t count = 50000;
    std::vector<float> mine(count), all(count * k);
    for (int64_t i = 0; i < count; ++i)
      mine[i] = std::sin(float(i * k + rank)) * 1e3f;
    std::vector<float> sum(count);
    Status status = transport.allReduce(0, APRT_SUM, APRT_F32, count,
                                        mine.data(), sum.data());
    if (status.ok())
      status = transport.allGather(0, APRT_F32, {1, k * count, count, 1},
                                   sum.data(), all.data());
    if (status.failed())
      return status.message();
    for (int64_t i = 0; i < count; ++i) {
      float wanted = 0;
      for (int r = 0; r < k; ++r)
        wanted = r ? wanted + std::sin(float(i * k + r)) * 1e3f
                   : std::sin(float(i * k)) * 1e3f;
      if (all[i] != wanted ||
          std::memcmp(&all[i], &all[(k - 1) * count + i], sizeof(float)) != 0)
        return differ("order of the sum", i, all[i], wanted);
    }
    return "";
  });
}

/// From each member in turn; the others' operands are not read, and sizes are
/// smaller and larger than a round.
TEST_P(Collectives, BroadcastGivesTheRootsValue) {
  int k = ranks();
  expectAll([k](int rank, Transport &transport) -> std::string {
    for (int root = 0; root < k; ++root)
      for (int64_t count : {0, 1, 5, 4097, 300000, 700001}) {
        std::vector<float> in = tensorOf(rank, count), out(count, -99);
        Status status = transport.broadcast(0, root, APRT_F32, count, in.data(),
                                            out.data());
        if (status.failed())
          return status.message();
        for (int64_t i = 0; i < count; ++i)
          if (out[i] != valueOf(root, i))
            return differ("broadcast", i, out[i], valueOf(root, i));
      }
    return "";
  });
}

TEST_P(Collectives, BroadcastMovesEveryType) {
  int k = ranks();
  expectAll([k](int rank, Transport &transport) -> std::string {
    for (int dtype = APRT_BOOL; dtype <= APRT_F64; ++dtype) {
      std::vector<uint8_t> in(elementBytes(dtype) * 13, uint8_t(rank % 2));
      std::vector<uint8_t> out(in.size(), 99);
      Status status = transport.broadcast(0, k - 1, aprt_dtype(dtype), 13,
                                          in.data(), out.data());
      if (status.failed())
        return status.message();
      for (size_t i = 0; i < out.size(); ++i)
        if (out[i] != (k - 1) % 2)
          return differ(dtypeName(dtype), int64_t(i), out[i], (k - 1) % 2);
    }
    return "";
  });
}

TEST_P(Collectives, BroadcastRefusesARootThatIsNoMember) {
  int k = ranks();
  expectAll([k](int, Transport &transport) -> std::string {
    float value = 1;
    for (int root : {-1, k}) {
      Status status = transport.broadcast(0, root, APRT_F32, 1, &value, &value);
      if (status.message().find("is no member of a group of " +
                                std::to_string(k)) == std::string::npos)
        return "not refused: " + status.message();
    }
    return "";
  });
}

/// Sizes that are even, uneven, smaller than the ranks, and empty.
const std::vector<BlockedDim> blockedShapes = {
    {1, 12, 0, 4},   {3, 7, 0, 2},     {2, 4, 0, 5},  {1, 1, 0, 3},
    {2, 0, 0, 3},    {0, 7, 0, 2},     {4, 13, 0, 1}, {1, 30, 0, 9001},
    {64, 60, 0, 70}, {5, 6, 0, 20001}, {2, 3, 0, 0}};

TEST_P(Collectives, AllGatherConcatenates) {
  int k = ranks();
  expectAll([k](int rank, Transport &transport) -> std::string {
    for (BlockedDim dim : blockedShapes) {
      dim.block = ceilDiv(dim.size, k);
      int64_t local = dim.outer * dim.block * dim.inner;
      int64_t total = dim.outer * dim.size * dim.inner;
      std::vector<float> in = tensorOf(rank, local), out(total, -99);
      Status status =
          transport.allGather(0, APRT_F32, dim, in.data(), out.data());
      if (status.failed())
        return status.message();
      for (int64_t i = 0; i < total; ++i) {
        int64_t inner = i % dim.inner, at = i / dim.inner % dim.size,
                outer = i / dim.inner / dim.size;
        int64_t owner = at / dim.block;
        float wanted = valueOf(
            owner, (outer * dim.block + at % dim.block) * dim.inner + inner);
        if (out[i] != wanted)
          return differ("all-gather", i, out[i], wanted);
      }
    }
    return "";
  });
}

TEST_P(Collectives, ReduceScatterSumsBlocks) {
  int k = ranks();
  expectAll([k](int rank, Transport &transport) -> std::string {
    for (BlockedDim dim : blockedShapes) {
      dim.block = ceilDiv(dim.size, k);
      int64_t local = dim.outer * dim.block * dim.inner;
      int64_t total = dim.outer * dim.size * dim.inner;
      std::vector<float> in = tensorOf(rank, total), out(local, -99);
      Status status = transport.reduceScatter(0, APRT_SUM, APRT_F32, dim,
                                              in.data(), out.data());
      if (status.failed())
        return status.message();
      for (int64_t i = 0; i < local; ++i) {
        int64_t inner = i % dim.inner, at = i / dim.inner % dim.block,
                outer = i / dim.inner / dim.block;
        int64_t position = rank * dim.block + at;
        if (position >= dim.size)
          continue;
        float wanted = 0;
        for (int r = 0; r < k; ++r)
          wanted +=
              valueOf(r, (outer * dim.size + position) * dim.inner + inner);
        if (out[i] != wanted)
          return differ("reduce-scatter", i, out[i], wanted);
      }
    }
    return "";
  });
}

/// Global element numbers make the oracle of an all-to-all and of a halo.
float numbered(int64_t index) { return float(index % 65521); }

struct AllToAllCase {
  std::vector<int64_t> global;
  int split, concat;
};

TEST_P(Collectives, AllToAllChangesTheSplit) {
  int k = ranks();
  const std::vector<AllToAllCase> cases = {
      {{6, 6}, 0, 1},         {{7, 5}, 1, 0},
      {{2, 7, 3, 5}, 1, 3},   {{2, 7, 3, 5}, 3, 0},
      {{1, 1}, 0, 1},         {{0, 4}, 1, 0},
      {{300, 301, 7}, 0, 1},  {{3, 2, 2, 2, 5, 1, 2, 4}, 7, 0},
      {{61, 2, 67, 33}, 2, 0}};
  expectAll([&](int rank, Transport &transport) -> std::string {
    for (const AllToAllCase &c : cases) {
      std::vector<int64_t> in = c.global, out = c.global;
      in[c.concat] = ceilDiv(c.global[c.concat], k);
      out[c.split] = ceilDiv(c.global[c.split], k);
      auto count = [](const std::vector<int64_t> &shape) {
        return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                               std::multiplies<int64_t>());
      };
      // The global number of a local element, or -1 outside.
      auto number = [&](int64_t index, const std::vector<int64_t> &shape,
                        int dim) {
        int64_t result = 0, scale = 1;
        for (int d = int(shape.size()) - 1; d >= 0; --d) {
          int64_t at = index % shape[d] + (d == dim ? rank * shape[d] : 0);
          if (at >= c.global[d])
            return int64_t(-1);
          index /= shape[d];
          result += at * scale;
          scale *= c.global[d];
        }
        return result;
      };
      std::vector<float> from(count(in)), to(count(out), -1);
      for (int64_t i = 0; i < count(in); ++i)
        from[i] = numbered(number(i, in, c.concat));
      Status status = transport.allToAll(
          0, APRT_F32,
          {int32_t(in.size()), in.data(), out.data(), c.split, c.concat},
          from.data(), to.data());
      if (status.failed())
        return status.message();
      for (int64_t i = 0; i < count(out); ++i) {
        int64_t n = number(i, out, c.split);
        if (n >= 0 && to[i] != numbered(n))
          return differ("all-to-all", i, to[i], numbered(n));
      }
    }
    return "";
  });
}

TEST_P(Collectives, HaloCollectsIntervals) {
  int k = ranks();
  struct HaloCase {
    BlockedDim dim;
    HaloWindow window;
  };
  // step 0 stands for the block; intervals reach over several neighbours.
  const std::vector<HaloCase> cases = {
      {{1, 12, 0, 4}, {0, -1, 4, 0}},   {{3, 7, 0, 2}, {0, -1, 3, -5}},
      {{2, 4, 0, 3}, {1, -2, 5, 2.5}},  {{1, 20, 0, 5001}, {0, -7, 19, 1}},
      {{2, 1, 0, 1}, {1, 0, 2, 9}},     {{1, 9, 0, 1}, {2, 3, 0, 9}},
      {{2, 30, 0, 7}, {-3, 20, 6, -1}}, {{1, 5, 0, 2}, {50, 3, 4, 7}}};
  expectAll([&](int rank, Transport &transport) -> std::string {
    for (HaloCase c : cases) {
      BlockedDim &dim = c.dim;
      dim.block = ceilDiv(dim.size, k);
      if (c.window.step == 0)
        c.window.step = dim.block;
      std::vector<float> in(dim.outer * dim.block * dim.inner, -77);
      for (int64_t i = 0; i < int64_t(in.size()); ++i) {
        int64_t at = rank * dim.block + i / dim.inner % dim.block;
        int64_t outer = i / dim.inner / dim.block;
        if (at < dim.size)
          in[i] = numbered((outer * dim.size + at) * dim.inner + i % dim.inner);
      }
      std::vector<float> out(dim.outer * c.window.length * dim.inner, -88);
      Status status =
          transport.halo(0, APRT_F32, dim, c.window, in.data(), out.data());
      if (status.failed())
        return status.message();
      for (int64_t i = 0; i < int64_t(out.size()); ++i) {
        int64_t at = rank * c.window.step + c.window.offset +
                     i / dim.inner % c.window.length;
        int64_t outer = i / dim.inner / c.window.length;
        float wanted =
            at < 0 || at >= dim.size
                ? float(c.window.fill)
                : numbered((outer * dim.size + at) * dim.inner + i % dim.inner);
        if (out[i] != wanted)
          return differ("halo", i, out[i], wanted);
      }
    }
    return "";
  });
}

/// Groups of a mesh [2, 3] work beside each other.
TEST_P(Places, GroupsAreIndependent) {
  Manifest manifest = worldManifest(6);
  manifest.communicators = {{{"a"}, {{0, 3}, {1, 4}, {2, 5}}, 4},
                            {{"b"}, {{0, 1, 2}, {3, 4, 5}}, 4},
                            {{"partial"}, {{4, 1}}, 4}};
  auto body = [](int rank, Transport &transport) -> std::string {
    for (int round = 0; round < 50; ++round) {
      float a = float(rank), b = float(rank);
      Status status = transport.allReduce(0, APRT_SUM, APRT_F32, 1, &a, &a);
      if (status.ok())
        status = transport.allReduce(1, APRT_SUM, APRT_F32, 1, &b, &b);
      if (status.failed())
        return status.message();
      if (a != float(2 * (rank % 3) + 3) || b != float(rank < 3 ? 3 : 12))
        return "wrong sum";
    }
    int64_t place = transport.memberIndex(2);
    if (place != (rank == 4 ? 0 : rank == 1 ? 1 : -1))
      return "wrong place in the partial communicator";
    float c = 1;
    bool works = transport.allReduce(2, APRT_SUM, APRT_F32, 1, &c, &c).ok();
    return works == (place >= 0) ? "" : "a non-member took part";
  };
  EXPECT_EQ(runOn(GetParam(), manifest, body), "");
}

/// Two stages of two devices; the ring is shorter than the queue of messages.
TEST_P(Places, MessagesArriveInOrder) {
  Manifest manifest = worldManifest(2);
  manifest.stages = 2;
  manifest.communicators.clear();
  manifest.channels = {{0, 1, 4000, 2}, {1, 0, 0, 1}};
  auto body = [](int rank, Transport &transport) -> std::string {
    for (int64_t i = 0; i < 100; ++i) {
      std::vector<float> data(size_t(i * 10)), empty;
      int64_t bytes = i * 40;
      Status status;
      if (rank < 2) {
        for (int64_t j = 0; j < i * 10; ++j)
          data[j] = valueOf(rank + i, j);
        status = transport.send(0, data.data(), bytes);
        if (status.ok() && i % 10 == 0)
          status = transport.receive(1, nullptr, 0);
      } else {
        status = transport.receive(0, data.data(), bytes);
        for (int64_t j = 0; j < i * 10; ++j)
          if (data[j] != valueOf(rank - 2 + i, j))
            return "wrong message";
        if (status.ok() && i % 10 == 0)
          status = transport.send(1, nullptr, 0);
      }
      if (status.failed())
        return status.message();
    }
    return "";
  };
  EXPECT_EQ(runOn(GetParam(), manifest, body), "");
}

TEST(Channels, BadMessagesAreRefused) {
  Manifest manifest = worldManifest(1);
  manifest.stages = 2;
  manifest.communicators.clear();
  manifest.channels = {{0, 1, 8, 1}};
  auto body = [](int rank, Transport &transport) -> std::string {
    char data[64] = {};
    if (rank == 0) {
      if (transport.send(0, data, 64).ok() ||
          transport.receive(0, data, 8).ok() || transport.send(7, data, 1).ok())
        return "a bad message went through";
      return transport.send(0, data, 8).message();
    }
    Status status = transport.receive(0, data, 4);
    return status.message().find("8 bytes where 4") != std::string::npos
               ? ""
               : "no error for the wrong length: " + status.message();
  };
  EXPECT_EQ(runForked(manifest, 30, body), "");
}

} // namespace
