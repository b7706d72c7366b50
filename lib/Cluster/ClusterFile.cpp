//===- ClusterFile.cpp - Clusters as JSON ---------------------------------===//

#include "ClusterLimits.h"
#include "autopar/Support/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

#include <cmath>

using namespace llvm;

namespace autopar {

namespace {

/// Reads one cluster; every complaint names the file.
class Reader {
public:
  explicit Reader(StringRef name) : name(name) {}
  Expected<Cluster> read(const json::Value &value);

private:
  Error fail(const Twine &what) const {
    return createStringError("cluster file " + name + ": " + what);
  }
  Error unknownKeys(const json::Object &object,
                    ArrayRef<StringRef> known) const;
  Expected<int64_t> count(const json::Object &node, StringRef key) const;
  Error readType(const json::Value &value);
  Expected<DeviceType> typeCalled(StringRef typeName) const;
  Error readNode(const json::Value &value);
  Error readKind(const json::Object &object, Link &link) const;
  Error readLink(const json::Value &value);
  Error readSpeed(const json::Object &object, Link &link) const;
  Expected<Link *> addGroups(const json::Object &object, StringRef key);
  Error checkGroups(const json::Object &object, ArrayRef<LinkGroups> levels,
                    StringRef key, int64_t most, int64_t &before) const;

