//===- EmulatedLibraryTest.cpp - Misuse of the emulated libraries ---------===//

#include "EmulatedDriver.h"
#include "cuda/CudnnGraph.h"
#include "emulated/EmulatedCublasLt.h"
#include "emulated/EmulatedCudnn.h"

namespace autopar::runtime::emulated {
namespace {

const void *pointer(CUdeviceptr address) {
  return reinterpret_cast<const void *>(address);
}

//===----------------------------------------------------------------------===//
// cuBLASLt
//===----------------------------------------------------------------------===//

/// D = A B of 8 x 8 floats, ready to run; tests break one thing each.
class EmulatedCublasLt : public EmulatedDriver {
protected:
  void SetUp() override {
    EmulatedDriver::SetUp();
    bindEmulated(library);
    ASSERT_EQ(library.cublasLtCreate(&handle), CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(library.cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F,
                                               CUDA_R_32F),
              CUBLAS_STATUS_SUCCESS);
    for (cublasLtMatrixLayout_t *layout : {&a, &b, &d})
      ASSERT_EQ(library.cublasLtMatrixLayoutCreate(layout, CUDA_R_32F, 8, 8, 8),
                CUBLAS_STATUS_SUCCESS);
    ASSERT_EQ(library.cublasLtMatmulPreferenceCreate(&preference),
              CUBLAS_STATUS_SUCCESS);
    for (CUdeviceptr *matrix : {&left, &right, &bias})
      *matrix = allocateFilled(bytes);
    result = allocate(bytes);
  }

  template <typename T>
  void set(cublasLtMatrixLayout_t layout,
           cublasLtMatrixLayoutAttribute_t attribute, T value) {
    ASSERT_EQ(library.cublasLtMatrixLayoutSetAttribute(layout, attribute,
                                                       &value, sizeof(value)),
              CUBLAS_STATUS_SUCCESS);
  }
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    ASSERT_EQ(library.cublasLtMatmulDescSetAttribute(operation, attribute,
                                                     &value, sizeof(value)),
              CUBLAS_STATUS_SUCCESS);
  }
  cublasStatus_t find() {
    int found = 0;
    cublasStatus_t status = library.cublasLtMatmulAlgoGetHeuristic(
        handle, operation, a, b, d, d, preference, 1, &best, &found);
    EXPECT_EQ(found, status == CUBLAS_STATUS_SUCCESS);
    return status;
  }
  cublasStatus_t run(CUstream stream = nullptr) {
    float one = 1, zero = 0;
    return library.cublasLtMatmul(
        handle, operation, &one, pointer(left), a, pointer(right), b, &zero,
        pointer(result), d, const_cast<void *>(pointer(result)), d, &best.algo,
        const_cast<void *>(pointer(workspace)), workspaceBytes,
        stream ? stream : first);
  }
  /// The refusal's status and some words of its text.
  void expectRefusal(cublasStatus_t got, cublasStatus_t wanted,
                     const char *words) {
    EXPECT_STREQ(library.cublasLtGetStatusName(got),
                 library.cublasLtGetStatusName(wanted));
    std::string text = library.check(got, "cublasLtMatmul").message();
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(faultKind(), FaultKind::none);
  }

  static constexpr size_t bytes = 8 * 8 * 4;
  CublasLtApi library;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulHeuristicResult_t best{};
  CUdeviceptr left = 0, right = 0, bias = 0, result = 0, workspace = 0;
  size_t workspaceBytes = 0;
};

TEST_F(EmulatedCublasLt, RunsWhatIsRight) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(download<float>(result, 64), std::vector<float>(64, 0.0f));
  expectNoFault();
}

