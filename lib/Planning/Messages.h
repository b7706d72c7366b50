//===- Messages.h - What stages send each other -----------------*- C++ -*-===//

#ifndef AUTOPAR_LIB_PLANNING_MESSAGES_H
#define AUTOPAR_LIB_PLANNING_MESSAGES_H

#include "autopar/Cost/CommunicationModel.h"
#include "autopar/Planning/Plan.h"

namespace autopar {

/// Of one device, in each micro-batch.
struct StageMessage {
  int64_t from, to; // stages
  int64_t bytes;
  double seconds; // that both are busy with it
};

/// A value goes once to each later stage that reads it.
std::vector<StageMessage> messagesOf(const ModelGraph &graph, const Plan &plan,
                                     const CommunicationModel &communication);

} // namespace autopar

#endif // AUTOPAR_LIB_PLANNING_MESSAGES_H
