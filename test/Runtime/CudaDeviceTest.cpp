//===- CudaDeviceTest.cpp - The CUDA device on the emulated driver --------===//

#include "cuda/CudaDevice.h"
#include "autopar/emulated.h"
#include "core/RankContext.h"
#include "emulated/EmulatedDevice.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace autopar::runtime;

namespace {

//===----------------------------------------------------------------------===//
// A program with one kernel
//===----------------------------------------------------------------------===//

constexpr int64_t count = 1000, threads = 128;
constexpr int64_t blocks = (count + threads - 1) / threads;

/// to[i] = from[i] + addend, a thread per element.
void addEntry(void *const *arguments, apemu_thread *thread) {
  const float *from = *static_cast<const float *const *>(arguments[0]);
  float *to = *static_cast<float *const *>(arguments[1]);
  int64_t addend = *static_cast<const int64_t *>(arguments[2]);
  int64_t i = int64_t(thread->block_index[0]) * threads +
              int64_t(thread->thread_index[0]);
  if (i >= count)
    return;
  apemu_global(thread, from + i, 4, APEMU_READ, 0);
  apemu_global(thread, to + i, 4, APEMU_WRITE, 1);
  to[i] = from[i] + float(addend);
}

const apemu_parameter parameters[] = {{count * 4, APEMU_READ},
                                      {count * 4, APEMU_WRITE}};
const apemu_kernel kernels[] = {{"add", addEntry, 0, 0, 2, 1, parameters}};
const apemu_module module = {APEMU_MAGIC, 1, kernels};

Manifest addManifest() {
  Manifest manifest;
  manifest.target = Target::Emulated;
  manifest.streams = 2;
  manifest.packedSlots = {0};
  manifest.ops.resize(2);
  manifest.ops[0].name = "/compute";
  manifest.ops[1].name = "/communicate";
  manifest.ops[1].stream = 1;
  KernelEntry kernel;
  kernel.name = "add";
  kernel.threads = threads;
  kernel.scalars = 1;
  kernel.buffers = {{count * 4, true, false}, {count * 4, false, true}};
  manifest.kernels = {kernel};
  return manifest;
}

class CudaDeviceTest : public ::testing::Test {
protected:
  CudaDeviceTest() { emulated::restart(emulated::Options()); }

  Status create() {
    CudaTables tables;
    emulated::bindEmulated(tables.driver);
    return CudaDevice::create(std::move(tables), manifest, 0, {&module, ptx},
                              options, memory, device);
  }
  void start() {
    ASSERT_EQ(create().message(), "");
    for (void **buffer : {&input, &middle, &output})
      ASSERT_EQ(device->allocate(count * 4, "a test", memory.arena, *buffer)
                    .message(),
                "");
  }
  Transfer transfer(void *at, std::vector<float> &host, bool toDevice) {
    Transfer result;
    result.device = at;
    result.slice.intervals = {{count, 0, count}};
    result.slice.elementBytes = 4;
    result.slice.copy = [&host, toDevice](const std::vector<Interval> &part,
                                          char *staging) {
      if (toDevice)
        readSlice(part, 4, host.data(), staging);
      else
        writeSlice(part, 4, staging, host.data());
      return Status::success();
    };
    return result;
  }
  Status add(int op, void *from, void *to, int64_t addend) {
    APRT_TRY(device->beginOp(op));
    void *buffers[] = {from, to};
    APRT_TRY(device->launchGrid(0, buffers, &addend, blocks));
    return device->endOp();
  }
  Status event(int op, int number, bool isRecord) {
    APRT_TRY(device->beginOp(op));
    APRT_TRY(isRecord ? device->recordEvent(number)
                      : device->waitEvent(number));
    return device->endOp();
  }
  /// output = input + 3: the second addition on the other stream.
  Status step() {
    ++bodies;
    APRT_TRY(add(0, input, middle, 1));
    APRT_TRY(event(0, 0, true));
    if (orders)
      APRT_TRY(event(1, 0, false));
    APRT_TRY(add(1, middle, output, 2));
    APRT_TRY(event(1, 1, true));
    return event(0, 1, false);
  }
  /// Steps with input i, i+1, ... in step i; checks every result.
  void runSteps(int steps) {
    std::vector<float> host(count), result(count);
    auto fill = [&](int step) {
      std::iota(host.begin(), host.end(), float(step));
    };
    fill(0);
    ASSERT_EQ(device->feed({transfer(input, host, true)}).message(), "");
    for (int i = 0; i < steps; ++i) {
      ASSERT_EQ(device->runStep(0, [&] { return step(); }).message(), "");
      ASSERT_EQ(device->collect({transfer(output, result, false)}).message(),
                "");
      fill(i + 1);
      ASSERT_EQ(device->feed({transfer(input, host, true)}).message(), "");
      ASSERT_EQ(device->synchronize().message(), "");
      for (int64_t k = 0; k < count; ++k)
        ASSERT_EQ(result[size_t(k)], float(k + i + 3)) << "step " << i;
    }
  }

