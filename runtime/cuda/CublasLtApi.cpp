//===- CublasLtApi.cpp - cuBLASLt, loaded at run time ---------------------===//

#include "CublasLtApi.h"

#include "DynamicLibrary.h"

namespace autopar::runtime {

std::string cublasLtVersionText(size_t version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

Status CublasLtApi::load(int driverVersion) {
  DynamicLibrary library;
  std::vector<const char *> files = {"libcublasLt.so.13", "libcublasLt.so.12"};
  if (driverVersion && driverVersion < 13000)
    std::swap(files[0], files[1]);
  APRT_TRY(library.open({"cuBLASLt",
                         files,
                         {"cu13", "cublas"},
                         "12.0 or newer",
                         "pip install nvidia-cublas (for CUDA 12: "
                         "nvidia-cublas-cu12), or a CUDA toolkit"}));
#define APRT_LOAD(result, name, parameters)                                    \
  name = reinterpret_cast<decltype(name)>(library.find(#name));                \
  if (!name)                                                                   \
    return library.refuse("lacks " #name);
  APRT_CUBLASLT_FUNCTIONS(APRT_LOAD)
#undef APRT_LOAD
  file = library.file();
  if (size_t version = cublasLtGetVersion(); version < minimumVersion)
    return library.refuse("is version " + cublasLtVersionText(version));
  return library.checkDriver(int(cublasLtGetCudartVersion()), driverVersion);
}

Status CublasLtApi::check(cublasStatus_t result, const char *call) const {
  if (result == CUBLAS_STATUS_SUCCESS)
    return Status::success();
  return Status::error(std::string(call) +
                       " failed: " + cublasLtGetStatusString(result) + " (" +
                       cublasLtGetStatusName(result) + ")");
}

} // namespace autopar::runtime
