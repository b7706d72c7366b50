//===- PredictCollectives.cpp - Collectives of a table --------------------===//

#include "autopar/Cost/PredictCollectives.h"
#include "autopar/Cost/Collectives.h"
#include "autopar/Cost/Roofline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace autopar {

/// The seconds that a host's clock adds: a launch, and the wait for its end.
static constexpr double kHostClockSeconds = 30e-6;
/// An operation of PyTorch that the host issues, however little it does.
static constexpr double kHostOpSeconds = 10e-6;

static constexpr StringLiteral columns[] = {
    "device", "collective", "algo",      "ranks",
    "nodes",  "inter_node", "size_bytes"};

namespace {

/// A row of the table.
class Measurement {
public:
  Measurement(const CsvTable &table, const CsvTable::Row &row)
      : table(table), row(row) {}

  /// The error says why it cannot be predicted.
  Expected<double> seconds() const;

private:
  StringRef text(StringRef column) const { return table.text(row, column); }
  Expected<int64_t> count(StringRef column) const;
  Expected<ReshardKind> kind() const;
  Expected<Cluster> cluster(const CommunicatorShape &shape) const;
  Expected<CommunicatorShape> shape() const;
  /// The algorithms that `algo` names.
  Expected<CollectiveAlgorithms> algorithms(const Cluster &cluster,
                                            ReshardKind kind) const;
  double besides(const Cluster &cluster, ReshardKind kind, int64_t ranks,
                 double bytes) const;

  const CsvTable &table;
  const CsvTable::Row &row;
};

} // namespace

Expected<int64_t> Measurement::count(StringRef column) const {
  int64_t value = 0;
  if (text(column).trim().getAsInteger(10, value) || value < 1)
    return createStringError("'" + column + "' is '" + text(column) +
                             "', not an integer of 1 or more");
  return value;
}

Expected<ReshardKind> Measurement::kind() const {
  std::string word;
  for (char c : text("collective").lower())
    if (isAlpha(c))
      word += c;
  std::optional<ReshardKind> kind =
      StringSwitch<std::optional<ReshardKind>>(word)
          .Case("allreduce", ReshardKind::AllReduce)
          .Case("allgather", ReshardKind::AllGather)
          .Case("reducescatter", ReshardKind::ReduceScatter)
          .Case("alltoall", ReshardKind::AllToAll)
          .Default(std::nullopt);
  if (!kind)
    return createStringError(
        "collective '" + text("collective") +
        "' is none of allreduce, allgather, reducescatter, alltoall");
  return *kind;
}

Expected<CommunicatorShape> Measurement::shape() const {
  Expected<int64_t> ranks = count("ranks");
  if (!ranks)
    return ranks.takeError();
  Expected<int64_t> nodes = count("nodes");
  if (!nodes)
    return nodes.takeError();
  if (*ranks % *nodes != 0)
    return createStringError(Twine(*ranks) +
                             " ranks do not spread evenly over " +
                             Twine(*nodes) + " nodes");
  int64_t perNode = *ranks / *nodes;
  return CommunicatorShape{*ranks, *nodes, perNode, perNode};
}

/// Nodes that have as many devices as they have ranks.
Expected<Cluster> Measurement::cluster(const CommunicatorShape &shape) const {
  Expected<DeviceType> type = lookupDevice(text("device").trim());
  if (!type)
    return type.takeError();
  Cluster cluster;
  cluster.nodes.push_back({shape.nodes, *type, shape.ranksPerNode});
  cluster.withinNode = type->within;
  cluster.betweenNodes = type->between;
  if (shape.nodes == 1)
    return cluster;
  static const Regex adapters("([0-9]+)x([0-9.]+) *GB/s");
  SmallVector<StringRef> found;
  double count = 0, gigabytes = 0;
  if (!adapters.match(text("inter_node"), &found) ||
      found[1].getAsDouble(count) || found[2].getAsDouble(gigabytes) ||
      !(count * gigabytes >= 1e-9) || count * gigabytes > 1e9)
    return createStringError("'inter_node' is '" + text("inter_node") +
                             "', not as in 8x25GB/s or EFA 8x50GB/s");
  Link &link = cluster.betweenNodes;
  link.bytesPerSecond = count * gigabytes * 1e9 / double(shape.ranksPerNode);
  if (std::optional<Network> network =
          networkOfDescription(text("inter_node"))) {
    link.kind = network->kind;
    if (type->kind == "gpu") // the table's latencies are NCCL's
      link.latencySeconds = network->latencySeconds;
  }
  return cluster;
}

Expected<CollectiveAlgorithms> Measurement::algorithms(const Cluster &cluster,
                                                       ReshardKind kind) const {
  Expected<CommunicatorShape> placed = shape();
  if (!placed)
    return placed.takeError();
  CollectiveAlgorithms all = collectiveAlgorithms(cluster, kind, *placed);
  StringRef wanted = text("algo").trim();
  if (wanted.empty() || wanted.starts_with_insensitive("default"))
    return all;
  llvm::erase_if(all, [&](const CollectiveAlgorithm &algorithm) {
    return !algorithm.name.equals_insensitive(wanted);
  });
  if (all.empty())
    return createStringError("'algo' is '" + wanted +
                             "', which does not run this collective on " +
                             describe(cluster));
  return all;
}

/// The list forms of PyTorch's gather and scatter copy between the tensors of
/// the list and one that holds them all.
double Measurement::besides(const Cluster &cluster, ReshardKind kind,
                            int64_t ranks, double bytes) const {
  StringRef source = table.has("source") ? text("source") : "";
  double seconds = source.contains("host clock") ? kHostClockSeconds : 0;
  if (!source.contains("list form") ||
      (kind != ReshardKind::AllGather && kind != ReshardKind::ReduceScatter))
    return seconds;
  KernelWork copies;
  copies.bytes = 2 * bytes;
  return seconds + double(ranks) * kHostOpSeconds +
         kernelSeconds(cluster.slowest(), copies);
}

Expected<double> Measurement::seconds() const {
  Expected<ReshardKind> collective = kind();
  if (!collective)
    return collective.takeError();
  Expected<CommunicatorShape> placed = shape();
  if (!placed)
    return placed.takeError();
  Expected<int64_t> bytes = count("size_bytes");
  if (!bytes)
    return bytes.takeError();
  Expected<Cluster> devices = cluster(*placed);
  if (!devices)
    return devices.takeError();
  Expected<CollectiveAlgorithms> ways = algorithms(*devices, *collective);
  if (!ways)
    return ways.takeError();
  double whole = double(*bytes);
  return fastest(*ways, whole).seconds(whole) +
         besides(*devices, *collective, placed->ranks, whole);
}

Error predictCollectives(CsvTable &table, function_ref<void(StringRef)> warn) {
  for (StringRef column : columns)
    if (!table.has(column))
      return createStringError("no column '" + column + "'");
  if (table.has("predicted_us"))
    return createStringError("the column 'predicted_us' is there already");
  std::vector<std::string> cells;
  for (auto [index, row] : llvm::enumerate(table.rows())) {
    std::string &cell = cells.emplace_back();
    if (Expected<double> seconds = Measurement(table, row).seconds())
      cell = formatv("{0:f2}", *seconds * 1e6);
    else
      warn(formatv("row {0} is not predicted: {1}", index + 1,
                   toString(seconds.takeError()))
               .str());
  }
  table.append("predicted_us", cells);
  return Error::success();
}

} // namespace autopar
