//===- NcclApi.cpp - NCCL, loaded at run time -----------------------------===//

#include "NcclApi.h"

#include "DynamicLibrary.h"

#include <algorithm>

namespace autopar::runtime {

std::string ncclVersionText(int version) {
  // Until 2.8 a minor version took one digit.
  int major = version < 10000 ? version / 1000 : version / 10000;
  int minor = version < 10000 ? version % 1000 / 100 : version % 10000 / 100;
  return std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(version % 100);
}

/// The number at the beginning of `text`, which is taken away; -1: there is
/// none.
static int takeNumber(std::string_view &text) {
  int number = -1;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9' && number < 10000) {
    number = std::max(number, 0) * 10 + (text[0] - '0');
    text.remove_prefix(1);
  }
  return number;
}

int ncclCudaVersion(std::string_view image) {
  constexpr std::string_view prefix = "NCCL version ", cuda = "+cuda";
  constexpr size_t mostBetween = 32;
  for (size_t at = 0;
       (at = image.find(prefix, at)) != std::string_view::npos;) {
    at += prefix.size();
    std::string_view rest = image.substr(at, mostBetween);
    size_t plus = rest.substr(0, rest.find('\0')).find(cuda);
    if (plus == std::string_view::npos)
      continue;
    rest.remove_prefix(plus + cuda.size());
    int major = takeNumber(rest);
    if (major < 0 || rest.empty() || rest[0] != '.')
      continue;
    rest.remove_prefix(1);
    return major * 1000 + std::max(takeNumber(rest), 0) * 10;
  }
  return 0;
}

Status NcclApi::load(int driverVersion) {
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
  return library.checkDriver(ncclCudaVersion(library.imageOf(
                                 reinterpret_cast<void *>(ncclGetVersion))),
                             driverVersion);
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