  Manifest manifest = addManifest();
  const void *ptx = nullptr; // of the same kernels
  CudaOptions options;
  RankMemory memory;
  std::unique_ptr<CudaDevice> device;
  void *input = nullptr, *middle = nullptr, *output = nullptr;
  int bodies = 0;
  bool orders = true; // the second stream waits for the first
};

/// What is dense in the host's tensor is not staged; the memory is the host's
/// again in the end.
TEST_F(CudaDeviceTest, DenseOutputsGoStraightToTheirPlace) {
  start();
  std::vector<float> host(count), whole(2 * count);
  std::iota(host.begin(), host.end(), 0.0f);
  ASSERT_EQ(device->feed({transfer(input, host, true)}).message(), "");
  int64_t pinned = memory.pinned.currentBytes();
  for (int64_t half : {0, 1}) {
    Transfer out = transfer(output, host, false);
    out.slice.copy = [](const std::vector<Interval> &, char *) {
      return Status::error("staged");
    };
    out.slice.dense = reinterpret_cast<char *>(whole.data() + half * count);
    out.slice.tensor = reinterpret_cast<char *>(whole.data());
    out.slice.tensorBytes = 2 * count * 4;
    ASSERT_EQ(device->runStep(half, [&] { return step(); }).message(), "");
    ASSERT_EQ(device->collect({out}).message(), "");
    ASSERT_EQ(device->feed({transfer(input, host, true)}).message(), "");
  }
  ASSERT_EQ(device->synchronize().message(), "");
  for (int64_t k = 0; k < 2 * count; ++k)
    ASSERT_EQ(whole[size_t(k)], float(k % count + 3));
  EXPECT_EQ(memory.pinned.currentBytes(), 2 * pinned); // of inputs alone
  EXPECT_EQ(device->counters().outputBytes, 2 * count * 4);
  EXPECT_GT(device->counters().gpuSeconds, 0);
  EXPECT_GT(device->counters().transferSeconds, 0);
  device.reset();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, MemoryIsCountedByKind) {
  start();
  EXPECT_EQ(memory.arena.currentBytes(), 3 * count * 4);
  ASSERT_TRUE(device->release(middle).ok());
  EXPECT_EQ(memory.arena.currentBytes(), 2 * count * 4);
  EXPECT_EQ(memory.whole.peakBytes(), 3 * count * 4);
  EXPECT_TRUE(device->release(nullptr).ok());
  EXPECT_NE(device->release(middle).message().find("never allocated"),
            std::string::npos);
  void *nothing = nullptr;
  ASSERT_TRUE(device->allocate(0, "nothing", memory.arena, nothing).ok());
  EXPECT_NE(nothing, nullptr);
}

TEST_F(CudaDeviceTest, AFullDeviceSaysWhatDidNotFit) {
  start();
  void *memoryOfTooMuch = nullptr;
  std::string message = device
                            ->allocate(int64_t(1) << 45, "the arena",
                                       memory.arena, memoryOfTooMuch)
                            .message();
  EXPECT_NE(message.find("no room for 35184372088832 bytes of the arena"),
            std::string::npos)
      << message;
}

/// Larger than the staging, so that both its buffers are used again and again,
/// and cut inside rows.
TEST_F(CudaDeviceTest, UploadsGoThroughStagingInParts) {
  ASSERT_EQ(create().message(), "");
  constexpr int64_t rows = 3, columns = 3 << 20;
  void *tensor = nullptr;
  ASSERT_TRUE(
      device
          ->allocate(rows * columns * 4, "a tensor", memory.persistent, tensor)
          .ok());
  auto value = [](int64_t i) { return int32_t(i * 7 + 1); };
  int parts = 0;
  HostSlice slice;
  slice.intervals = {{rows, 0, rows}, {columns, 0, columns}};
  slice.elementBytes = 4;
  slice.copy = [&](const std::vector<Interval> &part, char *staging) {
    ++parts;
    forEachRun(part, [&](const SliceRun &run) {
      for (int64_t i = 0; i < run.count; ++i)
        reinterpret_cast<int32_t *>(staging)[run.localOffset + i] =
            value(run.globalOffset + i);
      return true;
    });
    return Status::success();
  };
  ASSERT_EQ(device->upload(tensor, slice).message(), "");
  ASSERT_EQ(device->synchronize().message(), "");
  EXPECT_GE(parts, 4);
  const int32_t *bytes = emulated::memoryAs<int32_t>(deviceAddress(tensor));
  for (int64_t i = 0; i < rows * columns; i += 997)
    ASSERT_EQ(bytes[i], value(i)) << i;
  EXPECT_GT(memory.pinned.currentBytes(), 0);
  ASSERT_TRUE(device->feed({}).ok());
  EXPECT_EQ(memory.pinned.currentBytes(),
            0); // steps need no staging of weights
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, StepsAreRepeatedAsAGraph) {
  start();
  runSteps(6);
  EXPECT_EQ(bodies, 3); // twice as it is, once captured
  EXPECT_EQ(device->repeatRefusal(), "");
}

TEST_F(CudaDeviceTest, GraphsCanBeTurnedOff) {
  options.graphs = false;
  start();
  runSteps(4);
  EXPECT_EQ(bodies, 4);
}

TEST_F(CudaDeviceTest, WhatCannotBeCapturedRunsAsItIs) {
  start();
  int runs = 0;
  auto body = [&]() -> Status {
    ++runs;
    if (device->isCapturing())
      return Status::error("this library call cannot be captured");
    return step();
  };
  std::vector<float> host(count, 1);
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(device->feed({transfer(input, host, true)}).ok());
    ASSERT_EQ(device->runStep(0, body).message(), "");
    ASSERT_EQ(device->synchronize().message(), "");
  }
  EXPECT_EQ(runs, 5);
  EXPECT_EQ(device->repeatRefusal(), "this library call cannot be captured");
}

