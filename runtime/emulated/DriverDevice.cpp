//===- DriverDevice.cpp - Emulated driver: device, context, errors --------===//

#include "Driver.h"
#include "Planted.h"

#include <cstdio>
#include <cstring>

namespace autopar::runtime::emulated {

void bindEmulated(DriverApi &api) {
#define APEMU_BIND(name, parameters) api.name = &emulated::name;
  APRT_DRIVER_FUNCTIONS(APEMU_BIND)
#undef APEMU_BIND
  api.setLabel = &setLabel;
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

CUresult cuInit(unsigned flags) {
  if (flags)
    return refuse(CUDA_ERROR_INVALID_VALUE, "cuInit takes no flags");
  if (plantedProblem().failed())
    return refuse(CUDA_ERROR_UNKNOWN, plantedProblem().message());
  gpu().initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  *version = isPlanted(Planted::driver) ? int(planted(Planted::driver)) : 13000;
  return CUDA_SUCCESS;
}

static CUresult checkDevice(int64_t device) {
  if (!gpu().initialised)
    return refuse(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
  if (device < 0 || device >= gpu().options.devices)
    return refuse(CUDA_ERROR_INVALID_DEVICE,
                  "device " + std::to_string(device) + " of " +
                      std::to_string(gpu().options.devices));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  if (!gpu().initialised)
    return refuse(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called");
  *count = int(gpu().options.devices);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  if (CUresult code = checkDevice(ordinal))
    return code;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  if (CUresult code = checkDevice(device))
    return code;
  std::snprintf(name, size_t(length), "autopar emulated GPU");
  return CUDA_SUCCESS;
}

/// As an H100 has them.
static int attributeOf(CUdevice_attribute attribute) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return int(LaunchLimits::threads);
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    return int(LaunchLimits::gridX);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return int(LaunchLimits::shared);
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return int(LaunchLimits::sharedWhenAsked);
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return 1980000;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return 132;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 2619000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 5120;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return 50 << 20;
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    return 1;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return 9;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return 0;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
    return 0;
  }
  return -1;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice device) {
  if (CUresult code = checkDevice(device))
    return code;
  *value = attributeOf(attribute);
  if (*value < 0)
    return refuse(CUDA_ERROR_INVALID_VALUE, "device attribute " +
                                                std::to_string(attribute) +
                                                " is not emulated");
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  if (CUresult code = checkDevice(device))
    return code;
  *bytes = size_t(gpu().options.memoryBytes);
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Context
//===----------------------------------------------------------------------===//

static CUcontext contextHandle() {
  return reinterpret_cast<CUcontext>(&gpu().contextUses);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  if (CUresult code = checkDevice(device))
    return code;
  Gpu &state = gpu();
  if (state.contextUses && state.device != device)
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "a process has one emulated GPU: it uses device " +
                      std::to_string(state.device) + " already");
  state.device = device;
  ++state.contextUses;
  *context = contextHandle();
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  Gpu &state = gpu();
  if (!state.contextUses || state.device != device)
    return refuse(CUDA_ERROR_INVALID_CONTEXT, "the context of device " +
                                                  std::to_string(device) +
                                                  " is not held");
  if (--state.contextUses > 0 || !state.options.reportLeaks)
    return faultCode();
  std::string text;
  for (const std::string &leak : leaks())
    text += (text.empty() ? "not given back: " : ", ") + leak;
  return text.empty() ? faultCode() : fault(FaultKind::leak, text);
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (context && context != contextHandle())
    return refuse(CUDA_ERROR_INVALID_CONTEXT, "not a context");
  gpu().contextThread =
      context ? std::this_thread::get_id() : std::thread::id();
  return faultCode();
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

CUresult cuGetErrorName(CUresult error, const char **text) {
  *text = nullptr;
  switch (error) {
#define APEMU_NAME(name)                                                       \
  case name:                                                                   \
    *text = #name;                                                             \
    return CUDA_SUCCESS;
    APRT_DRIVER_ERRORS(APEMU_NAME)
#undef APEMU_NAME
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  const FaultState &state = gpu().faults;
  if (state.kind != FaultKind::none && error == state.code)
    *text = state.text.c_str();
  else if (error == state.refusedCode && error != CUDA_SUCCESS)
    *text = state.refusedText.c_str();
  else
    return cuGetErrorName(error, text);
  return CUDA_SUCCESS;
}

} // namespace autopar::runtime::emulated
