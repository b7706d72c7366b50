//===- Cluster.cpp - Questions about a cluster, and the short form --------===//

#include "ClusterLimits.h"
#include "autopar/runtime.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

int64_t Cluster::deviceCount() const {
  int64_t count = 0;
  for (const NodeGroup &group : nodes)
    count += group.count * group.devices;
  return count;
}

namespace {

/// The position of a device in the cluster: its node, and its number in the
/// node.
struct DevicePosition {
  int64_t node, position;
};

} // namespace

static DevicePosition positionOf(const Cluster &cluster, int64_t device) {
  int64_t firstNode = 0;
  for (const NodeGroup &group : cluster.nodes) {
    if (device < group.count * group.devices)
      return {firstNode + device / group.devices, device % group.devices};
    device -= group.count * group.devices;
    firstNode += group.count;
  }
  return {firstNode, device};
}

int64_t Cluster::nodeOf(int64_t device) const {
  return positionOf(*this, device).node;
}

SmallVector<Link> Cluster::links() const {
  SmallVector<Link> all;
  auto add = [&](ArrayRef<LinkGroups> levels, const Link &outermost) {
    for (const LinkGroups &level : levels)
      all.push_back(level.link);
    all.push_back(outermost);
  };
  add(deviceGroups, withinNode);
  add(nodeGroups, betweenNodes);
  return all;
}

/// The first level whose groups have both, or how many levels there are.
static unsigned levelOf(ArrayRef<LinkGroups> levels, int64_t a, int64_t b) {
  return llvm::find_if(levels,
                       [&](const LinkGroups &level) {
                         return a / level.size == b / level.size;
                       }) -
         levels.begin();
}

unsigned Cluster::linkBetween(int64_t a, int64_t b) const {
  DevicePosition one = positionOf(*this, a), other = positionOf(*this, b);
  if (one.node != other.node)
    return deviceGroups.size() + 1 +
           levelOf(nodeGroups, nodesBefore + one.node,
                   nodesBefore + other.node);
  int64_t before = one.node == 0 ? devicesBefore : 0;
  return levelOf(deviceGroups, before + one.position, before + other.position);
}

DeviceType NodeGroup::sharedType() const {
  DeviceType shared = type;
  for (double *rate : {&shared.fp32Flops, &shared.tf32Flops, &shared.fp16Flops,
                       &shared.bf16Flops, &shared.memoryBytesPerSecond})
    *rate *= share();
  return shared;
}

DeviceType Cluster::slowest() const {
  return llvm::min_element(nodes,
                           [](const NodeGroup &a, const NodeGroup &b) {
                             return a.share() * a.type.fp32Flops <
                                    b.share() * b.type.fp32Flops;
                           })
      ->sharedType();
}

int64_t Cluster::memoryBytes() const {
  int64_t least = 0;
  for (const NodeGroup &group : nodes)
    if (int64_t bytes = group.type.memoryBytes)
      least = least ? std::min(least, bytes) : bytes;
  return least;
}

/// The share of a core for each of `devices` devices of a node, while `atOnce`
/// times as many work at a time.
static double shareOfPart(const NodeGroup &group, int64_t devices,
                          int64_t atOnce) {
  int64_t working =
      atOnce > 0 ? std::min(atOnce * devices, group.devices) : group.devices;
  if (group.partShare > 0 || group.cores == 0)
    return group.share();
  return std::min(1.0, double(group.cores) / double(working));
}

/// Leaves the levels below the first whose group has all from `before` to
/// `last` after it, whose link is then the outermost.
static void keepLevels(SmallVector<LinkGroups, 0> &levels, int64_t before,
                       int64_t last, Link &outermost) {
  unsigned level = levelOf(levels, before, before + last);
  if (level < levels.size()) {
    outermost = levels[level].link;
    levels.truncate(level);
  }
}

Cluster Cluster::part(int64_t first, int64_t count, int64_t atOnce) const {
  Cluster part;
  part.withinNode = withinNode;
  part.betweenNodes = betweenNodes;
  part.deviceGroups = deviceGroups;
  part.nodeGroups = nodeGroups;
  DevicePosition begin = positionOf(*this, first),
                 end = positionOf(*this, first + count - 1);
  int64_t before = begin.position + (begin.node == 0 ? devicesBefore : 0);
  if (begin.node == end.node) {
    part.nodeGroups.clear();
    keepLevels(part.deviceGroups, before, end.position - begin.position,
               part.withinNode);
  }
  if (!part.deviceGroups.empty())
    part.devicesBefore = before % part.deviceGroups.back().size;
  before = nodesBefore + begin.node;
  keepLevels(part.nodeGroups, before, end.node - begin.node, part.betweenNodes);
  if (!part.nodeGroups.empty())
    part.nodesBefore = before % part.nodeGroups.back().size;
  auto add = [&](const NodeGroup &group, int64_t nodeCount, int64_t devices) {
    if (nodeCount > 0 && devices > 0)
      part.nodes.push_back({nodeCount, group.type, devices, group.cores,
                            devices < group.devices
                                ? shareOfPart(group, devices, atOnce)
                                : group.partShare});
  };
  for (const NodeGroup &group : nodes) {
    int64_t size = group.count * group.devices;
    int64_t skipped = std::min(first, size);
    int64_t taken = std::min(count, size - skipped);
    first -= skipped;
    count -= taken;
    // The rest of a node, whole nodes, the beginning of one.
    int64_t used = skipped % group.devices;
    int64_t head = used ? std::min(taken, group.devices - used) : 0;
    add(group, 1, head);
    add(group, (taken - head) / group.devices, group.devices);
    add(group, 1, (taken - head) % group.devices);
  }
  return part;
}

