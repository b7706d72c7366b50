//===- Messages.cpp - Messages between stages -----------------------------===//

#include "autopar/Planning/Plan/Messages.h"
#include "autopar/Planning/Model/Strategies.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace llvm;

namespace autopar {

std::vector<StageMessage>
messagesOf(const ModelGraph &graph, const Plan &plan,
           const CommunicationModel &communication,
           function_ref<WantedSharding(const GraphUse &)> wanted) {
  std::vector<StageMessage> messages;
  SharedReshards<unsigned, bool> isSent; // by receiving stage
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (!graph.isMadeInOneStage(value))
      continue;
    int64_t from = plan.ops[value.producer].stage;
    for (const GraphUse &use : value.uses) {
      int64_t to = plan.ops[use.op].stage;
      if (to == from)
        continue;
      WantedSharding way = wanted(use);
      if (std::exchange(isSent.find(index, way, to), true))
        continue;
      int64_t bytes = localBytes(value, way.sharding, plan.mesh);
      messages.push_back(
          {from, to, bytes, communication.sendSeconds(bytes, from, to)});
    }
  }
  return messages;
}

std::vector<StageMessage> messagesOf(const ModelGraph &graph, const Plan &plan,
                                     const CommunicationModel &communication) {
  return messagesOf(graph, plan, communication, [&](const GraphUse &use) {
    unsigned value = graph.ops[use.op].operands[use.operand];
    return WantedSharding{plan.values[value].sharding, {}};
  });
}

} // namespace autopar
