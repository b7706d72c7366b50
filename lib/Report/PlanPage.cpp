//===- PlanPage.cpp - A plan as one page of HTML --------------------------===//

#include "autopar/Report/PlanPage.h"
#include "PageFacts.h"
#include "PlanPage.html.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

/// The placeholder in the template that the facts replace.
static constexpr StringLiteral kFactsPlace = "{{facts}}";

std::string readable(StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

unsigned PageTexts::number(StringRef text) {
  auto [it, isNew] = numbers.try_emplace(text.str(), unsigned(numbers.size()));
  if (isNew)
    list.push_back(readable(text));
  return it->second;
}

static json::Array rowsToJSON(ArrayRef<CostRow> rows) {
  constexpr size_t kShownWays = 4;
  json::Array list;
  for (const CostRow &row : rows.take_front(kShownRows)) {
    json::Array ways;
    for (const OtherWay &way : ArrayRef(row.otherWays).take_front(kShownWays))
      ways.push_back(
          json::Object{{"text", readable(way.text)}, {"seconds", way.seconds}});
    list.push_back(json::Object{{"text", readable(row.text)},
                                {"seconds", row.seconds},
                                {"count", row.count},
                                {"other_ways", std::move(ways)}});
  }
  return list;
}

static json::Array partsToJSON(ArrayRef<CostPart> parts) {
  json::Array list;
  for (const CostPart &part : parts)
    list.push_back(
        json::Object{{"name", part.name}, {"seconds", part.seconds}});
  return list;
}

static json::Array stageCostsToJSON(ArrayRef<StageCost> stages) {
  json::Array list;
  for (const StageCost &stage : stages)
    list.push_back(json::Object{{"computing_seconds", stage.compute},
                                {"communication_seconds", stage.communication},
                                {"message_seconds", stage.messages}});
  return list;
}

static json::Array triedToJSON(ArrayRef<SearchTrial> tried) {
  json::Array list;
  for (const SearchTrial &trial : tried) {
    if (!trial.complaint.empty())
      list.push_back(json::Object{{"name", trial.name},
                                  {"complaint", readable(trial.complaint)}});
    else
      list.push_back(
          json::Object{{"name", trial.name},
                       {"seconds", trial.seconds},
                       {"lower_bound_seconds", trial.lowerBoundSeconds},
                       {"memory_bytes", trial.peakMemoryBytes},
                       {"best", trial.best}});
  }
  return list;
}

static json::Array changesToJSON(ArrayRef<ChangedCluster> changes) {
  json::Array list;
  for (const ChangedCluster &change : changes)
    list.push_back(json::Object{{"text", change.text},
                                {"step_seconds", change.stepSeconds}});
  return list;
}

/// Returns the tensors of each stage that take most memory.
static json::Array heldToJSON(const PlanReport &report) {
  constexpr size_t kShownTensors = 10;
  json::Array stages;
  for (const std::vector<HeldTensor> &tensors :
       heldTensors(report.plan, report.graph)) {
    json::Array list;
    for (const HeldTensor &held : ArrayRef(tensors).take_front(kShownTensors))
      list.push_back(json::Object{{"tensor", readable(held.tensor)},
                                  {"sharding", held.sharding},
                                  {"bytes", held.bytes},
                                  {"count", held.count},
                                  {"at_once", held.atOnce},
                                  {"from", readable(held.from)},
                                  {"to", readable(held.to)}});
    stages.push_back(std::move(list));
  }
  return stages;
}

json::Value factsToJSON(const PlanReport &report) {
  const Plan &plan = report.plan;
  PlanFacts facts = factsOf(plan, report.graph);
  PageTexts texts;
  json::Array axes(facts.axes);
  json::Object object{{"entry", readable(report.entry)},
                      {"plan", summaryToJSON(plan)},
                      {"table", readable(report.table)},
                      {"memory_limit_bytes", report.memoryLimit},
                      {"axes", std::move(axes)},
                      {"layers", layersToJSON(facts, report, texts)},
                      {"devices", devicesToJSON(facts, report)},
                      {"simulated_seconds", report.timeline.seconds},
                      {"replayed_steps", report.program.steps},
                      {"replay_end_seconds", report.timeline.end},
                      {"timeline", timelineToJSON(report, texts)},
                      {"parts", partsToJSON(facts.parts)},
                      {"setup_seconds", facts.setupSeconds},
                      {"stage_costs", stageCostsToJSON(facts.stages)},
                      {"dearest_ops", rowsToJSON(facts.dearest)},
                      {"collective_origins", rowsToJSON(facts.origins)},
                      {"changed_clusters", changesToJSON(facts.changes)},
                      {"held_tensors", heldToJSON(report)},
                      {"tried", triedToJSON(report.tried)}};
  object["texts"] = texts.take();
  return object;
}

/// Returns the facts as text without `<`, which could end the script that holds
/// them.
static std::string inScript(const json::Value &facts) {
  std::string text = formatv("{0}", facts);
  std::string result;
  for (char c : text)
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result;
}

std::string planPage(json::Array entries) {
  auto [before, after] = StringRef(kPageTemplate).split(kFactsPlace);
  std::string facts =
      inScript(json::Object{{"format", 1}, {"entries", std::move(entries)}});
  return (before + facts + after).str();
}

} // namespace autopar
