//===- TimelineTrace.cpp - A simulated step for Perfetto ------------------===//

#include "autopar/Simulate/Simulate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace autopar {

static StringRef categoryOf(ActivityKind kind) {
  switch (kind) {
  case ActivityKind::Kernel:
    return "kernel";
  case ActivityKind::Collective:
    return "collective";
  case ActivityKind::Send:
    return "send";
  case ActivityKind::Recv:
    return "receive";
  case ActivityKind::RecordEvent:
  case ActivityKind::WaitEvent:
    return "event";
  }
  llvm_unreachable("all kinds are handled");
}

namespace {

class TraceWriter {
public:
  TraceWriter(const SimulatedProgram &program, raw_ostream &os)
      : program(program), json(os) {}

  void write(const Timeline &timeline) {
    json.object([&] {
      json.attribute("displayTimeUnit", "ms");
      json.attributeArray("traceEvents", [&] {
        for (size_t stage = 0; stage < program.stages.size(); ++stage)
          nameStage(stage);
        for (const TimelineEntry &entry : timeline.entries) {
          writeActivity(entry);
          writeMemory(entry);
        }
      });
    });
  }

private:
  void name(StringRef what, int64_t stage, int64_t stream, const Twine &text) {
    json.object([&] {
      json.attribute("ph", "M");
      json.attribute("name", what);
      json.attribute("pid", stage);
      json.attribute("tid", stream);
      json.attributeObject("args", [&] { json.attribute("name", text.str()); });
    });
  }

  void nameStage(int64_t stage) {
    int64_t first = stage * program.devicesPerStage;
    name("process_name", stage, 0,
         "stage " + Twine(stage) + ": a device of " + Twine(first) + " to " +
             Twine(first + program.devicesPerStage - 1));
    int64_t streams = program.stages[stage].streams;
    for (int64_t stream = 0; stream < streams; ++stream)
      name("thread_name", stage, stream,
           streams == 1  ? "kernels and communication"
           : stream == 0 ? "kernels"
                         : "communication");
  }

  void writeActivity(const TimelineEntry &entry) {
    const Activity &activity =
        program.stages[entry.stage].activities[entry.activity];
    json.object([&] {
      json.attribute("ph", "X");
      json.attribute("name", activity.name);
      json.attribute("cat", categoryOf(activity.kind));
      json.attribute("ts", entry.start * 1e6);
      json.attribute("dur", (entry.end - entry.start) * 1e6);
      json.attribute("pid", entry.stage);
      json.attribute("tid", activity.stream);
      json.attributeObject(
          "args", [&] { json.attribute("micro_batch", entry.microBatch); });
    });
  }

  void writeMemory(const TimelineEntry &entry) {
    const StageProgram &stage = program.stages[entry.stage];
    json.object([&] {
      json.attribute("ph", "C");
      json.attribute("name", "memory");
      json.attribute("ts", entry.start * 1e6);
      json.attribute("pid", entry.stage);
      json.attributeObject("args", [&] {
        json.attribute("weights", stage.weightBytes);
        json.attribute("activations",
                       stage.activities[entry.activity].bytesInUse);
      });
    });
  }

  const SimulatedProgram &program;
  json::OStream json;
};

} // namespace

std::string traceText(const SimulatedProgram &program,
                      const Timeline &timeline) {
  std::string text;
  raw_string_ostream os(text);
  TraceWriter(program, os).write(timeline);
  return text + "\n";
}

} // namespace autopar
