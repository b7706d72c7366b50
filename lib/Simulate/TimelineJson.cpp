//===- TimelineJson.cpp - A simulated step for programs -------------------===//

#include "autopar/Simulate/Simulate.h"

using namespace llvm;

namespace autopar {

json::Object toJSON(const SimulatedProgram &program, const Timeline &timeline) {
  json::Array stages;
  for (const StageTimes &stage : timeline.stages)
    stages.push_back(
        json::Object{{"compute_seconds", stage.computing},
                     {"communication_seconds", stage.communication},
                     {"message_seconds", stage.messages},
                     {"exposed_seconds", stage.exposed},
                     {"idle_seconds", stage.idle},
                     {"held_bytes", stage.heldBytes}});
  return json::Object{{"step_seconds", timeline.seconds},
                      {"micro_batches", program.microBatches},
                      {"replayed_steps", program.steps},
                      {"devices_per_stage", program.devicesPerStage},
                      {"stages", std::move(stages)}};
}

} // namespace autopar
