//===- DriverApi.cpp - The CUDA driver, loaded at run time ----------------===//

#include "DriverApi.h"

#include <dlfcn.h>

namespace autopar::runtime {

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Status DriverApi::load() { return load("libcuda.so.1"); }

/// What is wanted, and where it comes from.
static std::string wanted() {
  return "; this program needs an NVIDIA driver for CUDA " +
         versionText(DriverApi::minimumVersion) +
         " or newer: install the distribution's (Debian: nvidia-driver, "
         "Ubuntu: "
         "nvidia-driver-NNN-server) or the one of nvidia.com/drivers; a "
         "container takes the host's (docker run --gpus all)";
}

Status DriverApi::load(const char *library) {
  // Stays loaded: the driver cannot be unloaded once used.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::error("no device: the CUDA driver cannot be loaded: " +
                         std::string(dlerror()) + wanted());
#define APRT_LOAD(name, parameters)                                            \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, #name));               \
  if (!name)                                                                   \
    return Status::error("no device: the CUDA driver is too old: " +           \
                         std::string(library) + " lacks " #name + wanted());
  APRT_DRIVER_FUNCTIONS(APRT_LOAD)
#undef APRT_LOAD
  int version = 0;
  APRT_TRY(check(cuDriverGetVersion(&version), "cuDriverGetVersion"));
  if (version < minimumVersion)
    return Status::error("no device: the CUDA driver is too old: it is for "
                         "CUDA " +
                         versionText(version) + wanted());
  return Status::success();
}

Status DriverApi::check(CUresult result, const char *call) const {
  if (result == CUDA_SUCCESS)
    return Status::success();
  const char *name = nullptr, *text = nullptr;
  if (!cuGetErrorName || cuGetErrorName(result, &name) != CUDA_SUCCESS || !name)
    name = "unknown error";
  if (!cuGetErrorString || cuGetErrorString(result, &text) != CUDA_SUCCESS ||
      !text)
    text = "no description";
  std::string message = std::string(call) + " failed: " + text + " (" + name +
                        ", " + std::to_string(int(result)) + ")";
  if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_STUB_LIBRARY)
    message = "no device: " + message;
  return Status::error(std::move(message));
}

} // namespace autopar::runtime
