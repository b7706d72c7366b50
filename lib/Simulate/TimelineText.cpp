//===- TimelineText.cpp - The table of a simulated step -------------------===//

#include "autopar/Simulate/Simulate.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

std::string timelineText(const SimulatedProgram &program,
                         const Timeline &timeline) {
  constexpr size_t kShownStages = 32;
  std::string text =
      formatv("step         {0} simulated", secondsText(timeline.seconds));
  if (program.stages.size() > 1)
    text += formatv(", {0} stages, {1} micro-batches", program.stages.size(),
                    program.microBatches);
  if (program.steps > 1)
    text += formatv(", {0} steps that overlap", program.steps);
  text += "\n";
  for (auto [index, stage] :
       enumerate(ArrayRef(timeline.stages).take_front(kShownStages))) {
    double share =
        timeline.seconds > 0 ? stage.computing / timeline.seconds : 0;
    text += formatv(
        "  {0,-11}{1} computing ({2:P1} of the step), {3} communication",
        program.stages.size() > 1 ? formatv("stage {0}", index).str()
                                  : std::string("a device"),
        secondsText(stage.computing), share, secondsText(stage.communication));
    if (program.stages.size() > 1)
      text += formatv(", {0} messages", secondsText(stage.messages));
    text +=
        formatv(" ({0} exposed), {1} idle, {2}\n", secondsText(stage.exposed),
                secondsText(stage.idle), bytesText(double(stage.heldBytes)));
  }
  if (timeline.stages.size() > kShownStages)
    text += formatv("  and {0} other stages\n",
                    timeline.stages.size() - kShownStages);
  return text;
}

} // namespace autopar
