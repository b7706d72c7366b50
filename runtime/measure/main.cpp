//===- main.cpp - autopar-measure -----------------------------------------===//
//
// Measures this host and prints JSON; `autopar calibrate` makes a device file
// of it.
//
//===----------------------------------------------------------------------===//

#include "Measurement.h"

#include <cstdio>
#include <cstring>

using namespace autopar::runtime;

/// What rounds on an idle host differ by.
static constexpr double kSteady = 0.1;

static int fail(const std::string &message, int code = 1) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}

static const char help[] =
    "usage: autopar-measure [--target cpu|cuda|emulated]\n\n"
    "Measures this host and prints JSON, which `autopar calibrate` makes a "
    "device file of:\nflop/s of GEMMs by type, bytes/s of a copy, "
    "seconds of one more launch of a kernel\nthat does nothing; of cores how "
    "far computing and memory traffic overlap, too, and what\ntwo ranks send "
    "each other. Keep the host idle meanwhile.\n\n"
    "  --target KIND  only the cpu, only the GPU (cuda), or the emulated GPU, "
    "whose speed says\n                 nothing (default: the CPU, and a GPU "
    "where there is one)\n"
    "  --help         this text\n";

/// Adds what is measured of a GPU; without being asked for one by `target`,
/// what cannot be measured is only warned of.
static int addGpu(const std::string &target,
                  std::vector<Measurement> &measurements) {
  Measurement gpu;
  bool found = false;
  Status status = measureGpu(target == "emulated", found, gpu);
  if (status.failed() && !target.empty())
    return fail(status.message());
  if (status.failed())
    std::fprintf(stderr, "warning: the GPU is not measured: %s\n",
                 status.message().c_str());
  else if (found)
    measurements.push_back(gpu);
  else if (target == "cuda")
    return fail("there is no GPU to measure: no NVIDIA driver (libcuda.so.1) "
                "with a device on this host");
  return 0;
}

int main(int count, char **arguments) {
  if (count == 2 && !std::strcmp(arguments[1], "--help")) {
    std::fputs(help, stdout);
    return 0;
  }
  std::string target =
      count == 3 && !std::strcmp(arguments[1], "--target") ? arguments[2] : "";
  if (count != 1 && target != "cpu" && target != "cuda" && target != "emulated")
    return fail("usage: autopar-measure [--target cpu|cuda|emulated]; --help "
                "says more",
                2);
  std::vector<Measurement> measurements;
  if (target.empty() || target == "cpu") {
    Measurement cpu;
    if (Status status = measureCpu(cpu); status.failed())
      return fail(status.message());
    measurements.push_back(cpu);
  }
  if (target != "cpu")
    if (int code = addGpu(target, measurements))
      return code;
  for (const Measurement &each : measurements)
    if (each.unsteadiness > kSteady)
      std::fprintf(stderr,
                   "warning: this host was busy: the same GEMMs took %.0f%% "
                   "longer in one round than in another; measure again while "
                   "it is idle\n",
                   100 * each.unsteadiness);
  std::fputs(toJson(measurements).c_str(), stdout);
  return 0;
}
