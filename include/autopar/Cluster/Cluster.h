//===- Cluster.h - The machine that a plan is made for --------------------===//
//
// Nodes with devices and alpha-beta links. No MLIR here.
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

/// What a link can be; "free" costs nothing at all.
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
  /// Of a kernel's computing and its memory traffic: the share of the shorter
  /// that goes on while the longer does (0 to 1).
  double overlap = 1;
  /// NCCL's kernels: one launch beyond its hops; the rate of a tensor through a
  /// kernel and of its LL protocol, 0 where neither is a limit; NVLS.
  double collectiveSeconds = 0;
  double collectiveBytesPerSecond = 0, lowLatencyBytesPerSecond = 0;
  bool switchesReduce = false;
  Link within, between;  // unless the cluster says otherwise
  bool fromFile = false; // described in a cluster file, not in the table
};

struct NodeGroup {
  int64_t count = 1;
  DeviceType type;
  int64_t devices = 1; // on each node
  /// Of each node, which its devices share: ranks on processors; 0: each device
  /// has its own.
  int64_t cores = 0;
  /// Of the devices of a part of a node: the share that they have beside the
  /// other parts that work; 0: the node is whole.
  double partShare = 0;

  /// Of a core, for each device when all of them work.
  double share() const {
    if (partShare > 0)
      return partShare;
    return cores > 0 && cores < devices ? double(cores) / double(devices) : 1;
  }
  /// The type, at the rates of the share.
  DeviceType sharedType() const;
};

/// The link among neighbours: the first `size` devices of a node, or nodes of
/// the cluster, the next ones, and so on.
struct LinkGroups {
  int64_t size;
  Link link;
};

/// Devices are numbered node by node.
struct Cluster {
  llvm::SmallVector<NodeGroup, 1> nodes;
  Link withinNode, betweenNodes;
  /// Levels below these two, the smallest groups first; each size is a multiple
  /// of the one before.
  llvm::SmallVector<LinkGroups, 0> deviceGroups, nodeGroups;
  /// Of a part of a cluster: how many devices of its first node, and nodes,
  /// come before it in the largest groups that it begins in.
  int64_t devicesBefore = 0, nodesBefore = 0;

  int64_t deviceCount() const;
  int64_t nodeOf(int64_t device) const;
  /// All links, nearest first: of groups of devices, within a node, of groups
  /// of nodes, between nodes.
  llvm::SmallVector<Link> links() const;
  /// Which of them two devices talk over: that of the smallest group that both
  /// are in.
  unsigned linkBetween(int64_t a, int64_t b) const;
  /// The type that every even split waits for.
  DeviceType slowest() const;
  /// The least memory that a device has; 0: that of none is known.
  int64_t memoryBytes() const;
  /// `count` devices from `first` on, on the nodes that they are on, without
  /// the levels that all of them are in a group of. `atOnce`: how many such
  /// parts work at a time, and share a node's cores; 0: all.
  Cluster part(int64_t first, int64_t count, int64_t atOnce = 0) const;
};

/// The type of that name; the error lists those known.
llvm::Expected<DeviceType> lookupDevice(llvm::StringRef name);

/// The type of a GPU that the driver calls so, as "NVIDIA H100 80GB HBM3".
std::optional<DeviceType> deviceOfDriverName(llvm::StringRef driverName);

/// The known GPU that talks slowest to its neighbours.
DeviceType slowestLinkedGpu();

/// The row of data/networks.csv; none for links within a node.
std::optional<Network> lookupNetwork(llvm::StringRef kind);

/// The network that words such as "EFA 8x50GB/s" name.
std::optional<Network> networkOfDescription(llvm::StringRef description);

/// A type as a cluster file's "types" describe it: the columns of the table.
/// `name` is what messages call the file.
llvm::Expected<DeviceType> deviceFromJSON(const llvm::json::Object &object,
                                          llvm::StringRef name);
llvm::json::Object toJSON(const DeviceType &type);

/// N CPU ranks on this host.
llvm::Expected<Cluster> clusterOfRanks(int64_t ranks);

/// `NODESxDEVICES:TYPE[@GBps]`, or the path of a cluster file. TYPE may be a
/// cluster file too, as `autopar calibrate` writes it: the type of its nodes.
llvm::Expected<Cluster> parseCluster(llvm::StringRef spec);

/// The cluster file's format; `name` is what messages call it.
llvm::Expected<Cluster> clusterFromJSON(const llvm::json::Value &value,
                                        llvm::StringRef name);
llvm::json::Value toJSON(const Cluster &cluster);

/// `2x8:a100-80gb, nvlink 300 GB/s in a node, network 25 GB/s between nodes`.
std::string describe(const Cluster &cluster);

} // namespace autopar

#endif // AUTOPAR_CLUSTER_CLUSTER_H
