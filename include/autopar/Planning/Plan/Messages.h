//===- Messages.h - Messages between stages ---------------------*- C++ -*-===//

#ifndef AUTOPAR_PLANNING_PLAN_MESSAGES_H
#define AUTOPAR_PLANNING_PLAN_MESSAGES_H

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Planning/Plan/Plan.h"
#include "autopar/Planning/Plan/SharedReshards.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace autopar {

/// A message that one device sends in each micro-batch.
struct StageMessage {
  int64_t from, to; // stages
  int64_t bytes;
  double seconds; // for which both stages are busy
};

/// Returns the messages that the search prices: a value goes once to each later
/// stage that reads it, in its planned sharding.
std::vector<StageMessage> messagesOf(const ModelGraph &graph, const Plan &plan,
                                     const CommunicationModel &communication);
/// Returns the messages that Partition makes: a value goes to a later stage
/// once in each sharding that the stage wants.
std::vector<StageMessage>
messagesOf(const ModelGraph &graph, const Plan &plan,
           const CommunicationModel &communication,
           llvm::function_ref<WantedSharding(const GraphUse &)> wanted);

} // namespace autopar

#endif // AUTOPAR_PLANNING_PLAN_MESSAGES_H
