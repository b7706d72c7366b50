//===- Report.cpp - What a run measured -----------------------------------===//

#include "Report.h"

#include "../files/Text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace autopar::runtime {

/// A step takes as long as its slowest rank; where steps overlap, from the end
/// of the one before on the rank that ends it last to its own.
static std::vector<double> secondsOfSteps(const Run &run) {
  std::vector<double> steps, ends(size_t(run.worldSize()), 0);
  double before = 0;
  for (int64_t step = 0; step < run.stepsTaken(); ++step) {
    double slowest = 0;
    for (int rank = 0; rank < run.worldSize(); ++rank) {
      double seconds = run.stepSeconds(rank, step);
      ends[size_t(rank)] += seconds;
      slowest = std::max(slowest, run.program.manifest.stepsOverlap
                                      ? ends[size_t(rank)] - before
                                      : seconds);
    }
    before += slowest;
    steps.push_back(slowest);
  }
  return steps;
}

static std::vector<double> sortedSteps(const Run &run) {
  std::vector<double> steps = secondsOfSteps(run);
  std::sort(steps.begin(), steps.end());
  return steps;
}

static double median(const std::vector<double> &sorted) {
  size_t half = sorted.size() / 2;
  return sorted.size() % 2 ? sorted[half]
                           : (sorted[half - 1] + sorted[half]) / 2;
}

/// Waiting inside operations, and for slower ranks at the end of steps: of all
/// of them where steps overlap.
static double idleSeconds(const Run &run, int rank) {
  double tail = 0;
  for (double seconds : secondsOfSteps(run))
    tail += seconds;
  for (int64_t i = 0; i < run.stepsTaken(); ++i)
    tail -= run.stepSeconds(rank, i);
  return run.record(rank).idleSeconds + tail / double(run.stepsTaken());
}

/// Of a step's communication what compute does not hide. On a CPU a rank does
/// one after the other; on a GPU streams run beside each other, and compute's
/// stands still while communication goes on alone.
static double exposedSeconds(const Run &run, int rank) {
  const RankRecord &record = run.record(rank);
  if (run.program.manifest.target == Target::Cpu)
    return record.communicationSeconds;
  return std::min(record.communicationSeconds, record.idleSeconds);
}

template <typename Value>
static nlohmann::ordered_json perRank(const Run &run, const Value &value) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (int rank = 0; rank < run.worldSize(); ++rank)
    list.push_back(value(rank));
  return list;
}

/// Null where it is not known.
static nlohmann::ordered_json ifKnown(const RankRecord &record,
                                      double seconds) {
  if (!record.partsKnown)
    return nullptr;
  return seconds;
}

/// What a rank holds in the end, by kind. The ports, which are in the
/// launcher's memory, and the heap are no part of the peak.
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

