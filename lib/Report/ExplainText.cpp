//===- ExplainText.cpp - Parts of plans in words --------------------------===//

#include "ExplainText.h"
#include "autopar/Planning/Model/ChoiceText.h"
#include "autopar/Report/PlanText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace autopar {

std::string strategyText(
    const Assignment &assignment, const Mesh &mesh,
    function_ref<std::string(unsigned axis, const Choice &choice)> note) {
  SmallVector<std::string> parts;
  for (const auto &[index, axis] : enumerate(mesh.axes())) {
    SmallVector<unsigned> subAxes = *mesh.lookup(axis.name);
    bool same = all_of(subAxes, [&](unsigned subAxis) {
      return assignment[subAxis] == assignment[subAxes.front()];
    });
    for (unsigned subAxis :
         same ? ArrayRef(subAxes).take_front(1) : ArrayRef(subAxes))
      if (assignment[subAxis].kind != Choice::None)
        parts.push_back((same ? axis.name : mesh.subAxes()[subAxis].name) +
                        ": " + toString(assignment[subAxis]) +
                        note(index, assignment[subAxis]));
  }
  return parts.empty() ? "replicated" : join(parts, ", ");
}

static std::string placeText(const ReshardPlace &place, const ModelGraph &graph,
                             const Mesh &mesh) {
  std::string name = "tensor " + graph.values[place.value].name;
  std::string from = toString(place.from, mesh), to = toString(place.to, mesh);
  if (!place.op)
    return name + " is sharded " + from + ", returned as " + to;
  std::string op = "op " + graph.ops[*place.op].name;
  if (place.result)
    return op + " gives " + name + " as " + from + ", users want " + to;
  return name + " is sharded " + from + ", " + op + " wants " + to;
}

static std::string stepsText(const ReshardPath &path, const Mesh &mesh) {
  SmallVector<std::string> parts;
  for (const ReshardStep &step : path)
    if (!isLocal(step.kind))
      parts.push_back(
          formatv("{0} over {1} of {2}", stringifyReshardKind(step.kind),
                  join(mesh.spell(step.subAxes), "+"), bytesText(step.bytes)));
  return join(parts, ", ");
}

std::string reshardText(const ReshardPlace &place, const ModelGraph &graph,
                        const Mesh &mesh) {
  return stepsText(place.path, mesh) + ": " + placeText(place, graph, mesh);
}

std::string stagesText(ArrayRef<StageCost> stages, const Plan &plan) {
  constexpr size_t kShownStages = 32;
  std::string text;
  StagePlaces places(plan.cluster, plan.pipeline());
  for (auto [index, stage] : enumerate(stages.take_front(kShownStages))) {
    text +=
        formatv("  {0,-11}{1} computing, {2} communication",
                plan.stages > 1 ? formatv("stage {0}", index).str()
                                : std::string("a device"),
                secondsText(stage.compute), secondsText(stage.communication));
    if (plan.stages > 1)
      text += formatv(
          ", {0} messages, {1} idle", secondsText(stage.messages),
          secondsText(std::max(0.0, plan.predictedStepSeconds - stage.busy())));
    if (plan.cluster.nodes.size() > 1)
      text += " on " + places.of(index).slowest().name;
    text += "\n";
  }
  if (stages.size() > kShownStages)
    text += formatv("  and {0} other stages\n", stages.size() - kShownStages);
  return text;
}

std::string signedSeconds(double seconds) {
  return (seconds < 0 ? "-" : "+") + secondsText(std::abs(seconds));
}

} // namespace autopar
