//===- Run.cpp - One execution of a program: shared state -----------------===//

#include "Run.h"

#include "Ports.h"

#include <cmath>
#include <cstring>

namespace autopar::runtime {

Status Run::prepare(SharedMemory &shared) {
  APRT_TRY(create(shared));
  APRT_TRY(endRequest.create(shared));
  if (checkpoints.folder())
    APRT_TRY(checkpoints.board.create(worldSize(), shared));
  if (evaluation)
    APRT_TRY(evaluation->prepare(*this, shared));
  APRT_TRY(seconds.allocateShared(worldSize() * options.repeat *
                                      int64_t(sizeof(double)),
                                  "the measured times"));
  for (const ResultPort &port : resultPorts(program.manifest))
    results.push_back({port, /*wanted=*/false, Buffer()});
  APRT_TRY(want(wantedResults(program.manifest, options)));
  for (int rank = 0; rank < worldSize() && !options.trace.empty(); ++rank) {
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

std::vector<bool> Run::wanted() const {
  std::vector<bool> chosen;
  for (const RunResult &result : results)
    chosen.push_back(result.wanted);
  return chosen;
}

std::vector<LocalPort> Run::partsOfRank(int rank) const {
  return resultsOfRank(program.manifest, resultPorts(program.manifest),
                       wanted(), rank);
}

int64_t Run::portBytes(int rank) const {
  const Manifest &manifest = program.manifest;
  int64_t bytes = 0;
  for (const Port &port : manifest.inputs)
    bytes += port.globalBytes;
  for (const LocalPort &local : partsOfRank(rank))
    bytes += results[local.index].port->localBytes * manifest.microBatches;
  return bytes;
}

const char *Run::input(size_t index, int64_t step) const {
  const ArrayBytes &all = inputs[index].data;
  int64_t bytes = program.manifest.inputs[index].globalBytes;
  if (all.empty())
    return "";
  int64_t held = int64_t(all.size()) / bytes;
  int64_t at = options.firstStep + step;
  return all.data() + (options.steps > 0 ? at % held * bytes : 0);
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

} // namespace autopar::runtime
