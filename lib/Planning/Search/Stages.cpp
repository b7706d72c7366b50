//===- Stages.cpp - A graph cut into pipeline stages ----------------------===//
//
// K micro-batches through stages of t_1, t_2, ... seconds (computing and
// sending) take t_1 + t_2 + ... + (K - 1) * max t, or K * max t if steps
// overlap. (StagePlaces prices stages that share cores and the waits of their
// cores; cuts ignore both.) Given a bound on the slowest stage, a dynamic
// program finds the cuts with the least seconds to send. Bounds are tried from
// the least possible one upwards.
//
// Seconds are those at the place of the stage.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "StageCutter.h"
#include "autopar/Planning/Plan/PredictMemory.h"
#include "autopar/Planning/Solver/Solver.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace llvm;

namespace autopar {

/// Finds the earliest stage of each op: it is not before the stages of its
/// operands, and it is one that constraints allow.
Error StageCutter::findEarliest() {
  earliest.assign(graph.ops.size(), 0);
  if (!limits.constraints)
    return Error::success();
  for (const auto &[index, op] : enumerate(graph.ops)) {
    if (!graph.hasOwnStage(index))
      continue;
    const GraphOp *latest = nullptr;
    for (unsigned operand : op.operands) {
      const GraphValue &value = graph.values[operand];
      if (value.source == ValueSource::Op &&
          earliest[value.producer] > earliest[index]) {
        earliest[index] = earliest[value.producer];
        latest = &graph.ops[value.producer];
      }
    }
    const StageLimit &limit = limits.stages[index];
    while (earliest[index] < plan.stages && !limit.allows(earliest[index]))
      ++earliest[index];
    if (earliest[index] == plan.stages)
      return limits.constraints->fail(
          limits.constraints->list[limit.from],
          "op " + op.name + " cannot be in such a stage" +
              (latest ? ": it reads what op " + latest->name +
                            " makes, which other constraints put later"
                      : std::string()));
  }
  return Error::success();
}

/// Orders ops by their earliest stage, and then as in the program.
void StageCutter::collectOps() {
  positionOf.assign(graph.ops.size(), 0);
  repeatedSeconds.assign(opSeconds.size(), 0);
  for (const auto &[index, op] : enumerate(graph.ops))
    if (graph.hasOwnStage(index))
      ops.push_back(index);
    else if (!op.setup)
      for (auto [sum, seconds] : zip_equal(repeatedSeconds, opSeconds))
        sum += seconds[index];
  llvm::stable_sort(
      ops, [&](unsigned a, unsigned b) { return earliest[a] < earliest[b]; });
  for (const auto &[position, index] : enumerate(ops))
    positionOf[index] = position;
  for (ArrayRef<double> seconds : opSeconds) {
    std::vector<double> &sums = before.emplace_back(1, 0);
    for (unsigned index : ops)
      sums.push_back(sums.back() + seconds[index]);
  }
}

void StageCutter::countMisplaced() {
  if (!limits.constraints)
    return;
  for (int64_t stage = 0; stage < plan.stages; ++stage) {
    std::vector<unsigned> &counts = misplaced.emplace_back(1, 0);
    for (unsigned index : ops)
      counts.push_back(counts.back() + !limits.stages[index].allows(stage));
  }
}

/// Adds the needs of an op between the cuts `end` - 1 and `end`.
void StageCutter::addNeeds(unsigned op, size_t end) {
  graph.repeats.visitNeeded(op, [&](unsigned next) {
    if (graph.repeats.isRepeated(next)) {
      size_t before = std::exchange(endOfOp[next], end);
      if (before == end)
        return false;
      needs[end].push_back({before, 0, next});
    }
    for (unsigned operand : graph.ops[next].operands)
      if (graph.values[operand].persistent)
        if (size_t before = std::exchange(endOfValue[operand], end);
            before != end)
          needs[end].push_back({before, bytesOf(operand), std::nullopt});
    return true;
  });
}

/// Collects the needs of all cuts. Results of the step that depend on no input
/// and that no op reads are computed in the last stage.
void StageCutter::collectNeeds() {
  needs.resize(cuts.size());
  endOfOp.assign(graph.ops.size(), 0);
  endOfValue.assign(graph.values.size(), 0);
  for (size_t end = 1; end < cuts.size(); ++end)
    for (size_t position = cuts[end - 1]; position < cuts[end]; ++position)
      addNeeds(ops[position], end);
  for (unsigned result : graph.stepResults)
    if (const GraphValue &value = graph.values[result];
        value.source == ValueSource::Op && value.uses.empty() &&
        graph.repeats.isRepeated(value.producer))
      addNeeds(value.producer, cuts.size() - 1);
}

/// Adds up the needs of each run of ops. A need that occurs several times in a
/// run counts at its first place, before which no op after `from` needs it.
void StageCutter::measureRuns() {
  collectNeeds();
  for (size_t from = 0; from < cuts.size(); ++from) {
    Held held{0, SmallVector<double, 2>(opSeconds.size(), 0)};
    runs.emplace_back(cuts.size());
    for (size_t to = from + 1; to < cuts.size(); ++to) {
      for (const Need &need : needs[to]) {
        if (need.before > from)
          continue;
        held.bytes += need.bytes;
        if (need.op)
          for (auto [sum, seconds] : zip_equal(held.seconds, opSeconds))
            sum += seconds[*need.op];
      }
      runs[from][to] = held;
    }
  }
}

/// Returns the cuts with the least seconds to send under which no stage takes
/// more than `bound`.
std::optional<std::vector<size_t>> StageCutter::cutWithin(double bound) const {
  size_t stages = plan.stages, last = cuts.size() - 1;
  std::vector<std::vector<double>> cost(
      stages + 1, std::vector<double>(cuts.size(), kIllegal));
  std::vector<std::vector<size_t>> previous(
      stages + 1, std::vector<size_t>(cuts.size(), 0));
  cost[0][0] = 0;
  for (size_t stage = 1; stage <= stages; ++stage)
    for (size_t to = stage; to <= last; ++to)
      for (size_t from = to; from-- > stage - 1;) {
        // The seconds of ops grow as `from` goes back; those to send may
        // shrink.
        ArrayRef<double> sums = before[places.kindOf[stage - 1]];
        if (sums[cuts[to]] - sums[cuts[from]] > bound)
          break;
        double total = cost[stage - 1][from] + sentBefore(stage - 1, from);
        if (total < cost[stage][to] && load(stage - 1, from, to) <= bound &&
            fits(stage - 1, from, to)) {
          cost[stage][to] = total;
          previous[stage][to] = from;
        }
      }
  if (cost[stages][last] == kIllegal)
    return std::nullopt;
  std::vector<size_t> chosen{last};
  for (size_t stage = stages; stage > 0; --stage)
    chosen.push_back(previous[stage][chosen.back()]);
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

double StageCutter::leastBound() const {
  double all = 0, low = kIllegal;
  for (auto [sums, repeated] : zip_equal(before, repeatedSeconds)) {
    all = std::max(all, sums.back() + repeated + 1e-9);
    low = std::min(low, sums.back() / plan.stages);
  }
  double high = all;
  for (ArrayRef<double> ofLinks : sendSeconds)
    for (double seconds : ofLinks)
      high = std::max(high, all + 2 * seconds);
  constexpr unsigned kSteps = 20;
  for (unsigned step = 0; step < kSteps; ++step) {
    double middle = (low + high) / 2;
    (cutWithin(middle) ? high : low) = middle;
  }
  return high;
}

/// Writes the stages of all ops.
void StageCutter::writeStages(ArrayRef<size_t> chosen) {
  std::vector<int64_t> stages(graph.ops.size(), 0);
  for (size_t stage = 0; stage + 1 < chosen.size(); ++stage)
    for (size_t p = cuts[chosen[stage]]; p < cuts[chosen[stage + 1]]; ++p)
      stages[ops[p]] = stage;
  graph.completeStages(stages, plan.stages);
  for (auto [planned, stage] : zip_equal(plan.ops, stages))
    planned.stage = stage;
}

/// Predicts the seconds of a step from loads as in `load`, but with each
/// message counted at its sender and at its reader. That is more where a value
/// passes several cuts.
void StageCutter::predictStep(ArrayRef<size_t> chosen) {
  std::vector<double> messageSeconds(plan.stages, 0);
  for (const StageMessage &message : messagesOf(graph, plan, communication)) {
    messageSeconds[message.from] += message.seconds;
    messageSeconds[message.to] += message.seconds;
  }
  std::vector<double> seconds;
  for (int64_t stage = 0; stage < plan.stages; ++stage)
    seconds.push_back(computeSeconds(stage, chosen[stage], chosen[stage + 1]) +
                      messageSeconds[stage]);
  plan.predictedStepSeconds = places.stepSeconds(seconds, messageSeconds);
}

Error StageCutter::noCut() const {
  int64_t leastLimit = memoryLimit.of(plan.cluster.memoryBytes());
  std::string pins;
  if (limits.constraints)
    for (const Constraint &constraint : limits.constraints->list)
      if (constraint.stage)
        pins += (pins.empty() ? " and meets constraints " : ", ") +
                std::to_string(constraint.number);
  if (pins.empty())
    return make_error<NotEnoughMemory>(leastLimit, 0);
  return createStringError(
      "no cut into " + Twine(plan.stages) +
      " stages, each with an op, fits the memory limit of " +
      bytesText(double(leastLimit)) + " per device" + pins + " of " +
      limits.constraints->file + ": take fewer stages or a higher limit");
}

/// Returns in how many ways `count` of `places` can be chosen.
static double waysToChoose(size_t places, size_t count) {
  double ways = 1;
  for (size_t i = 0; i < count; ++i)
    ways *= double(places - i) / double(count - i);
  return ways;
}

/// Returns all cuts if there are few, else those that the dynamic program finds
/// under some bounds.
std::vector<std::vector<size_t>> StageCutter::promisingCuts() const {
  constexpr double kFewCuts = 20;
  std::vector<std::vector<size_t>> list;
  auto add = [&](std::optional<std::vector<size_t>> chosen) {
    if (chosen && !is_contained(list, *chosen))
      list.push_back(std::move(*chosen));
  };
  double least = leastBound();
  for (double slack : {1.0, 1.02, 1.1, 1.3})
    add(cutWithin(least * slack));
  if (waysToChoose(cuts.size() - 2, plan.stages - 1) > kFewCuts)
    return list;
  std::vector<size_t> chosen{0};
  std::function<void()> addAll = [&] {
    size_t stage = chosen.size() - 1, later = plan.stages - 1 - stage;
    size_t last = cuts.size() - 1, from = chosen.back();
    for (size_t to = later ? from + 1 : last; to + later <= last; ++to) {
      if (!fits(stage, from, to))
        continue;
      chosen.push_back(to);
      later ? addAll() : add(chosen);
      chosen.pop_back();
    }
  };
  addAll();
  return list;
}

void StageCutter::take(ArrayRef<size_t> chosen) {
  writeStages(chosen);
  predictStep(chosen);
  predictMemory(graph, plan);
}

/// Writes the fastest promising cuts that fit, if any, to the plan. Returns
/// false if there are no cuts.
bool StageCutter::tryCuts() {
  std::vector<std::vector<size_t>> list = promisingCuts();
  std::vector<std::pair<double, size_t>> order;
  for (const auto &[index, chosen] : enumerate(list)) {
    writeStages(chosen);
    predictStep(chosen);
    order.push_back({plan.predictedStepSeconds, index});
  }
  llvm::sort(order);
  for (auto [seconds, index] : order) {
    take(list[index]);
    int64_t excess = excessBytes(plan, places, memoryLimit);
    if (excess <= 0)
      return true;
    if (leastCuts.empty() || excess < leastExcess) {
      leastExcess = excess;
      leastCuts = list[index];
    }
  }
  return !list.empty();
}

Error StageCutter::run() {
  if (Error error = findEarliest())
    return error;
  collectOps();
  countMisplaced();
  if (int64_t(ops.size()) < plan.stages)
    return createStringError("the model has " + Twine(ops.size()) +
                             " ops that depend on an input, too few for " +
                             Twine(plan.stages) + " stages");
  measureCrossings();
  chooseCuts();
  priceCuts();
  measureRuns();
  // Each try keeps more memory free, because a stage holds not only parameters.
  constexpr unsigned kTries = 4;
  for (unsigned attempt = 0; attempt < kTries && tryCuts(); ++attempt) {
    int64_t excess = excessBytes(plan, places, memoryLimit);
    if (excess <= 0)
      return Error::success();
    kept += excess;
  }
  if (leastCuts.empty())
    return noCut();
  take(leastCuts);
  return Error::success();
}

Error cutStages(const ModelGraph &graph, SecondsAtPlaces opSeconds,
                const MemoryLimit &memoryLimit, const Limits &limits,
                Plan &plan) {
  return StageCutter(graph, opSeconds, memoryLimit, limits, plan).run();
}

} // namespace autopar
