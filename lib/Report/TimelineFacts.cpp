//===- TimelineFacts.cpp - A simulated step, as coarse as it is seen ------===//

#include "PageFacts.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace autopar {

/// Parts of the step that a lane tells apart, and of all lanes together.
static constexpr int64_t kPartsOfLane = 5000, kPartsOfPage = 20000;
/// The number of moments that a stage's memory is divided into.
static constexpr int64_t kMoments = 400;

static int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

namespace {

enum Kind { Computing, Collectives, Messages, KindCount };

Kind kindOf(ActivityKind kind) {
  return kind == ActivityKind::Kernel       ? Computing
         : kind == ActivityKind::Collective ? Collectives
                                            : Messages;
}

/// An activity of a stream, or several consecutive ones.
struct Segment {
  double start = 0, end = 0;
  double seconds[KindCount] = {};
  int64_t microBatch = 0;      // of the first
  int64_t first = 0, last = 0; // activities
  int64_t count = 0;

  Kind kind() const {
    return Kind(std::max_element(seconds, seconds + KindCount) - seconds);
  }
};

/// The activities of one stream as segments, none much shorter than
/// `resolution` unless it stands alone.
class Lane {
public:
  explicit Lane(double resolution) : resolution(resolution) {}

  void add(const TimelineEntry &entry, Kind kind) {
    if (!belongs(entry, kind))
      segments.push_back({entry.start,
                          entry.start,
                          {},
                          entry.microBatch,
                          entry.activity,
                          entry.activity,
                          0});
    Segment &last = segments.back();
    last.end = entry.end;
    last.seconds[kind] += entry.end - entry.start;
    last.last = entry.activity;
    ++last.count;
  }
  json::Array toJSON(const StageProgram &stage, PageTexts &texts) const;

private:
  bool belongs(const TimelineEntry &entry, Kind kind) const {
    if (segments.empty())
      return false;
    const Segment &last = segments.back();
    if (entry.start - last.end > resolution)
      return false;
    return last.end - last.start < resolution ||
           (entry.end - entry.start < resolution && last.kind() == kind &&
            last.microBatch == entry.microBatch);
  }

  double resolution;
  std::vector<Segment> segments;
};

} // namespace

/// Returns a row for each segment: start, length, kind, micro-batch, number of
/// activities, percentage of busy time, and the names of the first and the last
/// activity.
json::Array Lane::toJSON(const StageProgram &stage, PageTexts &texts) const {
  json::Array rows;
  for (const Segment &item : segments) {
    double busy = 0;
    for (double seconds : item.seconds)
      busy += seconds;
    double length = item.end - item.start;
    int64_t start = nanoseconds(item.start);
    rows.push_back(json::Array{
        start, nanoseconds(item.end) - start, int64_t(item.kind()),
        item.microBatch, item.count,
        length > 0 ? int64_t(std::lround(100 * busy / length)) : 100,
        texts.number(stage.activities[item.first].name),
        texts.number(stage.activities[item.last].name)});
  }
  return rows;
}

/// Returns pairs of a time and the bytes of the arena in use from then on. The
/// step is divided into moments; each has its maximum, and only changes are
/// listed.
static json::Array memoryToJSON(const StageProgram &stage,
                                ArrayRef<TimelineEntry> entries,
                                double seconds) {
  std::map<int64_t, int64_t> most; // bytes by moment
  for (const TimelineEntry &entry : entries) {
    double share = seconds > 0 ? entry.start / seconds : 0;
    int64_t &bytes = most[int64_t(share * kMoments)];
    bytes = std::max(bytes, stage.activities[entry.activity].bytesInUse);
  }
  json::Array pairs;
  std::optional<int64_t> before;
  for (auto [moment, bytes] : most) {
    if (before == bytes)
      continue;
    before = bytes;
    pairs.push_back(
        json::Array{nanoseconds(seconds * double(moment) / kMoments), bytes});
  }
  return pairs;
}

static json::Object stageToJSON(const StageProgram &stage,
                                const StageTimes &times,
                                std::vector<TimelineEntry> entries,
                                double seconds, double resolution,
                                PageTexts &texts) {
  llvm::stable_sort(entries,
                    [](const TimelineEntry &a, const TimelineEntry &b) {
                      return a.start < b.start;
                    });
  std::vector<Lane> lanes(stage.streams, Lane(resolution));
  for (const TimelineEntry &entry : entries) {
    const Activity &activity = stage.activities[entry.activity];
    lanes[activity.stream].add(entry, kindOf(activity.kind));
  }
  json::Array streams;
  for (const Lane &lane : lanes)
    streams.push_back(lane.toJSON(stage, texts));
  return json::Object{{"streams", std::move(streams)},
                      {"memory", memoryToJSON(stage, entries, seconds)},
                      {"weight_bytes", stage.weightBytes},
                      {"arena_bytes", stage.arenaBytes},
                      {"computing_seconds", times.computing},
                      {"communication_seconds", times.communication},
                      {"message_seconds", times.messages},
                      {"exposed_seconds", times.exposed},
                      {"idle_seconds", times.idle}};
}

json::Array timelineToJSON(const PlanReport &report, PageTexts &texts) {
  const Timeline &timeline = report.timeline;
  int64_t lanes = 0;
  for (const StageProgram &stage : report.program.stages)
    lanes += stage.streams;
  double resolution =
      timeline.end / double(std::min(kPartsOfLane, kPartsOfPage / lanes + 1));
  json::Array stages;
  auto next = timeline.entries.begin();
  for (const auto &[index, stage] : enumerate(report.program.stages)) {
    std::vector<TimelineEntry> entries;
    for (; next != timeline.entries.end() && next->stage == int64_t(index);
         ++next)
      entries.push_back(*next);
    stages.push_back(stageToJSON(stage, timeline.stages[index],
                                 std::move(entries), timeline.end, resolution,
                                 texts));
  }
  return stages;
}

} // namespace autopar
