//===- Report.cpp - What a run measured -----------------------------------===//

#include "Report.h"

#include "../files/Text.h"
#include "../session/RankReport.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace autopar::runtime {

/// Returns the seconds of each step, which takes as long as its slowest rank.
/// If steps overlap, a step counts from the end of the previous one to its own
/// end, on the rank that ends last.
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

/// Waiting for slower ranks at the end of steps: of all of them where steps
/// overlap.
static StepTimes timesOf(const Run &run) {
  StepTimes times;
  times.seconds = secondsOfSteps(run);
  double all = 0;
  for (double seconds : times.seconds)
    all += seconds;
  for (int rank = 0; rank < run.worldSize(); ++rank) {
    double wait = all;
    for (int64_t i = 0; i < run.stepsTaken(); ++i)
      wait -= run.stepSeconds(rank, i);
    times.waits.push_back(wait / double(run.stepsTaken()));
  }
  std::sort(times.seconds.begin(), times.seconds.end());
  times.traced = !run.options.trace.empty();
  return times;
}

std::string reportJson(const Run &run) {
  return reportText(reportOf(run, timesOf(run)));
}

/// Returns the shares of time over all ranks, or an empty text if they are not
/// known.
static std::string timesText(const Run &run, const StepTimes &times) {
  double compute = 0, communication = 0, exposed = 0, idle = 0;
  for (int rank = 0; rank < run.worldSize(); ++rank) {
    const RankRecord &record = run.record(rank);
    if (!record.partsKnown)
      return "";
    compute += record.computeSeconds;
    communication += record.communicationSeconds;
    exposed += exposedSeconds(run, rank);
    idle += idleSeconds(run, times, rank);
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

/// Describes the GPU of the first rank. The text is empty on a CPU.
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

/// Returns a note if the trace is incomplete, or an empty text.
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
  StepTimes times = timesOf(run);
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
                times.median() * 1e3, times.seconds.front() * 1e3,
                times.seconds.back() * 1e3, timesText(run, times).c_str(),
                bytesText(double(memory)).c_str());
  return text + cutTraceText(run);
}

std::string traceJson(const Run &run) {
  std::vector<const TraceEvent *> traces;
  for (int rank = 0; rank < run.worldSize(); ++rank)
    traces.push_back(run.trace(rank));
  return traceText(run, traces);
}

} // namespace autopar::runtime
