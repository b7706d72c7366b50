//===- DeviceFacts.cpp - Devices, links and what goes over them -----------===//

#include "PageFacts.h"
#include "autopar/Cost/CommunicationModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

static json::Object linkToJSON(const Link &link) {
  return json::Object{{"kind", link.kind},
                      {"free", link.free},
                      {"latency_seconds", link.latencySeconds},
                      {"bytes_per_second", link.bytesPerSecond}};
}

static json::Array nodesToJSON(const Cluster &cluster) {
  json::Array groups;
  for (const NodeGroup &group : cluster.nodes)
    groups.push_back(json::Object{{"count", group.count},
                                  {"devices", group.devices},
                                  {"type", readable(group.type.name)},
                                  {"memory_bytes", group.type.memoryBytes}});
  return groups;
}

/// Returns the types of each stage's devices and the bytes that each may hold,
/// or 0 if no limit is known.
static json::Array stagesToJSON(const Plan &plan) {
  int64_t devices = plan.mesh.deviceCount(), asked = plan.askedMemoryLimit();
  json::Array stages;
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    Cluster part = plan.cluster.part(stage * devices, devices);
    SetVector<StringRef> types;
    for (const NodeGroup &group : part.nodes)
      types.insert(group.type.name);
    stages.push_back(json::Object{
        {"type", readable(join(types, ", "))},
        {"memory_limit_bytes", asked ? asked : part.memoryBytes()}});
  }
  return stages;
}

/// Returns a collective with the devices that device 0 communicates with, and
/// the largest number of nodes that a communicator of the first stage spans.
static json::Object collectiveToJSON(const PlannedCollective &item,
                                     const Plan &plan,
                                     CommunicationModel &model) {
  int64_t nodes = 1;
  for (const CommunicatorShape &shape : model.shapesOf(item.subAxes))
    nodes = std::max(nodes, shape.nodes);
  json::Array axes, members;
  for (std::string &axis : plan.mesh.spell(item.subAxes))
    axes.push_back(std::move(axis));
  for (int64_t device : plan.mesh.group(item.subAxes, 0))
    members.push_back(device);
  return json::Object{{"kind", item.kind},
                      {"axes", std::move(axes)},
                      {"bytes", item.bytes},
                      {"count", item.count},
                      {"seconds", item.seconds},
                      {"nodes", nodes},
                      {"members", std::move(members)}};
}

/// Returns whether devices of the stages and their counterparts share a node.
static bool shareNodes(const Plan &plan, int64_t from, int64_t to) {
  int64_t devices = plan.mesh.deviceCount();
  return llvm::all_of(llvm::seq(devices), [&](int64_t device) {
    return plan.cluster.nodeOf(from * devices + device) ==
           plan.cluster.nodeOf(to * devices + device);
  });
}

json::Object devicesToJSON(const PlanFacts &facts, const PlanReport &report) {
  const Plan &plan = report.plan;
  CommunicationModel model(plan.cluster, plan.mesh);
  json::Array collectives, messages;
  for (const PlannedCollective &item : plan.collectives)
    collectives.push_back(collectiveToJSON(item, plan, model));
  for (const StageTraffic &item : facts.traffic)
    messages.push_back(
        json::Object{{"from", item.from},
                     {"to", item.to},
                     {"messages", item.messages},
                     {"bytes", item.bytes},
                     {"seconds", item.seconds},
                     {"same_node", shareNodes(plan, item.from, item.to)}});
  return json::Object{{"nodes", nodesToJSON(plan.cluster)},
                      {"stages", stagesToJSON(plan)},
                      {"devices_per_stage", plan.mesh.deviceCount()},
                      {"device_groups", !plan.cluster.deviceGroups.empty()},
                      {"node_groups", !plan.cluster.nodeGroups.empty()},
                      {"within_node", linkToJSON(plan.cluster.withinNode)},
                      {"between_nodes", linkToJSON(plan.cluster.betweenNodes)},
                      {"collectives", std::move(collectives)},
                      {"messages", std::move(messages)}};
}

} // namespace autopar
