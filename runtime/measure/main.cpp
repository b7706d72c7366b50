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

static int fail(const std::string &message, int code = 1) {
  std::fprintf(stderr, "error: %s\n", message.c_str());
  return code;
}

int main(int count, char **arguments) {
  std::string target =
      count == 3 && !std::strcmp(arguments[1], "--target") ? arguments[2] : "";
  if (count != 1 && target != "cpu" && target != "cuda" && target != "emulated")
    return fail("usage: autopar-measure [--target cpu|cuda|emulated]; without "
                "it the CPU, and a GPU where there is one",
                2);
  std::vector<Measurement> measurements;
  if (target.empty() || target == "cpu") {
    Measurement cpu;
    if (Status status = measureCpu(cpu); status.failed())
      return fail(status.message());
    measurements.push_back(cpu);
  }
  if (target != "cpu") {
    Measurement gpu;
    bool found = false;
    if (Status status = measureGpu(target == "emulated", found, gpu);
        status.failed())
      return fail(status.message());
    if (!found && target == "cuda")
      return fail("there is no GPU to measure: no NVIDIA driver (libcuda.so.1) "
                  "with a device on this host");
    if (found)
      measurements.push_back(gpu);
  }
  std::fputs(toJson(measurements).c_str(), stdout);
  return 0;
}
