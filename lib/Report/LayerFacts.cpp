//===- LayerFacts.cpp - A model's layers and how they are sharded ---------===//

#include "PageFacts.h"
#include "autopar/Support/RepeatedRuns.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

namespace {

class LayerWriter {
public:
  LayerWriter(const PlanFacts &facts, const PlanReport &report,
              PageTexts &texts)
      : facts(facts), report(report), texts(texts) {}

  json::Array write();

private:
  json::Array runs(ArrayRef<const ExplainedOp *> ops, ArrayRef<unsigned> keys);
  json::Object op(const ExplainedOp &item);
  json::Array tensors(ArrayRef<unsigned> values);
  std::string keyOf(const ExplainedOp &item) const;

  const PlanFacts &facts;
  const PlanReport &report;
  PageTexts &texts;
};

} // namespace

/// Returns a key that is equal for ops which look alike on the page.
std::string LayerWriter::keyOf(const ExplainedOp &item) const {
  std::string key = report.graph.ops[item.op].facts->signature + "|" +
                    item.strategy + "|" + std::to_string(item.compute * 1e9) +
                    "|" + std::to_string(item.communication * 1e9);
  for (const std::string &outcome : item.outcomes)
    key += "|" + outcome;
  return key;
}

/// Returns triples of name, shape and sharding.
json::Array LayerWriter::tensors(ArrayRef<unsigned> values) {
  json::Array list;
  for (unsigned index : values) {
    const GraphValue &value = report.graph.values[index];
    const Sharding &sharding = report.plan.values[index].sharding;
    list.push_back(json::Array{
        readable(value.name),
        texts.number(
            join(map_range(value.shape,
                           [](int64_t size) { return std::to_string(size); }),
                 " x ")),
        texts.number(toString(sharding, report.plan.mesh))});
  }
  return list;
}

json::Object LayerWriter::op(const ExplainedOp &item) {
  const GraphOp &what = report.graph.ops[item.op];
  json::Array outcomes, reshards;
  for (const std::string &outcome : item.outcomes)
    outcomes.push_back(texts.number(outcome));
  for (const std::string &reshard : item.reshards)
    reshards.push_back(readable(reshard));
  return json::Object{
      {"name", readable(what.name)},
      {"kind", texts.number(stringifyKernelClass(what.facts->kernel))},
      {"strategy", texts.number(item.strategy)},
      {"outcomes", std::move(outcomes)},
      {"compute_seconds", item.compute},
      {"communication_seconds", item.communication},
      {"reshards", std::move(reshards)},
      {"reads", tensors(what.operands)},
      {"writes", tensors(what.results)}};
}

json::Array LayerWriter::runs(ArrayRef<const ExplainedOp *> ops,
                              ArrayRef<unsigned> keys) {
  constexpr size_t kLeastLeftOut = 12; // worth a frame of its own
  json::Array list;
  for (const RepeatedRun &run : repeatedRuns(keys, kLeastLeftOut)) {
    json::Array items;
    for (const ExplainedOp *item : ops.slice(run.begin, run.length))
      items.push_back(op(*item));
    list.push_back(
        json::Object{{"count", run.count}, {"ops", std::move(items)}});
  }
  return list;
}

/// Writes the layers of all stages. Ops that depend on no input are in each
/// stage that reads them. Stages that follow each other and look alike are
/// written once.
json::Array LayerWriter::write() {
  std::vector<std::vector<const ExplainedOp *>> stages(report.plan.stages);
  for (const ExplainedOp &item : facts.ops)
    for (int64_t stage : item.stages)
      stages[stage].push_back(&item);
  std::map<std::string, unsigned> numbers;
  std::vector<unsigned> before;
  json::Array list;
  for (const auto &[number, ops] : enumerate(stages)) {
    std::vector<unsigned> keys;
    for (const ExplainedOp *item : ops)
      keys.push_back(
          numbers.try_emplace(keyOf(*item), numbers.size()).first->second);
    if (list.empty() || keys != before)
      list.push_back(json::Object{{"first_stage", int64_t(number)},
                                  {"runs", runs(ops, keys)}});
    (*list.back().getAsObject())["last_stage"] = int64_t(number);
    before = std::move(keys);
  }
  return list;
}

json::Array layersToJSON(const PlanFacts &facts, const PlanReport &report,
                         PageTexts &texts) {
  return LayerWriter(facts, report, texts).write();
}

} // namespace autopar
