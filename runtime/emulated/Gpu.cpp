//===- Gpu.cpp - The whole state of the emulated GPU ----------------------===//

#include "Gpu.h"

#include "Planted.h"

#include "Ranges.h"

#include <cstdlib>

namespace autopar::runtime::emulated {

static std::unique_ptr<Gpu> &instance() {
  static std::unique_ptr<Gpu> the;
  return the;
}

Gpu &gpu() {
  std::unique_ptr<Gpu> &the = instance();
  if (!the)
    the = std::make_unique<Gpu>(optionsFromEnvironment());
  return *the;
}

void restart(const Options &options) {
  instance() = std::make_unique<Gpu>(options);
  (void)plant("");
}

uint64_t chooseBelow(uint64_t bound) { return gpu().choices.below(bound); }

Options optionsFromEnvironment() {
  Options options;
  auto number = [](const char *name, auto &value) {
    if (const char *text = std::getenv(name))
      value = std::strtoull(text, nullptr, 10);
  };
  number("AUTOPAR_EMULATED_SEED", options.seed);
  number("AUTOPAR_EMULATED_DEVICES", options.devices);
  number("AUTOPAR_EMULATED_MEMORY", options.memoryBytes);
  number("AUTOPAR_EMULATED_LEAKS", options.reportLeaks);
  return options;
}

std::string labelled(const std::string &name) {
  const std::string &label = gpu().label;
  return label.empty() ? name : name + " of " + label;
}

void setLabel(const char *op) { gpu().label = op ? op : ""; }
const std::string &label() { return gpu().label; }

CUresult ready() {
  Gpu &state = gpu();
  if (!state.initialised)
    return refuse(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
  if (!state.contextUses || state.contextThread != std::this_thread::get_id())
    return refuse(CUDA_ERROR_INVALID_CONTEXT,
                  "no context is current in the calling thread");
  return faultCode();
}

std::vector<std::string> leaks() {
  Gpu &state = gpu();
  std::vector<std::string> result;
  for (const Allocation *allocation : state.memory.live())
    result.push_back(state.memory.describe(allocation->address));
  for (auto &names : {state.queues.openHandles(), state.graphs.openHandles(),
                      state.modules.openHandles()})
    result.insert(result.end(), names.begin(), names.end());
  return result;
}

//===----------------------------------------------------------------------===//
// For the libraries
//===----------------------------------------------------------------------===//

bool isDeviceAddress(CUdeviceptr address) {
  return gpu().memory.isDevice(address);
}

char *memory(CUdeviceptr address) { return gpu().memory.bytes(address); }

bool isInitialised(CUdeviceptr address, size_t bytes) {
  Allocation *allocation = gpu().memory.find(address);
  if (!allocation || !allocation->live)
    return false;
  size_t begin = address - allocation->address;
  return allocation->initialised.firstUnset(begin, begin + bytes) ==
         begin + bytes;
}

void copyInitialised(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  Allocation *target = gpu().memory.find(to);
  Allocation *source = gpu().memory.find(from);
  target->initialised.copy(to - target->address, source->initialised,
                           from - source->address, bytes);
}

bool isStream(CUstream stream) { return gpu().queues.find(stream); }

bool isCapturing(CUstream stream) {
  Stream *found = gpu().queues.find(stream);
  return found && found->capture;
}

bool holdsGraphs() { return !gpu().graphs.openHandles().empty(); }

CUresult enqueue(CUstream handle, Work work) {
  if (CUresult code = ready())
    return code;
  Gpu &state = gpu();
  Stream *stream = state.queues.find(handle);
  if (!stream)
    return refuse(CUDA_ERROR_INVALID_HANDLE,
                  "'" + labelled(work.name) + "': not a live stream");
  if (CUresult code = state.graphs.mayEnqueue(*stream))
    return code;
  auto operation = std::make_shared<Operation>();
  operation->name =
      std::make_shared<OpName>(OpName{labelled(work.name), stream->name});
  operation->work = std::move(work);
  if (!stream->capture)
    return state.queues.enqueue(*stream, std::move(operation));
  for (const Range &range : operation->work.ranges)
    if (CUresult code = checkRange(range, *operation->name))
      return code;
  stream->capture->add(*stream, std::move(operation));
  return CUDA_SUCCESS;
}

bool progress() { return gpu().queues.step(); }

static void (*background)() = nullptr;

void setBackground(void (*act)()) { background = act; }

void actInBackground() {
  if (background)
    background();
}

} // namespace autopar::runtime::emulated
