//===- Cluster.h - The machine that a plan is made for --------------------===//
//
// A cluster has nodes, nodes have devices, and links between them cost a
// latency and a time per byte (alpha and beta). This header uses no MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_CLUSTER_CLUSTER_H
#define AUTOPAR_CLUSTER_CLUSTER_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>

namespace autopar {

/// The kinds of links; a link of kind "free" costs nothing, not even latency.
inline constexpr llvm::StringRef kLinkKinds[] = {
    "nvlink",     "nvswitch", "pcie", "shared-memory", "network",
    "infiniband", "ethernet", "efa",  "free"};

/// A message of b bytes takes latencySeconds + b / bytesPerSecond.
struct Link {
  std::string kind; // one of kLinkKinds
  double latencySeconds = 0;
  double bytesPerSecond = 0;
  bool free = false;
};

/// One row of data/networks.csv: a kind of link between nodes.
struct Network {
  std::string kind;
  double latencySeconds = 0;
  bool inOrder = true; // messages arrive in the order sent
};

/// One row of data/devices.csv, in units of seconds, bytes and flops.
struct DeviceType {
  std::string name;
  std::string kind; // "cpu" or "gpu"
  double fp32Flops = 0, tf32Flops = 0, fp16Flops = 0, bf16Flops = 0;
  double memoryBytesPerSecond = 0;
  int64_t memoryBytes = 0;
  double launchSeconds = 0;
  /// Share of the peaks that large kernels reach.
  double gemmEfficiency = 1, memoryEfficiency = 1;
  /// A kernel computes and moves memory. This share (0 to 1) of the shorter of
  /// the two is hidden behind the longer.
  double overlap = 1;
  /// NCCL: the seconds of a collective beside its hops; the rate of a tensor
  /// through NCCL's kernel and the most that the protocol LL moves (0: no
  /// limit); whether the switches of a node reduce (NVLS).
  double collectiveSeconds = 0;
  double collectiveBytesPerSecond = 0, lowLatencyBytesPerSecond = 0;
  bool switchesReduce = false;
  Link within, between;  // used unless the cluster has links of its own
  bool fromFile = false; // described in a cluster file, not in the table
};

struct NodeGroup {
  int64_t count = 1;
  DeviceType type;
  int64_t devices = 1; // on each node
  /// CPU ranks: the devices of a node share so many cores. 0: each device has
  /// cores of its own.
  int64_t cores = 0;
  /// The group is a part of a node, whose devices get this share of a core
  /// beside the other parts that work at the same time. 0: the node is whole.
  double partShare = 0;

  /// The share of a core that each device has when all devices of the node
  /// work.
  double share() const {
    if (partShare > 0)
      return partShare;
    return cores > 0 && cores < devices ? double(cores) / double(devices) : 1;
  }
  /// The type with its rates multiplied by share().
  DeviceType sharedType() const;
};

/// A link among neighbours: among the first `size` devices of a node (or nodes
/// of the cluster), among the next `size`, and so on. Example: pairs with
/// NVLink in a node whose devices otherwise talk over PCIe.
struct LinkGroups {
  int64_t size;
  Link link;
};

/// The machine that a plan is made for. Devices are numbered node by node.
struct Cluster {
  llvm::SmallVector<NodeGroup, 1> nodes;
  Link withinNode, betweenNodes;
  /// Links among fewer devices or nodes than these two, the smallest groups
  /// first. Each size is a multiple of the one before.
  llvm::SmallVector<LinkGroups, 0> deviceGroups, nodeGroups;
  /// This cluster is a part of another one: so many devices of its first node,
  /// and so many nodes, come before it in the largest groups in which it
  /// begins.
  int64_t devicesBefore = 0, nodesBefore = 0;

  int64_t deviceCount() const;
  int64_t nodeOf(int64_t device) const;
  /// All links, nearest first: deviceGroups, withinNode, nodeGroups,
  /// betweenNodes.
  llvm::SmallVector<Link> links() const;
  /// The index in links() of the link that two devices talk over: the link of
  /// the smallest group that has both.
  unsigned linkBetween(int64_t a, int64_t b) const;
  /// The type with the lowest rate of fp32, at its share of a core: if work is
  /// split evenly, all devices wait for it.
  DeviceType slowest() const;
  /// The least memory that a device has; 0 if no device's memory is known.
  int64_t memoryBytes() const;
  /// The cluster of `count` devices from `first` on, with their nodes. A level
  /// of links whose one group has all of them is left out; its link becomes the
  /// outermost one. `atOnce` such parts work at a time and share a node's
  /// cores; 0: all parts do.
  Cluster part(int64_t first, int64_t count, int64_t atOnce = 0) const;
};

/// The type of that name. The error lists the names that are known.
llvm::Expected<DeviceType> lookupDevice(llvm::StringRef name);

/// The type of the GPU that the driver calls `driverName`, such as "NVIDIA H100
/// 80GB HBM3".
std::optional<DeviceType> deviceOfDriverName(llvm::StringRef driverName);

/// The GPU of the table whose link within a node has the lowest rate.
DeviceType slowestLinkedGpu();

/// The row of data/networks.csv for that kind; nothing for a kind of link
/// within a node.
std::optional<Network> lookupNetwork(llvm::StringRef kind);

/// The network that a description such as "EFA 8x50GB/s" names.
std::optional<Network> networkOfDescription(llvm::StringRef description);

/// Reads a type as an entry of "types" in a cluster file describes it, with the
/// columns of the table as keys. Messages call the file `name`.
llvm::Expected<DeviceType> deviceFromJSON(const llvm::json::Object &object,
                                          llvm::StringRef name);
llvm::json::Object toJSON(const DeviceType &type);

/// N CPU ranks on this host.
llvm::Expected<Cluster> clusterOfRanks(int64_t ranks);

/// `NODESxDEVICES:TYPE[@GBps]`, or the path of a cluster file. TYPE may be a
/// cluster file too, as `autopar calibrate` writes it: the type of its nodes.
llvm::Expected<Cluster> parseCluster(llvm::StringRef spec);

/// Reads a cluster file (docs/ClusterFile.md). Messages call the file `name`.
llvm::Expected<Cluster> clusterFromJSON(const llvm::json::Value &value,
                                        llvm::StringRef name);
llvm::json::Value toJSON(const Cluster &cluster);

/// `2x8:a100-80gb, nvlink 300 GB/s in a node, network 25 GB/s between nodes`.
std::string describe(const Cluster &cluster);

} // namespace autopar

#endif // AUTOPAR_CLUSTER_CLUSTER_H