/// Addresses in graphs would be stale, and one rank alone must not make them
/// again.
TEST_F(CudaDeviceTest, MemoryThatGraphsNameMustStay) {
  start();
  runSteps(4);
  ASSERT_TRUE(device->release(middle).ok());
  ASSERT_TRUE(device->allocate(count * 4, "a test", memory.arena, middle).ok());
  Status status = device->runStep(0, [&] { return step(); });
  EXPECT_EQ(status.message(), "memory moved that the graph of a step names");
}

/// Ranks make graphs all or none: before the capture, or after it.
TEST_F(CudaDeviceTest, OtherRanksCanRefuseGraphs) {
  for (int refused : {1, 2}) {
    start();
    int asked = 0;
    std::vector<bool> said;
    device->place().setAgreement([&](bool mine, bool &all) {
      said.push_back(mine);
      all = ++asked != refused;
      return Status::success();
    });
    bodies = 0;
    runSteps(5);
    EXPECT_EQ(bodies, 5 + (refused == 2 ? 1 : 0)); // captured, thrown away
    EXPECT_EQ(said, std::vector<bool>(size_t(refused), true));
    EXPECT_EQ(device->repeatRefusal(),
              "the steps of another rank cannot be graphs");
    device.reset();
  }
}

/// A rank that wants none tells it where the others ask.
TEST_F(CudaDeviceTest, AllRanksHearOfARankWithoutGraphs) {
  options.graphs = false;
  start();
  std::vector<bool> said;
  device->place().setAgreement([&](bool mine, bool &all) {
    said.push_back(mine);
    all = false;
    return Status::success();
  });
  runSteps(5);
  EXPECT_EQ(said, std::vector<bool>{false});
}

/// As after a failure: what is repeated ends, what runs is not waited for.
TEST_F(CudaDeviceTest, GraphsEndWithoutAWait) {
  start();
  runSteps(4);
  emulated::Work never;
  never.name = "never";
  never.poll = [](bool) { return emulated::Progress::notYet; };
  ASSERT_EQ(emulated::enqueue(device->place().stream(0), std::move(never)),
            CUDA_SUCCESS);
  ASSERT_TRUE(device->runStep(0, [&] { return step(); }).ok());
  EXPECT_TRUE(emulated::holdsGraphs());
  device->endSteps();
  EXPECT_FALSE(emulated::holdsGraphs());
  EXPECT_EQ(emulated::faultText(), "");
  device.reset();
}