std::string reportJson(const Run &run) {
  const Manifest &manifest = run.program.manifest;
  std::vector<double> steps = sortedSteps(run);
  nlohmann::ordered_json report;
  report["model"] = manifest.model;
  if (!manifest.entry.empty())
    report["entry"] = manifest.entry;
  report["ranks"] = run.worldSize();
  report["stages"] = manifest.stages;
  if (manifest.target != Target::Cpu) {
    report["devices"] = perRank(
        run, [&](int rank) { return std::string(run.record(rank).device); });
    report["graphs_refused"] = perRank(run, [&](int rank) {
      return std::string(run.record(rank).graphRefusal);
    });
    report["cubins_refused"] = perRank(run, [&](int rank) {
      return std::string(run.record(rank).imageRefusal);
    });
  }
  report["threads_per_rank"] = run.threads;
  report["steps"] = run.stepsTaken();
  report["seconds_per_step"] = {
      {"min", steps.front()}, {"median", median(steps)}, {"max", steps.back()}};
  report["compute_seconds"] = perRank(run, [&](int rank) {
    return ifKnown(run.record(rank), run.record(rank).computeSeconds);
  });
  report["communication_seconds"] = perRank(run, [&](int rank) {
    return ifKnown(run.record(rank), run.record(rank).communicationSeconds);
  });
  report["exposed_communication_seconds"] = perRank(run, [&](int rank) {
    return ifKnown(run.record(rank), exposedSeconds(run, rank));
  });
  report["idle_seconds"] = perRank(run, [&](int rank) {
    return ifKnown(run.record(rank), idleSeconds(run, rank));
  });
  if (manifest.target != Target::Cpu) {
    report["gpu_seconds"] =
        perRank(run, [&](int rank) { return run.record(rank).gpuSeconds; });
    report["transfer_seconds"] = perRank(
        run, [&](int rank) { return run.record(rank).transferSeconds; });
  }
  if (!run.options.trace.empty())
    report["trace_events_dropped"] =
        perRank(run, [&](int rank) { return run.record(rank).traceDropped; });
  report["output_bytes"] =
      perRank(run, [&](int rank) { return run.record(rank).outputBytes; });
  report["bytes_sent"] =
      perRank(run, [&](int rank) { return run.record(rank).bytesSent; });
  report["peak_memory_bytes"] =
      perRank(run, [&](int rank) { return run.record(rank).peakMemoryBytes; });
  report["memory_bytes"] =
      perRank(run, [&](int rank) { return memoryOf(run.record(rank)); });
  report["process_peak_bytes"] =
      perRank(run, [&](int rank) { return run.record(rank).processPeakBytes; });
  report["load_seconds"] =
      perRank(run, [&](int rank) { return run.record(rank).loadSeconds; });
  report["predicted_step_seconds"] = manifest.predictedStepSeconds;
  report["predicted_peak_memory_bytes"] = perRank(run, [&](int rank) {
    size_t stage = size_t(rank / manifest.devicesPerStage);
    const std::vector<double> &bytes = manifest.predictedPeakMemoryBytes;
    return stage < bytes.size() ? bytes[stage] : 0.0;
  });
  return report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

/// Of all ranks together; empty where it is not known.
static std::string timesText(const Run &run) {
  double compute = 0, communication = 0, exposed = 0, idle = 0;
  for (int rank = 0; rank < run.worldSize(); ++rank) {
    const RankRecord &record = run.record(rank);
    if (!record.partsKnown)
      return "";
    compute += record.computeSeconds;
    communication += record.communicationSeconds;
    exposed += exposedSeconds(run, rank);
    idle += idleSeconds(run, rank);
  }
  double total = std::max(compute + communication + idle, 1e-12);
  char hidden[64] = "", text[160];
  if (run.program.manifest.target != Target::Cpu)
    std::snprintf(hidden, sizeof(hidden), " (%.0f%% hidden behind compute)",
                  100 * (communication - exposed) / total);
  std::snprintf(text, sizeof(text),
                "time: %.0f%% compute, %.0f%% communication%s, %.0f%% idle\n",
                100 * compute / total, 100 * communication / total, hidden,
                100 * idle / total);
  return text;
}

/// Of a GPU, the first rank's; empty on a CPU.
static std::string deviceText(const Run &run) {
  const RankRecord &record = run.record(0);
  if (!record.device[0])
    return "";
  std::string text = std::string("device: ") + record.device + "\n";
  if (record.graphRefusal[0])
    text +=
        std::string("steps are no CUDA graphs: ") + record.graphRefusal + "\n";
  if (record.imageRefusal[0])
    text += std::string("the driver compiled the kernels from PTX: ") +
            record.imageRefusal + "\n";
  return text;
}

/// Empty where the trace is whole.
static std::string cutTraceText(const Run &run) {
  int64_t kept = 0, dropped = 0;
  for (int rank = 0; rank < run.worldSize(); ++rank) {
    kept += run.record(rank).traceEvents;
    dropped += run.record(rank).traceDropped;
  }
  if (dropped == 0)
    return "";
  return "trace: only the first " + std::to_string(kept) + " events of " +
         std::to_string(kept + dropped) +
         (run.stepsTaken() > 1 ? "; give a smaller --repeat\n" : "\n");
}

std::string reportSummary(const Run &run) {
  std::vector<double> steps = sortedSteps(run);
  int64_t memory = 0;
  for (int rank = 0; rank < run.worldSize(); ++rank)
    memory = std::max(memory, run.record(rank).peakMemoryBytes);
  const std::string &entry = run.program.manifest.entry;
  char text[1536];
  std::snprintf(text, sizeof(text),
                "%s%s: %d rank%s x %d thread%s, %lld step%s\n"
                "%sstep: median %.3f ms (min %.3f, max %.3f)\n"
                "%smemory: %s on the fullest rank\n",
                run.program.manifest.model.c_str(),
                entry.empty() ? "" : (" (entry " + entry + ")").c_str(),
                run.worldSize(), run.worldSize() == 1 ? "" : "s", run.threads,
                run.threads == 1 ? "" : "s",
                static_cast<long long>(run.stepsTaken()),
                run.stepsTaken() == 1 ? "" : "s", deviceText(run).c_str(),
                median(steps) * 1e3, steps.front() * 1e3, steps.back() * 1e3,
                timesText(run).c_str(), bytesText(double(memory)).c_str());
  return text + cutTraceText(run);
}

static std::string quoted(const std::string &text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

std::string traceJson(const Run &run) {
  const Manifest &manifest = run.program.manifest;
  double origin = 1e300;
  for (int rank = 0; rank < run.worldSize(); ++rank)
    if (run.record(rank).traceEvents > 0)
      origin = std::min(origin, run.trace(rank)[0].start);
  std::string text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  char line[160];
  for (int rank = 0; rank < run.worldSize(); ++rank) {
    std::snprintf(line, sizeof(line),
                  "%s{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\","
                  "\"args\":{\"name\":\"rank %d\"}}",
                  rank ? ",\n" : "", rank, rank);
    text += line;
    for (int64_t i = 0; i < run.record(rank).traceEvents; ++i) {
      const TraceEvent &event = run.trace(rank)[i];
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
