//===- CheckLibraries.cpp - Load the CUDA libraries that are there --------===//
//
// For check_cuda_libraries.py, on hosts with or without a GPU:
//   autopar-check-libraries         loads cuBLASLt, cuDNN and NCCL by the
//   tables
//                                   of the runtime and tells their versions,
//                                   then what a program says at its start
//   autopar-check-libraries --list  the header and name of every function
//   autopar-check-libraries --descriptors
//                                   whether cuBLASLt and cuDNN accept what
//                                   plans of GEMMs and convolutions tell
//                                   them, as far as that needs no GPU
//
//===----------------------------------------------------------------------===//

#include "cuda/CudaConvPlan.h"
#include "cuda/CudaGemmPlan.h"
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

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

/// A plan fails without a GPU, but not before all descriptors are accepted.
struct Descriptors {
  int accepted = 0, refused = 0;
  void take(const Status &status, const char *lastStep) {
    bool good = status.message().find(lastStep) != std::string::npos;
    good ? ++accepted : ++refused;
    if (!good)
      std::printf("refused: %s\n", status.message().c_str());
  }
};

static Descriptors describeGemms(CublasLtApi library) {
  Descriptors result;
  // Without a handle older libraries crash in what needs a GPU.
  library.cublasLtMatmulAlgoGetHeuristic =
      [](cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
         cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
         cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *,
         int *) { return CUBLAS_STATUS_NOT_INITIALIZED; };
  for (int64_t dtype : {APRT_F32, APRT_F16, APRT_BF16, APRT_F64})
    for (int64_t batch : {1, 3})
      for (int64_t transposed : {0, 1})
        for (int64_t epilogue = 0; epilogue < 6; ++epilogue) {
          aprt_gemm_desc desc{dtype,
                              1,
                              {batch},
                              24,
                              40,
                              56,
                              {24 * 56, 56, 1},
                              {transposed ? 0 : 56 * 40, transposed ? 1 : 40,
                               transposed ? 56 : 1},
                              {24 * 40, 40, 1},
                              epilogue % 2,
                              0,
                              0,
                              -1};
          constexpr int64_t activations[] = {APRT_ACT_NONE, APRT_ACT_RELU,
                                             APRT_ACT_GELU_TANH};
          desc.activation = activations[epilogue / 2];
          desc.addend = desc.activation == APRT_ACT_NONE;
          if (dtype == APRT_F64 && epilogue > 0)
            continue;
          CudaGemmPlan plan(library, normalizeGemm(desc),
                            desc.addend ? separateAddend : noAddend);
          result.take(plan.create(nullptr, true, {16, 16, 16, 16, 16}),
                      "cublasLtMatmulAlgoGetHeuristic failed");
        }
  return result;
}

static Descriptors describeConvolutions(CudnnApi library) {
  Descriptors result;
  // Graphs, the first that need a GPU, are refused: see describeGemms.
  static auto create = library.cudnnBackendCreateDescriptor;
  library.cudnnBackendCreateDescriptor =
      [](cudnnBackendDescriptorType_t type,
         cudnnBackendDescriptor_t *descriptor) {
        return type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR
                   ? CUDNN_STATUS_NOT_SUPPORTED
                   : create(type, descriptor);
      };
  for (int64_t dtype : {APRT_F32, APRT_F16, APRT_BF16})
    for (int64_t rank : {1, 2, 3})
      for (int64_t last : {0, 1})
        for (int64_t activation = 0; activation <= APRT_ACT_SILU;
             ++activation) {
          aprt_conv_desc desc{
              dtype,     rank,      2,         16,         32,        2,
              {9, 9, 9}, {3, 3, 3}, {5, 5, 5}, {2, 2, 2},  {1, 1, 1}, {1, 1, 0},
              {1, 1, 2}, 1,         1,         activation, -1,        last};
          CudnnPlanCache none("", "");
          CudaConvPlan plan(library, none, canonicalConv(desc));
          result.take(plan.create(nullptr, true, false, {16, 16, 16, 16, 16}),
                      "cuDNN has no engine");
        }
  return result;
}

static int describe() {
  CublasLtApi blas;
  CudnnApi dnn;
  for (const Status &status : {blas.load(), dnn.load()})
    if (status.failed())
      return std::printf("%s\n", status.message().c_str()), 1;
  Descriptors gemms = describeGemms(blas);
  Descriptors convolutions = describeConvolutions(dnn);
  std::printf("cuBLASLt: accepts %d GEMMs, refuses %d\n", gemms.accepted,
              gemms.refused);
  std::printf("cuDNN: accepts %d convolutions, refuses %d\n",
              convolutions.accepted, convolutions.refused);
  return gemms.refused + convolutions.refused ? 1 : 0;
}

int main(int argc, char **argv) {
  if (argc == 2 && !std::strcmp(argv[1], "--descriptors"))
    return describe();
  if (argc == 2 && !std::strcmp(argv[1], "--list"))
    return listFunctions();
  bool good = loadLibraries();
  Status device = openDevice();
  if (device.failed())
    std::printf("device: %s\n", device.message().c_str());
  return good ? 0 : 1;
}
