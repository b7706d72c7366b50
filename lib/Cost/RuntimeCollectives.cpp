//===- RuntimeCollectives.cpp - Collectives between processors ------------===//
//
// Over links that carry messages: p ranks, n bytes, latency a, b seconds per
// byte (Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", 2005). Across nodes a collective runs in
// each node, then between nodes with 1/g of the bytes per device, then in each
// node again.
//
// In shared memory every rank copies what others need into staging of all,
// meets them, and copies or reduces what it needs out of it
// (runtime/transport/SharedMemoryCollectives.cpp). What a rank reads of its own
// tensor and of the staging of others, and what it writes of the result, counts
// alike; its own staging stays in caches. The link's rate B is that of each of
// two ranks that gather: of n bytes it reads n/2 and n/2, writes n and sends
// n/2 in n/2B, so that it moves 4B.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFormulas.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// latency + n * perByte.
struct Line {
  double latency = 0, perByte = 0;

  Line operator+(const Line &other) const {
    return {latency + other.latency, perByte + other.perByte};
  }
  Line operator*(double factor) const {
    return {factor * latency, factor * perByte};
  }
  /// The same of 1/g of the bytes.
  Line ofShare(int64_t g) const { return {latency, perByte / double(g)}; }
  CollectiveAlgorithm named(StringRef name) const {
    return {name, "", latency, perByte};
  }
};

} // namespace

static double levels(int64_t ranks) { return Log2_64_Ceil(ranks); }

/// The whole, of which each rank gets or gives its share: a ring, or halving
/// and doubling where the count is a power of two.
static Line scatter(const Link &link, int64_t p) {
  double rounds = isPowerOf2_64(p) ? levels(p) : double(p - 1);
  return {rounds * latency(link),
          double(p - 1) / double(p) * secondsPerByte(link)};
}

static Line doubling(const Link &link, int64_t p) {
  return Line{latency(link), secondsPerByte(link)} * levels(p);
}

static Line pairwise(const Link &link, int64_t p) {
  return {double(p - 1) * latency(link),
          double(p - 1) / double(p) * secondsPerByte(link)};
}

static bool sharesMemory(const Link &link) {
  return link.kind == "shared-memory";
}

/// A rank moves so many times n bytes.
static Line throughMemory(const Link &link, int64_t p, int meetings,
                          double moved) {
  if (p == 1)
    return {};
  constexpr double movedPerSent = 4;
  return {meetings * latency(link),
          moved / movedPerSent * secondsPerByte(link)};
}

static double others(int64_t p) { return double(p - 1) / double(p); }

/// Each reads its own, a slice of what the others gave, their slices of the
/// result, and writes that.
static Line reduceInSlices(const Link &link, int64_t p) {
  return throughMemory(link, p, 2, 2 + 2 * others(p));
}

/// Of the whole each gives a share and gets all, or gives all and gets a share.
static Line gatherOrScatter(const Link &link, int64_t p) {
  return sharesMemory(link) ? throughMemory(link, p, 1, 2) : scatter(link, p);
}

static Line allToAll(const Link &link, int64_t p) {
  return sharesMemory(link) ? throughMemory(link, p, 1, 2 + others(p))
                            : pairwise(link, p);
}

static CollectiveAlgorithms allReduce(const Link &link, int64_t p) {
  if (!sharesMemory(link))
    return {(scatter(link, p) * 2).named("scatter and gather"),
            doubling(link, p).named("doubling")};
  // Everyone reduces what all gave. The runtime does so for two, and for more
  // where there is little (16 KiB), which is about where it is faster.
  Line direct = throughMemory(link, p, 1, double(p) + 1);
  return {direct.named("direct"), reduceInSlices(link, p).named("slices")};
}

CollectiveAlgorithms runtimeAlgorithms(const Cluster &cluster, ReshardKind kind,
                                       const CommunicatorShape &shape) {
  const Link &near = cluster.withinNode, &far = cluster.betweenNodes;
  int64_t g = shape.ranksPerNode, k = shape.nodes;
  int64_t sharers = shape.fewestPerNode; // of what crosses nodes
  switch (kind) {
  case ReshardKind::AllReduce: {
    if (k == 1)
      return allReduce(near, g);
    Line inNode =
        sharesMemory(near) ? reduceInSlices(near, g) : scatter(near, g) * 2;
    return {(inNode + scatter(far, k).ofShare(sharers) * 2)
                .named("scatter and gather"),
            (inNode + doubling(far, k).ofShare(sharers))
                .named("scatter, doubling and gather")};
  }
  case ReshardKind::AllGather:
  case ReshardKind::ReduceScatter:
    return {(gatherOrScatter(near, g) + scatter(far, k).ofShare(sharers))
                .named("ring")};
  case ReshardKind::AllToAll:
    return {(allToAll(near, g) + pairwise(far, k)).named("pairwise")};
  case ReshardKind::Halo: {
    const Link &link = k == 1 ? near : far;
    return {{"pairwise", "", 2 * latency(link), secondsPerByte(link)}};
  }
  case ReshardKind::SliceBlock:
  case ReshardKind::KeepFirst:
    break;
  }
  llvm_unreachable("local steps are no collectives");
}

} // namespace autopar