TEST_F(EmulatedCublasLt, RefusesLayoutsThatDoNotFit) {
  set(a, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(7));
  expectRefusal(find(), CUBLAS_STATUS_INVALID_VALUE,
                "matrix A: leading dimension 7 is less than 8");
  set(a, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(8));
  set(b, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(7));
  expectRefusal(find(), CUBLAS_STATUS_INVALID_VALUE,
                "rows and columns do not agree");
  set(b, CUBLASLT_MATRIX_LAYOUT_ROWS, uint64_t(8));
  set(b, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
  expectRefusal(find(), CUBLAS_STATUS_INVALID_VALUE, "batch counts differ");
  for (cublasLtMatrixLayout_t layout : {a, d})
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
  expectRefusal(find(), CUBLAS_STATUS_INVALID_VALUE,
                "the matrices of D's batch are one");
}

/// A batch of two, whose matrices are given by their addresses.
TEST_F(EmulatedCublasLt, ReadsAddressesOfABatch) {
  for (cublasLtMatrixLayout_t layout : {a, b, d}) {
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, int32_t(2));
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, uint32_t(layout != b));
  }
  expectRefusal(find(), CUBLAS_STATUS_INVALID_VALUE, "batch modes differ");
  set(b, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, uint32_t(1));
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  CUdeviceptr matrices[] = {left, right, result, allocate(bytes)};
  auto upload = [&](CUdeviceptr one, CUdeviceptr other) {
    CUdeviceptr both[] = {one, other}, array = allocate(sizeof(both));
    EXPECT_EQ(api.cuMemcpyHtoDAsync_v2(array, both, sizeof(both), first),
              CUDA_SUCCESS);
    EXPECT_EQ(api.cuStreamSynchronize(first), CUDA_SUCCESS);
    return array;
  };
  left = upload(matrices[0], matrices[1]);
  right = upload(matrices[1], matrices[1]);
  result = allocate(2 * sizeof(CUdeviceptr));
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE,
                "addresses of matrices are not in the GPU's memory yet");
  result = upload(matrices[2], matrices[2]);
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE, "matrices of D overlap");
  result = upload(matrices[2], matrices[0]);
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE, "D overlaps A");
  result = upload(matrices[2], matrices[3]);
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  for (CUdeviceptr matrix : {matrices[2], matrices[3]})
    EXPECT_EQ(download<float>(matrix, 64), std::vector<float>(64, 0.0f));
  expectNoFault();
}

TEST_F(EmulatedCublasLt, RefusesTypesAndEpiloguesThatDoNotExist) {
  set(b, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_16F);
  expectRefusal(find(), CUBLAS_STATUS_NOT_SUPPORTED, "combination of types");
  set(b, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_R_32F);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(3));
  expectRefusal(find(), CUBLAS_STATUS_NOT_SUPPORTED, "no such epilogue");
  int64_t tooWide = 1;
  expectRefusal(
      library.cublasLtMatmulDescSetAttribute(
          operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &tooWide, sizeof(tooWide)),
      CUBLAS_STATUS_INVALID_VALUE, "4 bytes is given 8");
}

TEST_F(EmulatedCublasLt, RefusesWhatIsNoLongerAlive) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(library.cublasLtMatrixLayoutDestroy(b), CUBLAS_STATUS_SUCCESS);
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE,
                "the layout of B is not alive");
  ASSERT_EQ(library.cublasLtMatmulDescDestroy(operation),
            CUBLAS_STATUS_SUCCESS);
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE,
                "the operation is not alive");
  ASSERT_EQ(library.cublasLtDestroy(handle), CUBLAS_STATUS_SUCCESS);
  expectRefusal(run(), CUBLAS_STATUS_NOT_INITIALIZED,
                "the handle is not alive");
  expectRefusal(library.cublasLtDestroy(handle), CUBLAS_STATUS_NOT_INITIALIZED,
                "the handle is not alive");
}

TEST_F(EmulatedCublasLt, RefusesAnotherGemmsAlgorithm) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  set(CUBLASLT_MATMUL_DESC_TRANSA, int32_t(CUBLAS_OP_T));
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE,
                "the algorithm is that of another GEMM");
}

TEST_F(EmulatedCublasLt, RefusesAMisalignedMatrix) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  left += 4;
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE,
                "matrix A is not aligned to the 256 bytes");
}

TEST_F(EmulatedCublasLt, RefusesANullBias) {
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, uint32_t(CUBLASLT_EPILOGUE_BIAS));
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE,
                "null pointer for a matrix or the bias");
}

TEST_F(EmulatedCublasLt, RefusesAWorkspaceThatIsTooSmall) {
  for (cublasLtMatrixLayout_t layout : {a, b})
    set(layout,
        layout == a ? CUBLASLT_MATRIX_LAYOUT_COLS : CUBLASLT_MATRIX_LAYOUT_ROWS,
        uint64_t(1024));
  set(b, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(1024));
  uint64_t most = 1 << 20;
  ASSERT_EQ(library.cublasLtMatmulPreferenceSetAttribute(
                preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &most,
                sizeof(most)),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  ASSERT_GT(best.workspaceSize, 0u);
  workspace = allocate(best.workspaceSize);
  workspaceBytes = best.workspaceSize - 1;
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE, "bytes of workspace");
}

TEST_F(EmulatedCublasLt, RefusesAResultOverAnOperand) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  result = left;
  expectRefusal(run(), CUBLAS_STATUS_INVALID_VALUE, "D overlaps A");
}

TEST_F(EmulatedCublasLt, NamesAMatrixPastItsAllocation) {
  set(a, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(9));
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
  expectFault(FaultKind::outOfBounds, {"cublasLtMatmul 8x8x8", "A"});
}

