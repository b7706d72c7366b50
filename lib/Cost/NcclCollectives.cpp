//===- NcclCollectives.cpp - Collectives between GPUs ---------------------===//
//
// This is NCCL's own model of its algorithms and protocols
// (src/graph/tuning.cc), with its constants of bases and hops. Its rates are
// replaced by the links' peaks and the rate at which a tensor goes through the
// kernel. NCCL runs the algorithm that its model says is fastest, so the
// fastest one is priced.
//
//===----------------------------------------------------------------------===//

#include "CollectiveFormulas.h"
#include "autopar/Support/Csv.h"
#include "data/nccl-trees.csv.h"
#include "data/nccl.csv.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace llvm;

namespace autopar {

/// The share of a network's rate that adapters reach: 24 of 25 GB/s (HDR), 46
/// to 48 of 50 (NDR, EFA) in stas00/ml-engineering and NVIDIA/nccl issue 812.
static constexpr double kNetworkShare = 0.95;
/// The number of messages of an exchange that are under way at once: NCCL puts
/// as many in a batch of work (NCCL_MAX_DEV_WORK_P2P_PER_BATCH).
static constexpr int64_t kMessagesAtOnce = 8;

namespace {

/// A row of data/nccl.csv, in seconds.
struct Protocol {
  std::string algorithm, name;
  double base, nvlink, pcie, network; // of a launch, and of each hop
  double share;                       // of a link's rate that carries data
  /// The shares of the rate that trees reach, as in CollectiveAlgorithm.
  std::vector<double> treeShares;

  bool isSimple() const { return name == "Simple"; }
  double hop(const Link &link) const {
    if (lookupNetwork(link.kind))
      return network;
    return link.kind == "pcie" || link.kind == "shared-memory" ? pcie : nvlink;
  }
};

} // namespace

static std::vector<Protocol> readProtocols() {
  CsvTable table = cantFail(CsvTable::parse(kNcclTable));
  CsvTable trees = cantFail(CsvTable::parse(kNcclTreeTable));
  std::vector<Protocol> protocols;
  for (const CsvTable::Row &row : table.rows()) {
    auto number = [&](StringRef column) { return table.number(row, column); };
    Protocol protocol{table.text(row, "algorithm").str(),
                      table.text(row, "protocol").str(),
                      number("base_us") * 1e-6,
                      number("nvlink_us") * 1e-6,
                      number("pcie_us") * 1e-6,
                      number("network_us") * 1e-6,
                      number("share"),
                      {}};
    if (protocol.algorithm == "tree")
      for (const CsvTable::Row &size : trees.rows())
        protocol.treeShares.push_back(trees.number(size, protocol.name));
    protocols.push_back(std::move(protocol));
  }
  return protocols;
}

static ArrayRef<Protocol> protocols() {
  static const std::vector<Protocol> read = readProtocols();
  return read;
}

static const Protocol &simpleRing() {
  return *llvm::find_if(protocols(), [](const Protocol &protocol) {
    return protocol.algorithm == "ring" && protocol.isSimple();
  });
}

/// A link's latency is that of a hop of Simple; hops of other protocols are to
/// it as in NCCL's table.
static double hopSeconds(const Protocol &protocol, const Link &link) {
  return latency(link) * protocol.hop(link) / simpleRing().hop(link);
}

/// Returns whether the link carries the protocol. LL and LL128 put flags beside
/// the data, which must arrive in order.
static bool carries(const Link &link, const Protocol &protocol) {
  std::optional<Network> network = lookupNetwork(link.kind);
  return protocol.isSimple() || !network || network->inOrder;
}

/// Returns whether NCCL sends single messages by the protocol: it does by all
/// protocols of rings except LL128.
static bool sendsMessages(const Protocol &protocol) {
  return protocol.algorithm == "ring" && protocol.name != "LL128";
}

/// The seconds per byte at that rate; a rate of 0 is no limit and costs
/// nothing.
static double perByte(double bytesPerSecond) {
  return bytesPerSecond > 0 ? 1 / bytesPerSecond : 0;
}

static double wireSecondsPerByte(const Link &link) {
  return secondsPerByte(link) / (lookupNetwork(link.kind) ? kNetworkShare : 1);
}

namespace {

/// The seconds of one collective by each protocol.
class Formulas {
public:
  Formulas(const Cluster &cluster, ReshardKind kind,
           const CommunicatorShape &shape)
      : device(cluster.slowest()), near(cluster.withinNode),
        far(cluster.betweenNodes), kind(kind), p(shape.ranks), k(shape.nodes),
        g(shape.ranksPerNode), fewest(shape.fewestPerNode) {}

  /// The algorithm with that protocol; nothing if NCCL does not have it for the
  /// collective.
  std::optional<CollectiveAlgorithm> by(const Protocol &protocol) const;

private:
  bool reduces() const { return kind == ReshardKind::AllReduce; }
  bool exchanges() const {
    return kind == ReshardKind::AllToAll || kind == ReshardKind::Halo;
  }

  CollectiveAlgorithm ring(const Protocol &protocol) const;
  CollectiveAlgorithm tree(const Protocol &protocol) const;
  CollectiveAlgorithm inSwitch(const Protocol &protocol) const;
  CollectiveAlgorithm exchange(const Protocol &protocol) const;