  StringRef name;
  std::vector<DeviceType> types; // the types that the file describes
  bool withinTold = false, betweenTold = false; // by a link
  Cluster cluster;
};

} // namespace

Error Reader::unknownKeys(const json::Object &object,
                          ArrayRef<StringRef> known) const {
  for (const auto &entry : object)
    if (!is_contained(known, StringRef(entry.first)))
      return fail("unknown key '" + StringRef(entry.first) +
                  "'; known keys: " + join(known, ", "));
  return Error::success();
}

Expected<int64_t> Reader::count(const json::Object &node, StringRef key) const {
  if (!node.get(key))
    return 1;
  std::optional<int64_t> value = node.getInteger(key);
  if (!value || *value < 1 || *value > kMaxDevices)
    return fail("'" + key +
                "' of a node must be an integer of 1 or more, at most " +
                Twine(kMaxDevices));
  return *value;
}

Error Reader::readType(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("each of 'types' must be an object");
  Expected<DeviceType> type = deviceFromJSON(*object, name);
  if (!type)
    return type.takeError();
  types.push_back(*type);
  return Error::success();
}

Expected<DeviceType> Reader::typeCalled(StringRef typeName) const {
  for (const DeviceType &type : types)
    if (type.name == typeName)
      return type;
  return lookupDevice(typeName);
}

Error Reader::readNode(const json::Value &value) {
  const json::Object *node = value.getAsObject();
  if (!node)
    return fail("each of 'nodes' must be an object");
  if (Error error = unknownKeys(*node, {"count", "type", "devices", "cores"}))
    return error;
  std::optional<StringRef> typeName = node->getString("type");
  if (!typeName)
    return fail("a node needs a 'type', for example \"a100-80gb\" or \"cpu\"");
  Expected<DeviceType> type = typeCalled(*typeName);
  if (!type)
    return fail(toString(type.takeError()));
  Expected<int64_t> nodes = count(*node, "count");
  if (!nodes)
    return nodes.takeError();
  Expected<int64_t> devices = count(*node, "devices");
  if (!devices)
    return devices.takeError();
  int64_t cores = 0;
  if (node->get("cores")) {
    Expected<int64_t> given = count(*node, "cores");
    if (!given)
      return given.takeError();
    if (type->kind != "cpu")
      return fail("'cores' are shared by ranks on processors: type '" +
                  type->name + "' has none");
    cores = *given;
  }
  cluster.nodes.push_back({*nodes, *type, *devices, cores});
  if (cluster.deviceCount() > kMaxDevices)
    return fail("the nodes have more than " + Twine(kMaxDevices) + " devices");
  if (type->kind != cluster.nodes.front().type.kind)
    return fail("the nodes have devices of kind '" +
                cluster.nodes.front().type.kind + "' and of kind '" +
                type->kind + "': a program is for one kind");
  return Error::success();
}

/// A link of another kind than the device's own is as fast as the file says;
/// latencies of networks are known.
Error Reader::readKind(const json::Object &object, Link &link) const {
  if (!object.get("kind"))
    return Error::success();
  std::optional<StringRef> kind = object.getString("kind");
  if (!kind || !is_contained(kLinkKinds, *kind))
    return fail("'kind' of a link must be one of " +
                join(ArrayRef(kLinkKinds), ", "));
  bool same = *kind == link.kind ||
              (*kind == "nvswitch" && link.kind == "nvlink"); // links to it
  link.free = *kind == "free";
  std::optional<Network> network;
  if (cluster.slowest().kind == "gpu") // the table's latencies are NCCL's
    network = lookupNetwork(*kind);
  if (!same && network)
    link.latencySeconds = network->latencySeconds;
  if (!same && !link.free)
    for (StringRef key : {"GBps", "latency_us"})
      if (!object.get(key) && !(network && key == "latency_us"))
        return fail("a link of kind '" + *kind + "' needs '" + key +
                    "': what is known of the cluster's devices is of kind '" +
                    link.kind + "'");
  link.kind = kind->str();
  return Error::success();
}

/// A level of groups of as many devices or nodes as `key` says.
Expected<Link *> Reader::addGroups(const json::Object &object, StringRef key) {
  bool within = key == "devices";
  std::optional<int64_t> size = object.getInteger(key);
  if (!size || *size < 2 || *size > kMaxDevices)
    return fail("'" + key +
                "' of a link is how many neighbours it connects: 2 or more, at "
                "most " +
                Twine(kMaxDevices));
  SmallVector<LinkGroups, 0> &levels =
      within ? cluster.deviceGroups : cluster.nodeGroups;
  LinkGroups *at = llvm::find_if(
      levels, [&](const LinkGroups &other) { return other.size >= *size; });
  if (at != levels.end() && at->size == *size)
    return fail("two links connect " + Twine(*size) + " " + key);
  if (!object.get("GBps") && object.getString("kind") != StringRef("free"))
    return fail(
        "the link among " + Twine(*size) + " " + key +
        " needs 'GBps', or to be \"free\": without it is as others are");
  const DeviceType slowest = cluster.slowest();
  at = levels.insert(at, {*size, within ? slowest.within : slowest.between});
  return &at->link;
}

/// Groups lie in groups, and the largest in what it is a part of. Reads where
/// in it the cluster begins.
Error Reader::checkGroups(const json::Object &object,
                          ArrayRef<LinkGroups> levels, StringRef key,
                          int64_t most, int64_t &before) const {
  std::string begin = (key + "_before").str();
  if (object.get(begin)) {
    int64_t size = levels.empty() ? 1 : levels.back().size;
    std::optional<int64_t> given = object.getInteger(begin);
    if (!given || *given < 0 || *given >= size)
      return fail("'" + begin + "' must be an integer from 0 to " +
                  Twine(size - 1) + ": how many " + key +
                  " of the first group are no part of the cluster");
    before = *given;
  }
  for (size_t i = 1; i < levels.size(); ++i)
    if (levels[i].size % levels[i - 1].size != 0)
      return fail("groups of " + Twine(levels[i - 1].size) + " " + key +
                  " do not fill groups of " + Twine(levels[i].size));
  if (!levels.empty() && before == 0 && levels.back().size >= most)
    return fail("a link among " + Twine(levels.back().size) + " " + key +
                " connects all there are (" + Twine(most) + "): leave '" + key +
                "' out");
  return Error::success();
}

Error Reader::readLink(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("each of 'links' must be an object");
  bool within = object->getString("within") == StringRef("node");
  bool between = object->getString("between") == StringRef("nodes");
  if (within == between)
    return fail("a link is either {\"within\": \"node\"} or {\"between\": "
                "\"nodes\"}");
  StringRef size = within ? "devices" : "nodes";
  if (Error error = unknownKeys(*object, {within ? "within" : "between", size,
                                          "kind", "GBps", "latency_us"}))
    return error;
  Link *link = within ? &cluster.withinNode : &cluster.betweenNodes;
  if (object->get(size)) {
    Expected<Link *> added = addGroups(*object, size);
    if (!added)
      return added.takeError();
    link = *added;
  } else if (std::exchange(within ? withinTold : betweenTold, true)) {
    return fail(
        "two links are " + Twine(within ? "within a node" : "between nodes") +
        ": there is one of each, beside those among fewer '" + size + "'");
  }
  if (Error error = readKind(*object, *link))
    return error;
  return readSpeed(*object, *link);
}

Error Reader::readSpeed(const json::Object &object, Link &link) const {
  if (object.get("GBps")) {
    std::optional<double> speed = object.getNumber("GBps");
    if (!speed || !(*speed >= kLeastGBps) || *speed > kMostOfLink)
      return fail(
          "'GBps' of a link must be a number above 0, from 1e-9 to 1e9");
    link.bytesPerSecond = *speed * 1e9;
  }
  if (object.get("latency_us")) {
    std::optional<double> latency = object.getNumber("latency_us");
    if (!latency || !(*latency >= 0) || *latency > kMostOfLink)
      return fail("'latency_us' of a link must be a number of 0 or more, up to "
                  "1e9");
    link.latencySeconds = *latency * 1e-6;
  }
  return Error::success();
}

Expected<Cluster> Reader::read(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("must be a JSON object with 'nodes' and 'links'");
  if (Error error = unknownKeys(*object, {"nodes", "links", "types",
                                          "devices_before", "nodes_before"}))
    return std::move(error);
  if (object->get("types") && !object->getArray("types"))
    return fail("'types' must be a list");
  if (const json::Array *described = object->getArray("types"))
    for (const json::Value &type : *described)
      if (Error error = readType(type))
        return std::move(error);
  const json::Array *nodes = object->getArray("nodes");
  if (!nodes || nodes->empty())
    return fail("needs 'nodes', a list such as [{\"count\": 1, \"type\": "
                "\"cpu\", \"devices\": 4}]");
  for (const json::Value &node : *nodes)
    if (Error error = readNode(node))
      return std::move(error);
  cluster.withinNode = cluster.slowest().within;
  cluster.betweenNodes = cluster.slowest().between;
  if (!object->get("links"))
    return std::move(cluster);
  const json::Array *links = object->getArray("links");
  if (!links)
    return fail("'links' must be a list");
  for (const json::Value &link : *links)
    if (Error error = readLink(link))
      return std::move(error);
  int64_t mostDevices = 0, nodeCount = 0;
  for (const NodeGroup &group : cluster.nodes) {
    mostDevices = std::max(mostDevices, group.devices);
    nodeCount += group.count;
  }
  if (Error error = checkGroups(*object, cluster.deviceGroups, "devices",
                                mostDevices, cluster.devicesBefore))
    return std::move(error);
  if (Error error = checkGroups(*object, cluster.nodeGroups, "nodes", nodeCount,
                                cluster.nodesBefore))
    return std::move(error);
  return std::move(cluster);
}

Expected<Cluster> clusterFromJSON(const json::Value &value, StringRef name) {
  return Reader(name).read(value);
}

Expected<Cluster> parseCluster(StringRef spec) {
  if (!sys::fs::exists(spec))
    return parseShortForm(spec);
  Expected<json::Value> value = readJsonFile("cluster file", spec);
  if (!value)
    return value.takeError();
  return clusterFromJSON(*value, spec);
}

static json::Object linkToJSON(const Link &link, StringRef key,
                               StringRef value) {
  json::Object object{{key, value}, {"kind", link.kind}};
  if (!link.free) {
    object["GBps"] = link.bytesPerSecond / 1e9;
    // Rounds to picoseconds, so that reading and writing again changes nothing.
    object["latency_us"] = std::round(link.latencySeconds * 1e12) / 1e6;
  }
  return object;
}

json::Value toJSON(const Cluster &cluster) {
  json::Array nodes, types;
  StringSet<> described;
  for (const NodeGroup &group : cluster.nodes)
    if (group.type.fromFile && described.insert(group.type.name).second)
      types.push_back(toJSON(group.type));
  for (const NodeGroup &group : cluster.nodes) {
    json::Object node{{"count", group.count},
                      {"type", group.type.name},
                      {"devices", group.devices}};
    if (group.cores > 0)
      node["cores"] = group.cores;
    nodes.push_back(std::move(node));
  }
  json::Array links;
  auto add = [&](ArrayRef<LinkGroups> levels, const Link &outermost,
                 StringRef key, StringRef value, StringRef size) {
    links.push_back(linkToJSON(outermost, key, value));
    for (const LinkGroups &level : levels) {
      json::Object link = linkToJSON(level.link, key, value);
      link[size] = level.size;
      links.push_back(std::move(link));
    }
  };
  add(cluster.deviceGroups, cluster.withinNode, "within", "node", "devices");
  add(cluster.nodeGroups, cluster.betweenNodes, "between", "nodes", "nodes");
  json::Object object{{"nodes", std::move(nodes)}, {"links", std::move(links)}};
  if (!types.empty())
    object["types"] = std::move(types);
  if (cluster.devicesBefore > 0)
    object["devices_before"] = cluster.devicesBefore;
  if (cluster.nodesBefore > 0)
    object["nodes_before"] = cluster.nodesBefore;
  return object;
}

} // namespace autopar
