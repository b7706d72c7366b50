//===- SessionReport.cpp - What the steps of a session took ---------------===//

#include "../core/Futex.h"
#include "RankReport.h"
#include "Session.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace autopar::runtime {

void Session::measure(const Request &request) {
  Measured &of = measured[request.entry];
  double end = monotonicSeconds();
  double seconds = end - std::max(request.start, lastEnd);
  lastEnd = end;
  if (of.last.size() < Measured::most)
    of.last.push_back(seconds);
  else
    of.last[size_t(of.steps) % Measured::most] = seconds;
  of.seconds += seconds;
  ++of.steps;
}

Status Session::reportRanks(size_t entry) {
  if (workers)
    return have(Task::Report, entry, 0);
  member->report(entry);
  return Status::success();
}

/// Calls that wait for a step add to it.
Session::Measured Session::measuredOf(size_t entry) {
  std::lock_guard<std::mutex> lock(records);
  return measured[entry];
}

Status Session::report(size_t entry, std::string &json) {
  Measured of = measuredOf(entry);
  if (of.steps == 0)
    return Status::error("no step has been taken that was measured");
  return serve("reporting", [&]() -> Status {
    APRT_TRY(reportRanks(entry));
    const World &world = *worlds[entry];
    StepTimes times;
    times.seconds = of.last;
    std::sort(times.seconds.begin(), times.seconds.end());
    times.traced = of.traced;
    for (int rank = 0; rank < world.worldSize(); ++rank) {
      const RankRecord &record = world.record(rank);
      double own = record.computeSeconds + record.communicationSeconds +
                   record.idleSeconds;
      times.waits.push_back(std::max(0.0, of.seconds / double(of.steps) - own));
    }
    nlohmann::ordered_json report = reportOf(world, times);
    report["steps"] = of.steps;
    json = reportText(report);
    return Status::success();
  });
}

Status Session::trace(size_t entry, bool on) {
  return serve("tracing", [&]() -> Status {
    if (workers) {
      APRT_TRY(have(Task::Measure, entry, on));
    } else {
      if (on && !ownTrace.data())
        APRT_TRY(ownTrace.allocate(traceCapacity * int64_t(sizeof(TraceEvent)),
                                   "the trace", nullptr));
      auto *events = static_cast<TraceEvent *>(ownTrace.data());
      APRT_TRY(member->measure(entry, on ? events : nullptr));
    }
    std::lock_guard<std::mutex> lock(records);
    measured[entry] = {};
    measured[entry].traced = on;
    return Status::success();
  });
}

Status Session::traceText(size_t entry, std::string &json) {
  return serve("writing the trace", [&]() -> Status {
    if (workers) // steps under way add to it
      APRT_TRY(awaitWorkers(board.next()));
    std::vector<const TraceEvent *> traces;
    for (int rank = 0; rank < worlds[entry]->worldSize(); ++rank)
      traces.push_back(workers ? board.trace(rank)
                               : static_cast<TraceEvent *>(ownTrace.data()));
    json = runtime::traceText(*worlds[entry], traces);
    return Status::success();
  });
}

} // namespace autopar::runtime
