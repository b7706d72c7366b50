//===- SimulateTest.cpp - Replays of small schedules ----------------------===//

#include "autopar/Simulate/Simulate.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace autopar;
using namespace llvm;

namespace {

Activity work(ActivityKind kind, double seconds, int64_t stream = 0) {
  Activity activity;
  activity.kind = kind;
  activity.seconds = seconds;
  activity.stream = stream;
  activity.name = "work";
  return activity;
}

Activity kernel(double seconds) { return work(ActivityKind::Kernel, seconds); }

Activity message(ActivityKind kind, int64_t channel, double seconds) {
  Activity activity = work(kind, seconds);
  activity.channel = channel;
  return activity;
}

Activity event(ActivityKind kind, int64_t number, int64_t stream) {
  Activity activity = work(kind, 0, stream);
  activity.event = number;
  return activity;
}

/// Stages that each compute, and pass on what they computed.
SimulatedProgram pipeline(ArrayRef<double> seconds, int64_t microBatches,
                          int64_t slots, double messageSeconds = 0) {
  SimulatedProgram program;
  program.microBatches = microBatches;
  program.channelSlots = slots;
  for (size_t stage = 0; stage < seconds.size(); ++stage) {
    StageProgram &one = program.stages.emplace_back();
    if (stage > 0)
      one.activities.push_back(
          message(ActivityKind::Recv, int64_t(stage) - 1, messageSeconds));
    one.activities.push_back(kernel(seconds[stage]));
    if (stage + 1 < seconds.size())
      one.activities.push_back(
          message(ActivityKind::Send, int64_t(stage), messageSeconds));
  }
  return program;
}

TEST(Simulate, OverlappingStepsFollowTheSlowestStage) {
  for (int64_t slots : {0, 2})
    for (int64_t microBatches : {1, 3}) {
      SimulatedProgram program = pipeline({1, 4, 2}, microBatches, slots);
      program.steps = 16;
      Timeline timeline = simulate(program);
      double batches = double(microBatches);
      EXPECT_DOUBLE_EQ(timeline.seconds, 4 * batches);
      EXPECT_DOUBLE_EQ(timeline.end, 3 + 16 * 4 * batches);
      EXPECT_DOUBLE_EQ(timeline.stages[0].computing, batches);
      EXPECT_DOUBLE_EQ(timeline.stages[1].idle, 0);
      EXPECT_DOUBLE_EQ(timeline.stages[2].idle, 2 * batches);
      // The stages' ranks on cores of their own, and all three on one.
      program.channelSlots = 2;
      program.nodeOf = {0, 0, 0};
      program.coresOfNode = {1};
      EXPECT_NEAR(simulate(program).seconds, 7 * batches, 1e-2);
    }
}

TEST(Simulate, EqualStagesTakeTheFormulaOfGPipe) {
  // (m + s - 1) turns; all but m of them idle at each stage.
  for (int64_t stages : {1, 2, 4, 7})
    for (int64_t microBatches : {1, 2, 8, 32})
      for (int64_t slots : {0, 2}) {
        std::vector<double> seconds(stages, 0.5);
        SimulatedProgram program = pipeline(seconds, microBatches, slots);
        Timeline timeline = simulate(program);
        EXPECT_NEAR(timeline.seconds, 0.5 * double(microBatches + stages - 1),
                    1e-9)
            << stages << " stages, " << microBatches << " micro-batches";
        for (const StageTimes &stage : timeline.stages) {
          EXPECT_NEAR(stage.computing, 0.5 * double(microBatches), 1e-9);
          EXPECT_NEAR(stage.idle, 0.5 * double(stages - 1), 1e-9);
        }
      }
}

TEST(Simulate, TheSlowestStageSetsThePace) {
  Timeline timeline = simulate(pipeline({1, 3, 1}, 4, 2));
  EXPECT_NEAR(timeline.seconds, 1 + 4 * 3 + 1, 1e-9);
  // Without slots the first stage waits for the second before it goes on.
  timeline = simulate(pipeline({1, 3, 1}, 4, 0));
  EXPECT_NEAR(timeline.seconds, 1 + 4 * 3 + 1, 1e-9);
}

TEST(Simulate, MessagesKeepBothSidesBusy) {
  // Two slots: both ends copy. A rendezvous: both take part in one transfer.
  Timeline slots = simulate(pipeline({1, 1}, 1, 2, 0.25));
  EXPECT_NEAR(slots.seconds, 1 + 0.25 + 0.25 + 1, 1e-9);
  Timeline rendezvous = simulate(pipeline({1, 1}, 1, 0, 0.25));
  EXPECT_NEAR(rendezvous.seconds, 1 + 0.25 + 1, 1e-9);
  for (const Timeline &timeline : {slots, rendezvous})
    for (const StageTimes &stage : timeline.stages)
      EXPECT_NEAR(stage.messages, 0.25, 1e-9);
}

TEST(Simulate, SlotsAreAllThatASenderIsAhead) {
  // The third message waits until the first was received, at 10.
  Timeline timeline = simulate(pipeline({1, 10}, 4, 2));
  std::vector<double> sends;
  for (const TimelineEntry &entry : timeline.entries)
    if (entry.stage == 0 && entry.activity == 1)
      sends.push_back(entry.start);
  EXPECT_EQ(sends, (std::vector<double>{1, 2, 3, 11}));
}

TEST(Simulate, StreamsOverlapUpToTheirEvents) {
  SimulatedProgram program;
  StageProgram &stage = program.stages.emplace_back();
  stage.streams = 2;
  stage.activities = {kernel(1),
                      event(ActivityKind::RecordEvent, 0, 0),
                      event(ActivityKind::WaitEvent, 0, 1),
                      work(ActivityKind::Collective, 3, 1),
                      event(ActivityKind::RecordEvent, 1, 1),
                      kernel(1),
                      event(ActivityKind::WaitEvent, 1, 0),
                      kernel(1)};
  Timeline timeline = simulate(program);
  EXPECT_NEAR(timeline.seconds, 5, 1e-9);
  EXPECT_NEAR(timeline.stages[0].computing, 3, 1e-9);
  EXPECT_NEAR(timeline.stages[0].communication, 3, 1e-9);
  EXPECT_NEAR(timeline.stages[0].exposed, 2, 1e-9);
  EXPECT_NEAR(timeline.stages[0].idle, 0, 1e-9);
}

TEST(Simulate, MemoryIsWeightsAndArena) {
  SimulatedProgram program;
  StageProgram &stage = program.stages.emplace_back();
  stage.weightBytes = 100;
  stage.arenaBytes = 30;
  stage.activities = {kernel(1)};
  EXPECT_EQ(simulate(program).stages[0].heldBytes, 130);
}

/// So many ranks on the cores of one node.
SimulatedProgram onCores(SimulatedProgram program, int64_t cores) {
  program.nodeOf.assign(program.stages.size() * size_t(program.devicesPerStage),
                        0);
  program.coresOfNode = {cores};
  return program;
}

TEST(SharedCores, CoresForAllChangeNothing) {
  SimulatedProgram program = pipeline({1, 3, 1}, 4, 2, 0.1);
  Timeline apart = simulate(program), own = simulate(onCores(program, 3));
  EXPECT_EQ(own.seconds, apart.seconds);
  EXPECT_EQ(own.entries.size(), apart.entries.size());
}

/// Who waits for a message leaves its core to others.
TEST(SharedCores, WhoWaitsLeavesItsCore) {
  SimulatedProgram program = onCores(pipeline({1, 1}, 1, 2), 1);
  Timeline timeline = simulate(program);
  EXPECT_NEAR(timeline.seconds, 1 + 1, 1e-9);
  EXPECT_NEAR(timeline.stages[0].computing, 1, 1e-9);
  EXPECT_NEAR(timeline.stages[0].idle, 1, 1e-9);
  // However long the pipeline, the core is never idle.
  timeline = simulate(onCores(pipeline({1, 1, 1}, 8, 2), 1));
  EXPECT_NEAR(timeline.seconds, 3 * 8, 1e-9);
}

/// Ranks that are alike take turns; short work ends before the other begins.
TEST(SharedCores, RanksTakeTurns) {
  for (double seconds : {1.0, 1e-3}) {
    SimulatedProgram program;
    program.devicesPerStage = 2;
    StageProgram &stage = program.stages.emplace_back();
    stage.activities = {kernel(seconds),
                        work(ActivityKind::Collective, seconds)};
    Timeline timeline = simulate(onCores(program, 1));
    EXPECT_NEAR(timeline.seconds, 2 * 2 * seconds, 1e-9);
    // A rank of short work waits while the other one works.
    double idle = timeline.stages[0].idle / timeline.seconds;
    if (seconds == 1)
      EXPECT_LT(idle, 0.01);
    else
      EXPECT_GT(idle, 0.2);
  }
}

/// Two of four ranks may go on while the others still have to meet.
TEST(SharedCores, CommunicatorsMeetByThemselves) {
  SimulatedProgram program;
  program.devicesPerStage = 4;
  program.communicators = {{0, 0, 2, 2}, {0, 0, 0, 0}};
  StageProgram &stage = program.stages.emplace_back();
  Activity pairs = work(ActivityKind::Collective, 1),
           all = work(ActivityKind::Collective, 1);
  all.communicators = 1;
  stage.activities = {kernel(1), pairs, all};
  Timeline timeline = simulate(onCores(program, 2));
  EXPECT_NEAR(timeline.seconds, 2 * 3, 0.01);
  EXPECT_EQ(timeline.entries.size(), 3u); // of the first rank
}

TEST(Simulate, TracesAreJson) {
  SimulatedProgram program = pipeline({1e-3, 2e-3}, 2, 2, 1e-4);
  program.devicesPerStage = 4;
  Expected<json::Value> trace =
      json::parse(traceText(program, simulate(program)));
  ASSERT_TRUE(bool(trace)) << toString(trace.takeError());
  size_t activities = 0;
  double last = 0;
  for (const json::Value &value :
       *trace->getAsObject()->getArray("traceEvents")) {
    const json::Object &entry = *value.getAsObject();
    if (entry.getString("ph") != StringRef("X"))
      continue;
    ++activities;
    last = std::max(last, *entry.getNumber("ts") + *entry.getNumber("dur"));
  }
  EXPECT_EQ(activities, 2u * (2 + 2)); // a kernel and a message, twice
  EXPECT_NEAR(last, simulate(program).seconds * 1e6, 1e-6);
}

TEST(Simulate, TablesNameStages) {
  SimulatedProgram program = pipeline({1e-3, 2e-3}, 2, 2);
  std::string text = timelineText(program, simulate(program));
  EXPECT_EQ(text.find("step         5.00 ms simulated, 2 stages, 2 micro-"
                      "batches\n"),
            0u)
      << text;
  EXPECT_NE(text.find("  stage 1    4.00 ms computing (80.0% of the step)"),
            std::string::npos)
      << text;
}

} // namespace
