//===- Evaluation.cpp - How good the model is, while it trains ------------===//

#include "Evaluation.h"

#include "../evaluation/MetricSums.h"
#include "Ports.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace autopar::runtime {

//===----------------------------------------------------------------------===//
// The evaluation of all ranks
//===----------------------------------------------------------------------===//

Status RunEvaluation::open(Program taken, const std::string &data) {
  program = std::move(taken);
  APRT_TRY(loadEvaluationRows(program.manifest, data, rows));
  return weights.open(program.manifest, program.home, /*given=*/"");
}

Status RunEvaluation::prepare(World &training, SharedMemory &shared) {
  const Manifest &manifest = program.manifest;
  world = std::make_unique<World>(program, training.rankOptions, &training);
  world->place = training.place;
  APRT_TRY(world->create(shared));
  results.resize(manifest.outputs.size());
  for (const Metric &metric : about().metrics)
    for (size_t output : metric.outputs)
      if (!results[output].data())
        APRT_TRY(shared.take(2 * manifest.outputs[output].globalBytes,
                             "an evaluation's sums", results[output]));
  APRT_TRY(
      shared.take(sizeof(Verdict), "an evaluation's verdict", verdictMemory));
  if (shared.isNew())
    new (verdictMemory.data()) Verdict();
  return Status::success();
}

char *RunEvaluation::result(size_t output, int64_t step) const {
  auto *both = static_cast<char *>(results[output].data());
  return both ? both + step % 2 * program.manifest.outputs[output].globalBytes
              : nullptr;
}

//===----------------------------------------------------------------------===//
// The part of a rank
//===----------------------------------------------------------------------===//

Status RankEvaluation::load() {
  const Manifest &manifest = run.program.manifest;
  APRT_TRY(rank.open());
  APRT_TRY(rank.load(std::move(run.weights), /*states=*/nullptr));
  std::vector<bool> wanted(resultPorts(manifest).size());
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    wanted[i] = run.result(i, 0) != nullptr;
  APRT_TRY(rank.prepare(wanted));
  for (StepData *data : {&now, &next}) {
    data->inputs.resize(manifest.inputs.size());
    data->results.resize(wanted.size());
    data->where = "evaluation: ";
  }
  // The rows of an evaluation are an epoch, and those of the next one follow.
  reader.emplace(run.rows, manifest, worldRank, /*steps=*/INT64_MAX);
  return reader->start();
}

Status RankEvaluation::find(int64_t step, StepData &data) {
  APRT_TRY(
      reader->await(step, run.world->rankOptions.timeoutSeconds, data.inputs));
  const std::vector<Port> &outputs = run.program.manifest.outputs;
  for (size_t i = 0; i < outputs.size(); ++i)
    if (char *to = run.result(i, step))
      data.results[i] = {to, run.result(i, 0), 2 * outputs[i].globalBytes};
  return Status::success();
}

/// All ranks have written the step's results when it returns. None overwrites
/// them before rank 0 has come to the end of the step after it.
Status RankEvaluation::step(int64_t number, bool isLast) {
  if (!isLast)
    APRT_TRY(find(number + 1, next));
  APRT_TRY(rank.step(now, isLast ? nullptr : &next));
  APRT_TRY(rank.context()->transport->barrier(/*withDeadline=*/true));
  std::swap(now, next);
  return Status::success();
}

Status RankEvaluation::evaluate(std::vector<double> &values) {
  RankRecord &record = run.world->record(worldRank);
  record.currentOp.store(-1);
  record.currentEntry.store(int32_t(run.world->entry()));
  const StepSchedule &schedule = run.rows.schedule;
  const std::vector<Port> &outputs = run.program.manifest.outputs;
  MetricSums sums(run.program.manifest);
  std::vector<const char *> told(outputs.size());
  int64_t steps = schedule.stepsOf(schedule.rows);
  APRT_TRY(find(taken, now));
  APRT_TRY(rank.feed(now));
  for (int64_t i = 0; i < steps; ++i, ++taken) {
    APRT_TRY(step(taken, i + 1 == steps));
    if (worldRank != 0)
      continue;
    for (size_t output = 0; output < outputs.size(); ++output)
      told[output] = run.result(output, taken);
    sums.add(told, schedule.at(taken).count);
  }
  values = sums.values();
  record.currentOp.store(-1);
  record.currentEntry.store(0);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The best one
//===----------------------------------------------------------------------===//

RunEvaluation::Verdict BestEvaluation::judge(const std::vector<double> &values,
                                             int64_t steps, bool isDue) {
  const Metric &metric = about.metrics[about.best];
  double value = values[about.best];
  // States are not kept if any metric is NaN, except for an AUC, which may be
  // undefined for its rows.
  bool isSound = std::isfinite(value);
  for (size_t i = 0; i < values.size(); ++i)
    isSound &= about.metrics[i].kind == Metric::Auc || !std::isnan(values[i]);
  bool isBest =
      isSound && (!best || (metric.isHigherBetter ? value > best->value
                                                  : value < best->value));
  if (isBest)
    best = {metric.name, steps, value, 0, rows};
  else if (best && isDue)
    ++best->worse;
  RunEvaluation::Verdict verdict;
  verdict.isBest = isBest;
  if (!best)
    return verdict;
  verdict.ends = about.patience > 0 && best->worse >= about.patience;
  verdict.bestSteps = best->step;
  verdict.bestValue = best->value;
  return verdict;
}

} // namespace autopar::runtime