TEST_F(CudaDeviceTest, AnEventOfAnEarlierRunIsNone) {
  options.graphs = false;
  start();
  runSteps(1);
  Status status = device->runStep(0, [&] { return event(1, 0, false); });
  EXPECT_EQ(status.message(),
            "event 0 was never recorded in this run of the step");
}

TEST_F(CudaDeviceTest, AMissingEventNamesBothOps) {
  orders = false;
  options.graphs = false;
  start();
  std::vector<float> host(count, 1);
  ASSERT_TRUE(device->feed({transfer(input, host, true)}).ok());
  Status status = device->runStep(0, [&] { return step(); });
  if (status.ok())
    status = device->synchronize();
  EXPECT_NE(status.message().find("/compute"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("/communicate"), std::string::npos)
      << status.message();
}

TEST_F(CudaDeviceTest, TracesTimeEveryOp) {
  start();
  std::vector<TraceEvent> events;
  ASSERT_TRUE(device
                  ->startTrace(
                      [&](const TraceEvent &event) { events.push_back(event); })
                  .ok());
  runSteps(2);
  ASSERT_EQ(events.size(), 2u * 6);
  EXPECT_EQ(events[0].op, 0);
  EXPECT_EQ(events[3].op, 1);
  for (const TraceEvent &event : events)
    EXPECT_GE(event.seconds, 0);
  EXPECT_LE(events[0].start, events[6].start);
}

/// A rank whose peers died must not wait for its streams.
TEST_F(CudaDeviceTest, ThePollEndsWaits) {
  start();
  int polls = 0;
  device->place().setWaitPoll([&](double) {
    return ++polls < 3 ? Status::success() : Status::error("a rank died");
  });
  emulated::Work never;
  never.name = "never";
  never.poll = [](bool) { return emulated::Progress::notYet; };
  ASSERT_EQ(emulated::enqueue(device->place().stream(1), std::move(never)),
            CUDA_SUCCESS);
  EXPECT_EQ(device->synchronize().message(), "a rank died");
  EXPECT_EQ(polls, 3);
}

/// Memory, streams, events, graphs, kernels.
TEST_F(CudaDeviceTest, ADeviceGivesAllBack) {
  emulated::Options strict;
  strict.reportLeaks = true;
  emulated::restart(strict);
  start();
  runSteps(4);
  device.reset();
  EXPECT_EQ(emulated::faultKind(), emulated::FaultKind::none)
      << emulated::faultText();
  EXPECT_EQ(memory.whole.currentBytes(), 0);
  EXPECT_EQ(memory.pinned.currentBytes(), 0);
}

//===----------------------------------------------------------------------===//
// Refusals
//===----------------------------------------------------------------------===//

TEST_F(CudaDeviceTest, NoDeviceIsSaid) {
  emulated::Options none;
  none.devices = 0;
  emulated::restart(none);
  std::string message = create().message();
  EXPECT_EQ(message.rfind("no device: ", 0), 0u) << message;
  EXPECT_NE(message.find("finds no GPU"), std::string::npos) << message;
}

TEST_F(CudaDeviceTest, TooFewDevicesAreSaid) {
  emulated::Options two;
  two.devices = 2;
  emulated::restart(two);
  options.device = 2;
  EXPECT_NE(create().message().find("needs GPU 2 of its host, which has 2"),
            std::string::npos);
}

TEST_F(CudaDeviceTest, KernelsMustFit) {
  manifest.kernels[0].name = "subtract";
  EXPECT_NE(create().message().find("kernel 'subtract'"), std::string::npos);
}

TEST_F(CudaDeviceTest, CallsOutOfRangeAreRefused) {
  start();
  EXPECT_NE(device->waitEvent(5).message().find("never recorded"),
            std::string::npos);
  EXPECT_NE(device->recordEvent(-1).message().find("out of range"),
            std::string::npos);
  int64_t addend = 1;
  void *buffers[] = {input, output};
  EXPECT_NE(device->launchGrid(0, buffers, &addend, int64_t(1) << 40)
                .message()
                .find("more than this GPU's grids"),
            std::string::npos);
  EXPECT_TRUE(device->launchGrid(0, buffers, &addend, 0).ok());
}

} // namespace
