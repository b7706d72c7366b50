//===- RankReport.cpp - What ranks measured -------------------------------===//

#include "RankReport.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace autopar::runtime {

double StepTimes::median() const {
  size_t half = seconds.size() / 2;
  return seconds.size() % 2 ? seconds[half]
                            : (seconds[half - 1] + seconds[half]) / 2;
}

double idleSeconds(const World &world, const StepTimes &times, int rank) {
  return world.record(rank).idleSeconds + times.waits[size_t(rank)];
}

/// On a CPU a rank does one after the other; on a GPU streams run beside each
/// other, and compute's stands still while communication goes on alone.
double exposedSeconds(const World &world, int rank) {
  const RankRecord &record = world.record(rank);
  if (world.program.manifest.target == Target::Cpu)
    return record.communicationSeconds;
  return std::min(record.communicationSeconds, record.idleSeconds);
}

template <typename Value>
static nlohmann::ordered_json perRank(const World &world, const Value &value) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (int rank = 0; rank < world.worldSize(); ++rank)
    list.push_back(value(rank));
  return list;
}

/// Returns null if the value is not known.
static nlohmann::ordered_json ifKnown(const RankRecord &record,
                                      double seconds) {
  if (!record.partsKnown)
    return nullptr;
  return seconds;
}

/// Returns the memory that a rank holds at the end, by kind. Inputs and
/// outputs, which are in the launcher's memory, and the heap do not count in
/// the peak.
static nlohmann::ordered_json memoryOf(const RankRecord &record) {
  return {{"weights", record.weightBytes},
          {"packed_weights", record.packedBytes},
          {"arena", record.arenaBytes},
          {"workspace", record.workspaceBytes},
          {"communication", record.communicationBytes},
          {"inputs_and_outputs", record.portBytes},
          {"pinned", record.pinnedBytes},
          {"heap", record.heapBytes}};
}

nlohmann::ordered_json reportOf(const World &world, const StepTimes &times) {
  const Manifest &manifest = world.program.manifest;
  nlohmann::ordered_json report;
  report["model"] = manifest.model;
  if (!manifest.entry.empty())
    report["entry"] = manifest.entry;
  report["ranks"] = world.worldSize();
  report["stages"] = manifest.stages;
  if (manifest.target != Target::Cpu) {
    report["devices"] = perRank(world, [&](int rank) {
      return std::string(world.record(rank).device);
    });
    report["graphs_refused"] = perRank(world, [&](int rank) {
      return std::string(world.record(rank).graphRefusal);
    });
    report["cubins_refused"] = perRank(world, [&](int rank) {
      return std::string(world.record(rank).imageRefusal);
    });
  }
  report["threads_per_rank"] = world.threads;
  report["steps"] = times.seconds.size();
  report["seconds_per_step"] = {{"min", times.seconds.front()},
                                {"median", times.median()},
                                {"max", times.seconds.back()}};
  report["compute_seconds"] = perRank(world, [&](int rank) {
    return ifKnown(world.record(rank), world.record(rank).computeSeconds);
  });
  report["communication_seconds"] = perRank(world, [&](int rank) {
    return ifKnown(world.record(rank), world.record(rank).communicationSeconds);
  });
  report["exposed_communication_seconds"] = perRank(world, [&](int rank) {
    return ifKnown(world.record(rank), exposedSeconds(world, rank));
  });
  report["idle_seconds"] = perRank(world, [&](int rank) {
    return ifKnown(world.record(rank), idleSeconds(world, times, rank));
  });
  if (manifest.target != Target::Cpu) {
    report["gpu_seconds"] =
        perRank(world, [&](int rank) { return world.record(rank).gpuSeconds; });
    report["transfer_seconds"] = perRank(
        world, [&](int rank) { return world.record(rank).transferSeconds; });
  }
  if (times.traced)
    report["trace_events_dropped"] = perRank(
        world, [&](int rank) { return world.record(rank).traceDropped; });
  report["output_bytes"] =
      perRank(world, [&](int rank) { return world.record(rank).outputBytes; });
  report["bytes_sent"] =
      perRank(world, [&](int rank) { return world.record(rank).bytesSent; });
  report["peak_memory_bytes"] = perRank(
      world, [&](int rank) { return world.record(rank).peakMemoryBytes; });
  report["memory_bytes"] =
      perRank(world, [&](int rank) { return memoryOf(world.record(rank)); });
  report["process_peak_bytes"] = perRank(
      world, [&](int rank) { return world.record(rank).processPeakBytes; });
  report["load_seconds"] =
      perRank(world, [&](int rank) { return world.record(rank).loadSeconds; });
  report["predicted_step_seconds"] = manifest.predictedStepSeconds;
  report["predicted_peak_memory_bytes"] = perRank(world, [&](int rank) {
    size_t stage = size_t(rank / manifest.devicesPerStage);
    const std::vector<double> &bytes = manifest.predictedPeakMemoryBytes;
    return stage < bytes.size() ? bytes[stage] : 0.0;
  });
  return report;
}

std::string reportText(const nlohmann::ordered_json &report) {
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

static std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

std::string traceText(const World &world,
                      const std::vector<const TraceEvent *> &traces) {
  const Manifest &manifest = world.program.manifest;
  double origin = 1e300;
  for (int rank = 0; rank < world.worldSize(); ++rank)
    if (world.record(rank).traceEvents > 0)
      origin = std::min(origin, traces[size_t(rank)][0].start);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  char line[160];
  for (int rank = 0; rank < world.worldSize(); ++rank) {
    std::snprintf(line, sizeof(line),
                  "%s{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\","
                  "\"args\":{\"name\":\"rank %d\"}}",
                  rank ? ",\n" : "", rank, rank);
    text += line;
    for (int64_t i = 0; i < world.record(rank).traceEvents; ++i) {
      const TraceEvent &event = traces[size_t(rank)][i];
      bool known = event.op >= 0 && size_t(event.op) < manifest.ops.size();
      std::snprintf(
          line, sizeof(line),
          "\"ph\":\"X\",\"pid\":%d,\"tid\":%lld,\"ts\":%.3f,"
          "\"dur\":%.3f}",
          rank,
          static_cast<long long>(known ? manifest.ops[event.op].stream : 0),
          (event.start - origin) * 1e6, event.seconds * 1e6);
      text += ",\n{\"name\":" + quoted(manifest.opName(event.op)) +
              ",\"cat\":" + quoted(manifest.opKind(event.op)) + "," + line;
    }
  }
  return text + "\n]}\n";
}

} // namespace autopar::runtime
