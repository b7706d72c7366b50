//===- DriverApi.cpp - The CUDA driver, loaded at run time ----------------===//

#include "DriverApi.h"

#include <dlfcn.h>

namespace autopar::runtime {

static std::string versionText(int version) {
  return std::to_string(version / 1000) + "." +
         std::to_string(version % 1000 / 10);
}

Status DriverApi::load() { return load("libcuda.so.1"); }

Status DriverApi::load(const char *library) {
  const std::string wanted = " (this program needs an NVIDIA driver for CUDA " +
                             versionText(minimumVersion) + " or newer)";
  // Stays loaded: the driver cannot be unloaded once used.
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return Status::error("no device: the CUDA driver cannot be loaded: " +
                         std::string(dlerror()) + wanted);
#define APRT_LOAD(name, parameters)                                            \
  name = reinterpret_cast<decltype(name)>(dlsym(handle, #name));               \
  if (!name)                                                                   \
    return Status::error(std::string(library) +                                \
                         " lacks " #name ": it is too "                        \
                         "old" +                                               \
                         wanted);
  APRT_DRIVER_FUNCTIONS(APRT_LOAD)
#undef APRT_LOAD
  int version = 0;
  APRT_TRY(check(cuDriverGetVersion(&version), "cuDriverGetVersion"));
  if (version < minimumVersion)
    return Status::error("the CUDA driver is for CUDA " + versionText(version) +
                         ": too old" + wanted);
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
