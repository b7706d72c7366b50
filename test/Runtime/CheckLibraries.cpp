//===- CheckLibraries.cpp - Load the CUDA libraries that are there --------===//
//
// For check_cuda_libraries.py, on hosts with or without a GPU:
//   autopar-check-libraries         loads cuBLASLt, cuDNN and NCCL by the
//   tables
//                                   of the runtime and tells their versions,
//                                   then what a program says at its start
//   autopar-check-libraries --list  the header and name of every function
//
//===----------------------------------------------------------------------===//

#include "cuda/CublasLtApi.h"
#include "cuda/CudaContext.h"
#include "cuda/CudnnApi.h"
#include "cuda/NcclApi.h"

#include <cstdio>
#include <cstring>

using namespace autopar::runtime;

static void list(const char *header, const char *name) {
  std::printf("%s %s\n", header, name);
}

static int listFunctions() {
#define APRT_ROW(name, parameters) list("cuda.h", #name);
  APRT_DRIVER_FUNCTIONS(APRT_ROW)
#undef APRT_ROW
#define APRT_ROW(result, name, parameters) list("cublasLt.h", #name);
  APRT_CUBLASLT_FUNCTIONS(APRT_ROW)
#undef APRT_ROW
#define APRT_ROW(result, name, parameters) list("cudnn.h", #name);
  APRT_CUDNN_FUNCTIONS(APRT_ROW)
#undef APRT_ROW
#define APRT_ROW(name, parameters) list("nccl.h", #name);
  APRT_NCCL_FUNCTIONS(APRT_ROW)
  APRT_NCCL_TEXT_FUNCTIONS(APRT_ROW)
#undef APRT_ROW
#define APRT_ROW(name, parameters) list("nccl.h optional", #name);
  APRT_NCCL_OPTIONAL_FUNCTIONS(APRT_ROW)
#undef APRT_ROW
  return 0;
}

static bool report(const char *name, const Status &status,
                   const std::string &version, int functions,
                   const std::string &file) {
  if (status.failed())
    std::printf("%s: %s\n", name, status.message().c_str());
  else
    std::printf("%s %s: all of %d functions, %s\n", name, version.c_str(),
                functions, file.c_str());
  return status.ok();
}

#define APRT_COUNT(...) +1

static bool loadLibraries() {
  CublasLtApi blas;
  CudnnApi dnn;
  NcclApi nccl;
  Status blasStatus = blas.load(), dnnStatus = dnn.load();
  Status ncclStatus = nccl.load();
  int version = 0;
  if (ncclStatus.ok())
    ncclStatus = nccl.check(nccl.ncclGetVersion(&version), "ncclGetVersion");
  bool good = report(
      "cuBLASLt", blasStatus,
      blasStatus.ok() ? cublasLtVersionText(blas.cublasLtGetVersion()) : "",
      0 APRT_CUBLASLT_FUNCTIONS(APRT_COUNT), blas.file);
  good &= report("cuDNN", dnnStatus,
                 dnnStatus.ok() ? cudnnVersionText(dnn.cudnnGetVersion()) : "",
                 0 APRT_CUDNN_FUNCTIONS(APRT_COUNT), dnn.file);
  int functions =
      0 APRT_NCCL_FUNCTIONS(APRT_COUNT) APRT_NCCL_TEXT_FUNCTIONS(APRT_COUNT);
  int extra =
      (nccl.ncclCommRegister != nullptr) + (nccl.ncclCommDeregister != nullptr);
  good &= report("NCCL", ncclStatus, ncclVersionText(version), functions,
                 "and " + std::to_string(extra) + " of 2 newer ones");
  return good;
}

/// Opens the first GPU, as a rank does.
static Status openDevice() {
  DriverApi driver;
  APRT_TRY(driver.load());
  Manifest manifest;
  RankMemory memory;
  std::unique_ptr<CudaContext> context;
  APRT_TRY(CudaContext::create(driver, manifest, {}, memory, context));
  std::printf("device: %s\n", context->description().c_str());
  return Status::success();
}

int main(int argc, char **argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--list"))
    return listFunctions();
  bool good = loadLibraries();
  Status device = openDevice();
  if (device.failed())
    std::printf("device: %s\n", device.message().c_str());
  return good ? 0 : 1;
}
