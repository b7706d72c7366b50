//===- Messages.cpp - What stages send each other -------------------------===//

#include "Messages.h"
#include "Strategies.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace llvm;

namespace autopar {

std::vector<StageMessage> messagesOf(const ModelGraph &graph, const Plan &plan,
                                     const CommunicationModel &communication) {
  std::vector<StageMessage> messages;
  for (const auto &[index, value] : enumerate(graph.values)) {
    if (value.source != ValueSource::Op || !value.fromInput)
      continue;
    std::set<int64_t> readers;
    for (const GraphUse &use : value.uses)
      readers.insert(plan.ops[use.op].stage);
    int64_t from = plan.ops[value.producer].stage;
    readers.erase(from);
    int64_t bytes = localBytes(value, plan.values[index].sharding, plan.mesh);
    for (int64_t to : readers)
      messages.push_back(
          {from, to, bytes, communication.sendSeconds(bytes, from, to)});
  }
  return messages;
}

} // namespace autopar
