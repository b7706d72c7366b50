//===- Run.cpp - One execution of a program: shared state -----------------===//

#include "Run.h"

#include "Ports.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <sched.h>

namespace autopar::runtime {

/// Cores that this process may use.
static int availableCores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return 1;
  return std::max(1, CPU_COUNT(&set));
}

/// Ranks of this host. A launcher may have given each cores of its own.
static int ranksHere(const Run &run) {
  return run.place.isAlone() ? run.worldSize() : run.place.localSize;
}

std::string Run::sharedCores() const {
  int ranks = ranksHere(*this), cores = availableCores();
  if (program.manifest.target != Target::Cpu || threads * ranks <= cores)
    return "";
  auto count = [](int number, const std::string &what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  return count(ranks, "rank") + " x " + count(threads, "thread") +
         " share this host's " + count(cores, "core") +
         ": they take turns, and a step takes longer than predicted for a core "
         "each";
}

Status Run::prepare() {
  int world = worldSize();
  int here = ranksHere(*this);
  int cores = availableCores();
  threads = options.threads > 0 ? int(std::min<int64_t>(options.threads, 1024))
                                : std::max(1, cores / here);
  spin = threads * here <= cores;

  APRT_TRY(records.allocateShared(world * int64_t(sizeof(RankRecord)),
                                  "the ranks' records"));
  for (int rank = 0; rank < world; ++rank)
    new (&record(rank)) RankRecord();
  APRT_TRY(seconds.allocateShared(
      world * options.repeat * int64_t(sizeof(double)), "the measured times"));
  APRT_TRY(failure.allocateShared(sizeof(int32_t), "the failure flag"));
  new (failure.data()) std::atomic<int32_t>(-1);
  APRT_TRY(endRequest.create());
  // GPUs exchange data themselves.
  bool stagesData = program.manifest.target == Target::Cpu;
  APRT_TRY(fabric.create(program.manifest, stagesData));
  for (const auto &[ports, when] :
       {std::pair(&program.manifest.outputs, RunResult::EveryStep),
        {&program.manifest.gradients, RunResult::FirstStep},
        {&program.manifest.trained, RunResult::AtEnd},
        {&program.manifest.averages, RunResult::AtEnd},
        {&program.manifest.stateOutputs, RunResult::EveryStep}})
    for (const Port &port : *ports) {
      results.emplace_back();
      results.back().port = &port;
      results.back().when = when;
      results.back().isAverage = ports == &program.manifest.averages;
    }
  APRT_TRY(want(wantedResults(program.manifest, options)));
  for (int rank = 0; rank < world && !options.trace.empty(); ++rank) {
    traces.emplace_back();
    APRT_TRY(traces.back().allocateShared(
        traceCapacity * int64_t(sizeof(TraceEvent)), "the trace"));
  }
  return Status::success();
}

Status Run::want(const std::vector<bool> &chosen) {
  for (size_t i = 0; i < results.size(); ++i) {
    RunResult &result = results[i];
    result.wanted = chosen[i];
    result.tensor = Buffer();
    if (result.wanted)
      APRT_TRY(result.tensor.allocateShared(
          stepsOf(result) * result.port->globalBytes, "a result"));
  }
  return Status::success();
}

const char *Run::input(size_t index, int64_t step) const {
  const ArrayBytes &all = inputs[index].data;
  int64_t bytes = program.manifest.inputs[index].globalBytes;
  if (all.empty())
    return "";
  int64_t held = int64_t(all.size()) / bytes;
  return all.data() + (options.steps > 0 ? step % held * bytes : 0);
}

char *Run::result(size_t index, int64_t step) const {
  const RunResult &result = results[index];
  return static_cast<char *>(result.tensor.data()) +
         step % stepsOf(result) * result.port->globalBytes;
}

double Run::scalar(OutputRole role, int64_t step) const {
  std::optional<size_t> index = program.manifest.outputOf(role);
  // The outputs are the first results.
  const RunResult *result = index ? &results[*index] : nullptr;
  if (!result || !result->wanted ||
      result->port->globalBytes != elementBytes(result->port->dtype))
    return NAN;
  double value = NAN;
  const char *bytes = this->result(*index, step);
  visitDtype(result->port->dtype, [&](auto element) {
    using Type = decltype(element);
    std::memcpy(&element, bytes, sizeof(element));
    value = double(Element<Type>::load(element));
  });
  return value;
}

void Run::abort(int rank) {
  int32_t none = -1;
  firstFailure().compare_exchange_strong(none, rank);
  fabric.aborted().store(1);
  if (joined)
    joined->fail(record(rank).message);
}

} // namespace autopar::runtime
