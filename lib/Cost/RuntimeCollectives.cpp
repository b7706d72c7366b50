//===- RuntimeCollectives.cpp - Collectives between processors ------------===//
//
// The formulas over links that carry messages have p ranks, n bytes, latency a,
// and b seconds per byte (Thakur, Rabenseifner and Gropp, "Optimization of
// collective communication operations in MPICH", 2005). Across nodes a
// collective runs in each node, then between nodes with 1/g of the bytes per
// device, then in each node again.
//
// In shared memory every rank copies the parts that others need into staging
// memory of all ranks, meets the others, and copies or reduces the parts that
// it needs from there (runtime/transport/SharedMemoryCollectives.cpp). The
// bytes that a rank reads of its own tensor, reads of the others' staging and
// writes of the result count alike; its own staging stays in caches. The link's
// rate B is that of each of two ranks that gather n bytes. Such a rank reads
// n/2 twice, writes n, and sends n/2, all in n/2B seconds; so it moves 4B a
// second.
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
  /// The line for 1/g of the bytes.
  Line ofShare(int64_t g) const { return {latency, perByte / double(g)}; }
  CollectiveAlgorithm named(StringRef name) const {
    return {name, "", latency, perByte};
  }
};

} // namespace

static double levels(int64_t ranks) { return Log2_64_Ceil(ranks); }

/// A scatter or gather of the whole, of which each rank gets or gives its
/// share: halving and doubling if the number of ranks is a power of two,
/// otherwise a ring.
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

/// A collective in shared memory, in which a rank moves `moved` times n bytes.
static Line throughMemory(const Link &link, int64_t p, int meetings,
                          double moved) {
  if (p == 1)
    return {};
  constexpr double movedPerSent = 4;
  return {meetings * latency(link),
          moved / movedPerSent * secondsPerByte(link)};
}

static double others(int64_t p) { return double(p - 1) / double(p); }

/// An all-reduce in slices: each rank reads its own tensor, a slice of the
/// others' tensors and the others' slices of the result, and writes the result.
static Line reduceInSlices(const Link &link, int64_t p) {
  return throughMemory(link, p, 2, 2 + 2 * others(p));
}

/// Each rank gives its share of the whole and gets all of it, or gives all of
/// it and gets a share.
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
  // In the direct algorithm everyone reduces the tensors of all. The runtime
  // uses it for two ranks, and for more ranks up to 16 KiB, which is about
  // where it is faster.
  Line direct = throughMemory(link, p, 1, double(p) + 1);
  return {direct.named("direct"), reduceInSlices(link, p).named("slices")};
}

CollectiveAlgorithms runtimeAlgorithms(const Cluster &cluster, ReshardKind kind,
                                       const CommunicatorShape &shape) {
  const Link &near = cluster.withinNode, &far = cluster.betweenNodes;
  int64_t g = shape.ranksPerNode, k = shape.nodes;
  int64_t sharers = shape.fewestPerNode; // ranks that share what crosses nodes
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
