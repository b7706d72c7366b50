//===- RuntimeCollectives.cpp - Collectives between processors ------------===//
//
// p ranks, n bytes, latency a, b seconds per byte (Thakur, Rabenseifner and
// Gropp, "Optimization of collective communication operations in MPICH", 2005).
// Across nodes a collective runs in each node, then between nodes with 1/g of
// the bytes per device, then in each node again.
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

CollectiveAlgorithms runtimeAlgorithms(const Cluster &cluster, ReshardKind kind,
                                       const CommunicatorShape &shape) {
  const Link &near = cluster.withinNode, &far = cluster.betweenNodes;
  int64_t g = shape.ranksPerNode, k = shape.nodes;
  int64_t sharers = shape.fewestPerNode; // of what crosses nodes
  switch (kind) {
  case ReshardKind::AllReduce:
    if (k == 1)
      return {(scatter(near, g) * 2).named("scatter and gather"),
              doubling(near, g).named("doubling")};
    return {((scatter(near, g) + scatter(far, k).ofShare(sharers)) * 2)
                .named("scatter and gather"),
            (scatter(near, g) * 2 + doubling(far, k).ofShare(sharers))
                .named("scatter, doubling and gather")};
  case ReshardKind::AllGather:
  case ReshardKind::ReduceScatter:
    return {
        (scatter(near, g) + scatter(far, k).ofShare(sharers)).named("ring")};
  case ReshardKind::AllToAll:
    return {(pairwise(near, g) + pairwise(far, k)).named("pairwise")};
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
