//===- CudnnApi.cpp - cuDNN's graph API, loaded at run time ---------------===//

#include "CudnnApi.h"

#include "DynamicLibrary.h"

namespace autopar::runtime {

std::string cudnnVersionText(size_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

Status CudnnApi::load(int driverVersion) {
  // Engines that compile at run time look for NVRTC by its name alone: one that
  // is loaded already is found.
  DynamicLibrary compiler, library;
  (void)compiler.open({"NVRTC",
                       {"libnvrtc.so.13", "libnvrtc.so.12"},
                       {"cu13", "cuda_nvrtc"},
                       "",
                       ""});
  APRT_TRY(library.open({"cuDNN",
                         {"libcudnn.so.9"},
                         {"cudnn"},
                         "9.0 or newer",
                         "pip install nvidia-cudnn-cu13 (for CUDA 12: "
                         "nvidia-cudnn-cu12), or the system's package"}));
#define APRT_LOAD(result, name, parameters)                                    \
  name = reinterpret_cast<decltype(name)>(library.find(#name));                \
  if (!name)                                                                   \
    return library.refuse("lacks " #name);
  APRT_CUDNN_FUNCTIONS(APRT_LOAD)
#undef APRT_LOAD
  file = library.file();
  if (size_t version = cudnnGetVersion(); version < minimumVersion)
    return library.refuse("is version " + cudnnVersionText(version));
  return library.checkDriver(int(cudnnGetCudartVersion()), driverVersion);
}

Status CudnnApi::check(cudnnStatus_t result, const char *call) const {
  if (result == CUDNN_STATUS_SUCCESS)
    return Status::success();
  char more[512] = "";
  cudnnGetLastErrorString(more, sizeof(more));
  std::string text =
      std::string(call) + " failed: " + cudnnGetErrorString(result);
  return Status::error(*more ? text + " (" + more + ")" : text);
}

} // namespace autopar::runtime