TEST_F(EmulatedCublasLt, NamesFreedAndHostMemory) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(api.cuMemFree_v2(right), CUDA_SUCCESS);
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
  expectFault(FaultKind::useAfterFree, {"cublasLtMatmul 8x8x8", "B"});
  begin(1);
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  alignas(256) float host[64] = {};
  left = reinterpret_cast<CUdeviceptr>(host);
  right = allocateFilled(bytes);
  result = allocate(bytes);
  EXPECT_EQ(run(), CUBLAS_STATUS_EXECUTION_FAILED);
  expectFault(FaultKind::hostPointer, {"cublasLtMatmul 8x8x8", "A"});
}

TEST_F(EmulatedCublasLt, NamesAnUninitialisedMatrix) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  left = allocate(bytes);
  EXPECT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  expectFault(FaultKind::uninitialisedRead, {"cublasLtMatmul 8x8x8", "A"});
}

TEST_F(EmulatedCublasLt, NamesARaceBetweenStreams) {
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  setLabel("/layer0/MatMul");
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  setLabel("/layer0/AllReduce");
  EXPECT_NE(api.cuMemsetD8Async(left + bytes - 4, 0, 4, second), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace, {"/layer0/MatMul", "/layer0/AllReduce"});
}

/// Columns between those of another matrix are not the matrix.
TEST_F(EmulatedCublasLt, InterleavedMatricesDoNotRace) {
  left = allocateFilled(2 * bytes);
  set(a, CUBLASLT_MATRIX_LAYOUT_LD, int64_t(16));
  ASSERT_EQ(find(), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(run(), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(api.cuMemsetD2D32Async(left + 32, 64, 0, 8, 8, second),
            CUDA_SUCCESS);
  expectNoFault();
}

//===----------------------------------------------------------------------===//
// cuDNN
//===----------------------------------------------------------------------===//

/// y = relu(conv(x, w)) of one image of 4 channels, built part by part.
class EmulatedCudnn : public EmulatedDriver {
protected:
  void SetUp() override {
    EmulatedDriver::SetUp();
    bindEmulated(library);
    ASSERT_EQ(library.cudnnCreate(&handle), CUDNN_STATUS_SUCCESS);
    ASSERT_EQ(library.cudnnSetStream(handle, first), CUDNN_STATUS_SUCCESS);
    x = allocateFilled(4 * 64 * 4);
    w = allocateFilled(4 * 4 * 9 * 4);
    y = allocate(4 * 64 * 4);
  }
  CudnnTensor image(int64_t id, bool isVirtual = false) {
    return {id, CUDNN_DATA_FLOAT, {1, 4, 8, 8}, {256, 64, 8, 1}, 16, isVirtual};
  }
  CudnnTensor filter() {
    return {2, CUDNN_DATA_FLOAT, {4, 4, 3, 3}, {36, 9, 3, 1}, 16, false};
  }
  const CudnnWindow same = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};

  Status build(CudnnGraph &graph) {
    APRT_TRY(graph.addTensor(image(1)));
    APRT_TRY(graph.addTensor(filter()));
    APRT_TRY(graph.addTensor(image(3, true)));
    APRT_TRY(graph.addTensor(image(4)));
    APRT_TRY(graph.addConvolution(1, 2, 3, same));
    APRT_TRY(graph.addPointwise(CUDNN_POINTWISE_RELU_FWD, 3, 0, 4));
    bool found = false;
    APRT_TRY(graph.findEngine(handle, {false}, 1 << 20, found));
    return found ? Status::success() : Status::error("no engine");
  }
  Status run(const CudnnGraph &graph) {
    return graph.run(
        handle, {{1, pointer(x)}, {2, pointer(w)}, {4, pointer(y)}}, nullptr);
  }
  void expectMessage(const Status &status, const std::string &name,
                     const std::string &words) {
    EXPECT_NE(status.message().find(name), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find(words), std::string::npos)
        << status.message();
    EXPECT_EQ(faultKind(), FaultKind::none);
  }

  CudnnApi library;
  cudnnHandle_t handle = nullptr;
  CUdeviceptr x = 0, w = 0, y = 0;
};

TEST_F(EmulatedCudnn, RunsWhatIsRight) {
  CudnnGraph graph(library);
  ASSERT_EQ(build(graph).message(), "");
  ASSERT_EQ(run(graph).message(), "");
  EXPECT_EQ(download<float>(y, 256), std::vector<float>(256, 0.0f));
  expectNoFault();
}

TEST_F(EmulatedCudnn, RefusesBadTensors) {
  CudnnGraph graph(library);
  CudnnTensor tensor = image(1);
  tensor.strides.pop_back();
  expectMessage(graph.addTensor(tensor), "CUDNN_STATUS_BAD_PARAM",
                "4 sizes and 3 strides");
  tensor = image(1);
  tensor.sizes[2] = 0;
  expectMessage(graph.addTensor(tensor), "CUDNN_STATUS_BAD_PARAM",
                "size or stride of 0");
  tensor = image(1);
  tensor.alignment = 2;
  expectMessage(graph.addTensor(tensor), "CUDNN_STATUS_BAD_PARAM",
                "alignment of 2");
}

TEST_F(EmulatedCudnn, RefusesBadConvolutions) {
  CudnnGraph graph(library);
  ASSERT_TRUE(graph.addTensor(image(1)).ok());
  ASSERT_TRUE(graph.addTensor(filter()).ok());
  ASSERT_TRUE(graph.addTensor(image(3)).ok());
  CudnnWindow window = same;
  window.padLow[0] = -1;
  expectMessage(graph.addConvolution(1, 2, 3, window), "CUDNN_STATUS_BAD_PARAM",
                "negative padding");
  window = same;
  window.padHigh[1] = 0;
  expectMessage(graph.addConvolution(1, 2, 3, window),
                "CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH", "a wrong size");
  window = same;
  window.dilations = {1};
  expectMessage(graph.addConvolution(1, 2, 3, window), "CUDNN_STATUS_BAD_PARAM",
                "not of its rank");
}

TEST_F(EmulatedCudnn, RefusesUnfinishedDescriptors) {
  cudnnBackendDescriptor_t tensor = nullptr;
  ASSERT_EQ(library.cudnnBackendCreateDescriptor(
                CUDNN_BACKEND_TENSOR_DESCRIPTOR, &tensor),
            CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(library.cudnnBackendFinalize(tensor), CUDNN_STATUS_BAD_PARAM);
  int64_t id = 1, count = 0;
  EXPECT_EQ(library.cudnnBackendSetAttribute(
                tensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_DOUBLE, 1, &id),
            CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE);
  EXPECT_EQ(library.cudnnBackendSetAttribute(tensor, CUDNN_ATTR_POINTWISE_MODE,
                                             CUDNN_TYPE_POINTWISE_MODE, 1, &id),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(library.cudnnBackendSetAttribute(
                tensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, 9, &id),
            CUDNN_STATUS_BAD_PARAM_OUT_OF_BOUND);
  EXPECT_EQ(library.cudnnBackendGetAttribute(tensor,
                                             CUDNN_ATTR_TENSOR_UNIQUE_ID,
                                             CUDNN_TYPE_INT64, 1, &count, &id),
            CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED);
  ASSERT_EQ(library.cudnnBackendDestroyDescriptor(tensor),
            CUDNN_STATUS_SUCCESS);
  EXPECT_NE(library.cudnnBackendDestroyDescriptor(tensor),
            CUDNN_STATUS_SUCCESS);
}

TEST_F(EmulatedCudnn, RefusesBadPointers) {
  CudnnGraph graph(library);
  ASSERT_EQ(build(graph).message(), "");
  x += 4;
  expectMessage(run(graph), "MISALIGNED_POINTER", "tensor 1 is not aligned");
  x = 0;
  expectMessage(run(graph), "NULL_POINTER", "tensor 1 has no pointer");
  x = y;
  expectMessage(run(graph), "CUDNN_STATUS_BAD_PARAM", "Y overlaps X");
}

TEST_F(EmulatedCudnn, RefusesAHandleThatIsNotAlive) {
  CudnnGraph graph(library), other(library);
  ASSERT_EQ(build(graph).message(), "");
  ASSERT_EQ(library.cudnnDestroy(handle), CUDNN_STATUS_SUCCESS);
  expectMessage(run(graph), "CUDNN_STATUS_NOT_INITIALIZED",
                "the handle is not alive");
  EXPECT_EQ(library.cudnnSetStream(handle, first),
            CUDNN_STATUS_NOT_INITIALIZED);
}

TEST_F(EmulatedCudnn, NamesMemoryFaultsAndRaces) {
  CudnnGraph graph(library);
  ASSERT_EQ(build(graph).message(), "");
  setLabel("/conv1");
  ASSERT_EQ(run(graph).message(), "");
  setLabel("/allreduce1");
  EXPECT_NE(api.cuMemsetD8Async(y, 0, 4, second), CUDA_SUCCESS);
  expectFault(FaultKind::streamRace, {"/conv1", "/allreduce1"});
  SetUp();
  CudnnGraph again(library);
  ASSERT_EQ(build(again).message(), "");
  w = allocateFilled(4 * 4 * 9 * 4 - 4);
  EXPECT_NE(run(again).message().find("out of bounds"), std::string::npos);
  expectFault(FaultKind::outOfBounds, {"cuDNN convolution", "W"});
  SetUp();
  CudnnGraph third(library);
  ASSERT_EQ(build(third).message(), "");
  x = allocate(4 * 64 * 4);
  ASSERT_EQ(run(third).message(), "");
  expectFault(FaultKind::uninitialisedRead, {"cuDNN convolution", "X"});
}

} // namespace
} // namespace autopar::runtime::emulated