static Cluster uniformCluster(int64_t nodeCount, int64_t devices,
                              const DeviceType &type) {
  Cluster cluster;
  cluster.nodes.push_back({nodeCount, type, devices});
  cluster.withinNode = type.within;
  cluster.betweenNodes = type.between;
  return cluster;
}

Expected<Cluster> clusterOfRanks(int64_t ranks) {
  if (ranks < 1 || ranks > APRT_MAX_RANKS)
    return createStringError("--ranks must be 1 or more and at most " +
                             Twine(APRT_MAX_RANKS) + ", not " + Twine(ranks));
  Expected<DeviceType> type = lookupDevice("cpu");
  if (!type)
    return type.takeError();
  return uniformCluster(1, ranks, *type);
}

/// Splits `16x8:a100-80gb@25`; false where the text has another form.
static bool splitShortForm(StringRef spec, int64_t &nodes, int64_t &devices,
                           StringRef &type, double &gigabytes) {
  auto [counts, rest] = spec.split(':');
  auto [nodeText, deviceText] = counts.split('x');
  StringRef speed;
  std::tie(type, speed) = rest.split('@');
  if (nodeText.getAsInteger(10, nodes) || deviceText.getAsInteger(10, devices))
    return false;
  if (type.empty() || nodes < 1 || devices < 1 || nodes > kMaxDevices ||
      devices > kMaxDevices || nodes * devices > kMaxDevices)
    return false;
  return !rest.contains('@') ||
         (!speed.getAsDouble(gigabytes) && gigabytes > 0);
}

/// The type of a name, or of the nodes of a file. Known names come first:
/// what is in the working folder does not change them.
static Expected<DeviceType> typeOf(StringRef name) {
  Expected<DeviceType> known = lookupDevice(name);
  if (known || !sys::fs::is_regular_file(name))
    return known;
  consumeError(known.takeError());
  Expected<Cluster> cluster = parseCluster(name);
  if (!cluster)
    return cluster.takeError();
  return cluster->nodes.front().type;
}

Expected<Cluster> parseShortForm(StringRef spec) {
  int64_t nodes = 0, devices = 0;
  double gigabytes = 0;
  StringRef typeName;
  if (!splitShortForm(spec, nodes, devices, typeName, gigabytes))
    return createStringError(
        "cluster '" + spec +
        "' is no file and not of the form NODESxDEVICES:TYPE[@GBps], for "
        "example 2x8:a100-80gb@25");
  if (gigabytes != 0 && !(gigabytes >= kLeastGBps && gigabytes <= kMostOfLink))
    return createStringError("cluster '" + spec +
                             "': the GBps must be from 1e-9 to 1e9");
  Expected<DeviceType> type = typeOf(typeName);
  if (!type)
    return type.takeError();
  Cluster cluster = uniformCluster(nodes, devices, *type);
  if (gigabytes > 0)
    cluster.betweenNodes.bytesPerSecond = gigabytes * 1e9;
  return cluster;
}

static std::string describe(const Link &link) {
  if (link.free)
    return "free links";
  if (link.bytesPerSecond < 1e7)
    return formatv("{0} {1} MB/s", link.kind, link.bytesPerSecond / 1e6);
  return formatv("{0} {1} GB/s", link.kind, link.bytesPerSecond / 1e9);
}

std::string describe(const Cluster &cluster) {
  std::string text;
  for (const NodeGroup &group : cluster.nodes) {
    text += formatv("{0}{1}x{2}:{3}", text.empty() ? "" : " + ", group.count,
                    group.devices, group.type.name);
    if (group.cores > 0)
      text += formatv(" on {0} cores", group.cores);
  }
  auto add = [&](ArrayRef<LinkGroups> levels, StringRef what) {
    for (const LinkGroups &level : levels)
      text += formatv(", {0} among {1} {2}", describe(level.link), level.size,
                      what);
  };
  add(cluster.deviceGroups, "devices");
  text += ", " + describe(cluster.withinNode) + " in a node";
  if (cluster.nodeOf(cluster.deviceCount() - 1) == 0)
    return text;
  add(cluster.nodeGroups, "nodes");
  return text + ", " + describe(cluster.betweenNodes) + " between nodes";
}

} // namespace autopar