  CollectiveAlgorithm line(const Protocol &protocol, double hops,
                           double secondsPerByte) const {
    return {exchanges() ? "pairwise" : StringRef(protocol.algorithm),
            protocol.name, device.collectiveSeconds + protocol.base + hops,
            secondsPerByte, protocol.treeShares};
  }
  /// Returns the seconds per byte of a collective of n bytes, for which each
  /// rank sends `wire * n` and passes `passes * n` through its kernel.
  double transfer(const Protocol &protocol, double wire, double passes) const;

  DeviceType device;
  const Link &near, &far;
  ReshardKind kind;
  int64_t p, k, g; // ranks, nodes, ranks on the node with the most
  int64_t fewest;  // ranks on the node with the fewest
};

} // namespace

double Formulas::transfer(const Protocol &protocol, double wire,
                          double passes) const {
  double seconds = passes * perByte(device.collectiveBytesPerSecond);
  if (g > 1)
    seconds += wire * wireSecondsPerByte(near);
  if (k > 1) // a node's devices have an adapter each for the way out
    seconds =
        std::max(seconds, wire / double(fewest) * wireSecondsPerByte(far));
  seconds /= protocol.share;
  if (protocol.name != "LL")
    return seconds;
  return std::max(seconds, wire * perByte(device.lowLatencyBytesPerSecond));
}

/// Hops as tuning.cc counts them: an all-reduce goes round twice.
CollectiveAlgorithm Formulas::ring(const Protocol &protocol) const {
  int64_t rounds = reduces() ? 2 : 1;
  int64_t steps = rounds * (p - 1);
  int64_t outer = k == 1 ? 0 : std::min(steps, reduces() ? 2 * k : k - 1);
  double hops = double(steps - outer) * hopSeconds(protocol, near) +
                double(outer) * hopSeconds(protocol, far);
  return line(protocol, hops,
              transfer(protocol, double(steps) / double(p), rounds / 2.0));
}

/// A chain in each node, and two trees of nodes with half of the bytes each.
CollectiveAlgorithm Formulas::tree(const Protocol &protocol) const {
  double hops = double(g - 1) * hopSeconds(protocol, near) +
                double(Log2_64_Ceil(k)) * hopSeconds(protocol, far);
  return line(protocol, 2 * hops, transfer(protocol, 2, 1));
}

/// A device sends all of its bytes once, and its part of the sums.
CollectiveAlgorithm Formulas::inSwitch(const Protocol &protocol) const {
  return line(protocol, hopSeconds(protocol, near),
              transfer(protocol, double(p + 1) / double(p), 1));
}

/// A device's messages to the others, or to its two neighbours; those to other
/// nodes go through its adapter.
CollectiveAlgorithm Formulas::exchange(const Protocol &protocol) const {
  bool halo = kind == ReshardKind::Halo;
  double messages = halo ? 2 : double(p - 1);
  double inside = halo ? double(k == 1) : double(g - 1) / double(p);
  double outside = halo ? double(k > 1) : double(p - fewest) / double(p);
  double hop = hopSeconds(protocol, k == 1 ? near : far);
  double links = std::max(inside * wireSecondsPerByte(near),
                          outside * wireSecondsPerByte(far));
  double kernel = perByte(device.collectiveBytesPerSecond) / 2;
  return line(protocol, std::ceil(messages / kMessagesAtOnce) * hop,
              (links + kernel) / protocol.share);
}

std::optional<CollectiveAlgorithm>
Formulas::by(const Protocol &protocol) const {
  if ((g > 1 && !carries(near, protocol)) || (k > 1 && !carries(far, protocol)))
    return std::nullopt;
  if (exchanges())
    return sendsMessages(protocol) ? std::optional(exchange(protocol))
                                   : std::nullopt;
  if (protocol.algorithm == "ring")
    return ring(protocol);
  if (protocol.algorithm == "tree" && reduces() && k > 1)
    return tree(protocol);
  if (protocol.algorithm == "nvls" && reduces() && k == 1 && p > 2 &&
      device.switchesReduce &&
      is_contained({"nvlink", "nvswitch"}, StringRef(near.kind)))
    return inSwitch(protocol);
  return std::nullopt;
}

CollectiveAlgorithms ncclAlgorithms(const Cluster &cluster, ReshardKind kind,
                                    const CommunicatorShape &shape) {
  Formulas formulas(cluster, kind, shape);
  CollectiveAlgorithms algorithms;
  for (const Protocol &protocol : protocols())
    if (std::optional<CollectiveAlgorithm> one = formulas.by(protocol))
      algorithms.push_back(*one);
  return algorithms;
}

CollectiveAlgorithms ncclMessages(const DeviceType &device, const Link &link) {
  CollectiveAlgorithms algorithms;
  double wire = wireSecondsPerByte(link);
  double kernel = perByte(device.collectiveBytesPerSecond) / 2;
  for (const Protocol &protocol : protocols())
    if (sendsMessages(protocol) && carries(link, protocol))
      algorithms.push_back({"message", protocol.name,
                            device.collectiveSeconds + protocol.base +
                                hopSeconds(protocol, link),
                            (wire + kernel) / protocol.share});
  return algorithms;
}

} // namespace autopar
