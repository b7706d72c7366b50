//===- NcclApi.cpp - NCCL, loaded at run time -----------------------------===//

#include "NcclApi.h"

#include "DynamicLibrary.h"

namespace autopar::runtime {

std::string ncclVersionText(int version) {
  // Until 2.8 a minor version took one digit.
  int major = version < 10000 ? version / 1000 : version / 10000;
  int minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(version % 100);
}

Status NcclApi::load() {
  DynamicLibrary library;
  APRT_TRY(library.open({"NCCL",
                         {"libnccl.so.2"},
                         {"nccl"},
                         "2.18.1 or newer",
                         "pip install nvidia-nccl-cu13, or libnccl2 of "
                         "NVIDIA's package repository"}));
  std::string missing;
#define APRT_LOAD(name, parameters)                                            \
  name = reinterpret_cast<decltype(name)>(library.find(#name));
#define APRT_LOAD_REQUIRED(name, parameters)                                   \
  APRT_LOAD(name, parameters)                                                  \
  if (!name && missing.empty())                                                \
    missing = #name;
  APRT_NCCL_FUNCTIONS(APRT_LOAD_REQUIRED)
  APRT_NCCL_TEXT_FUNCTIONS(APRT_LOAD_REQUIRED)
  APRT_NCCL_OPTIONAL_FUNCTIONS(APRT_LOAD)
#undef APRT_LOAD_REQUIRED
#undef APRT_LOAD
  int version = 0;
  if (ncclGetVersion)
    APRT_TRY(check(ncclGetVersion(&version), "ncclGetVersion"));
  if (version < minimumVersion)
    return library.refuse("is version " + ncclVersionText(version));
  if (!missing.empty())
    return library.refuse("lacks " + missing);
  return Status::success();
}

Status NcclApi::check(ncclResult_t result, const char *call,
                      ncclComm_t comm) const {
  if (result == ncclSuccess || result == ncclInProgress)
    return Status::success();
  const char *text = ncclGetErrorString ? ncclGetErrorString(result) : nullptr;
  const char *detail = ncclGetLastError ? ncclGetLastError(comm) : nullptr;
  std::string message = std::string(call) +
                        " failed: " + (text ? text : "unknown error") + " (" +
                        std::to_string(int(result)) + ")";
  if (detail && *detail)
    message += std::string(": ") + detail;
  return Status::error(std::move(message));
}

} // namespace autopar::runtime
