//===- Matmul.cpp - One GEMM of the emulated cuBLASLt ---------------------===//

#include "Matmul.h"

#include "../core/DataType.h"
#include "../cpu/Activation.h"
#include "../cpu/BlockedGemm.h"
#include "HostCompute.h"

#include <algorithm>
#include <vector>

namespace autopar::runtime::emulated {

int64_t elementBytes(cudaDataType type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

//===----------------------------------------------------------------------===//
// What the library takes
//===----------------------------------------------------------------------===//

static bool typesAgree(const Matmul &p) {
  bool same =
      p.a.type == p.b.type && p.a.type == p.c.type && p.a.type == p.d.type;
  switch (p.operation.compute) {
  case CUBLAS_COMPUTE_32F:
    return same && p.operation.scale == CUDA_R_32F && p.a.type != CUDA_R_64F;
  case CUBLAS_COMPUTE_32F_FAST_TF32:
    return same && p.operation.scale == CUDA_R_32F && p.a.type == CUDA_R_32F;
  case CUBLAS_COMPUTE_64F:
    return same && p.operation.scale == CUDA_R_64F && p.a.type == CUDA_R_64F;
  }
  return false;
}

static bool epilogueExists(const Matmul &p) {
  switch (p.operation.epilogue) {
  case CUBLASLT_EPILOGUE_DEFAULT:
    return true;
  case CUBLASLT_EPILOGUE_RELU:
  case CUBLASLT_EPILOGUE_BIAS:
  case CUBLASLT_EPILOGUE_RELU_BIAS:
  case CUBLASLT_EPILOGUE_GELU:
  case CUBLASLT_EPILOGUE_GELU_BIAS: // one value per row of a plain result
    return p.a.type != CUDA_R_64F && p.d.byColumn();
  }
  return false;
}

/// Why a layout is none; "" if it is one.
static std::string layoutProblem(const MatrixLayout &layout) {
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW)
    return "unknown order";
  if (layout.rows == 0 || layout.columns == 0)
    return "no rows or columns";
  if (layout.leading < int64_t(layout.lineLength()))
    return "leading dimension " + std::to_string(layout.leading) +
           " is less than " + std::to_string(layout.lineLength());
  return layout.batches < 1 ? "batch count is not positive" : "";
}

static bool sameShape(const MatrixLayout &layout, uint64_t rows,
                      uint64_t columns) {
  return layout.rows == rows && layout.columns == columns;
}

cublasStatus_t checkMatmul(const Matmul &p, std::string &text) {
  const MatrixLayout *layouts[] = {&p.a, &p.b, &p.c, &p.d};
  for (int i = 0; i < 4; ++i)
    if (std::string problem = layoutProblem(*layouts[i]); !problem.empty()) {
      text = std::string("matrix ") + "ABCD"[i] + ": " + problem;
      return CUBLAS_STATUS_INVALID_VALUE;
    }
  bool plainA = p.operation.transposeA == CUBLAS_OP_N;
  bool plainB = p.operation.transposeB == CUBLAS_OP_N;
  uint64_t m = plainA ? p.a.rows : p.a.columns, k = p.depth();
  uint64_t n = plainB ? p.b.columns : p.b.rows;
  bool shapes = sameShape(p.b, plainB ? k : n, plainB ? n : k) &&
                sameShape(p.c, m, n) && sameShape(p.d, m, n);
  bool batches = true, modes = true;
  for (const MatrixLayout *layout : layouts) {
    batches &= layout->batches == p.a.batches;
    modes &= layout->mode == p.a.mode;
  }
  if (!shapes || !batches || !modes) {
    text = !shapes    ? "rows and columns do not agree"
           : !batches ? "batch counts differ"
                      : "batch modes differ";
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (p.d.batches > 1 && p.d.batchStride == 0 && !p.d.byAddress()) {
    text = "the matrices of D's batch are one";
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!typesAgree(p) || !epilogueExists(p)) {
    text = typesAgree(p) ? "no such epilogue for these types"
                         : "no such combination of types";
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// What a call touches
//===----------------------------------------------------------------------===//

/// The array of addresses of a batch by address.
static Range addressRange(const MatrixLayout &layout, const void *array,
                          const char *name) {
  return {reinterpret_cast<CUdeviceptr>(array),
          size_t(layout.batches) * sizeof(CUdeviceptr), accessRead, name};
}

bool addressesAreKnown(const Matmul &p, const MatmulOperands &o) {
  auto areKnown = [](const MatrixLayout &layout, const void *array) {
    Range range = addressRange(layout, array, "");
    return !layout.byAddress() ||
           (memory(range.address) && isInitialised(range.address, range.bytes));
  };
  return areKnown(p.a, o.a) && areKnown(p.b, o.b) && areKnown(p.d, o.d) &&
         (o.beta == 0 || areKnown(p.c, o.c));
}

CUdeviceptr matrixAddress(const MatrixLayout &layout, const void *base,
                          int64_t i) {
  auto address = reinterpret_cast<CUdeviceptr>(base);
  return layout.byAddress() ? memoryAs<CUdeviceptr>(address)[i]
                            : address + CUdeviceptr(i * layout.batchStride *
                                                    elementBytes(layout.type));
}

/// Of the matrices at `base` alone, not of their array of addresses.
static void addMatrices(const MatrixLayout &layout, const void *base,
                        int access, const char *name,
                        std::vector<Range> &ranges) {
  size_t element = size_t(elementBytes(layout.type));
  Range range;
  range.bytes = layout.lineLength() * element;
  range.access = access;
  range.name = name;
  range.rows = layout.lines();
  range.pitch = size_t(layout.leading) * element;
  bool distinct = layout.batches > 1 && layout.batchStride != 0;
  if (distinct && !layout.byAddress()) {
    range.batches = size_t(layout.batches);
    range.batchPitch = size_t(layout.batchStride) * element;
  }
  for (int64_t i = 0; i < (layout.byAddress() ? layout.batches : 1); ++i) {
    range.address = matrixAddress(layout, base, i);
    ranges.push_back(range);
  }
}

MatmulRanges matmulRanges(const Matmul &p, const MatmulOperands &o) {
  bool readsC = o.beta != 0, inPlace = o.c == o.d;
  MatmulRanges ranges;
  auto read = [&](const MatrixLayout &layout, const void *base,
                  const char *name) {
    addMatrices(layout, base, accessRead, name, ranges.read);
    if (layout.byAddress())
      ranges.read.push_back(addressRange(layout, base, name));
  };
  read(p.a, o.a, "A");
  read(p.b, o.b, "B");
  if (p.operation.hasBias())
    ranges.read.push_back({reinterpret_cast<CUdeviceptr>(p.operation.bias),
                           p.d.rows * size_t(elementBytes(p.d.type)),
                           accessRead, "bias"});
  if (readsC && !inPlace)
    read(p.c, o.c, "C");
  if (p.d.byAddress())
    ranges.read.push_back(addressRange(p.d, o.d, "the addresses of D"));
  addMatrices(p.d, o.d, readsC && inPlace ? accessReadWrite : accessWrite, "D",
              ranges.written);
  return ranges;
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

namespace {

/// Elements of T, sums in Sum.
template <typename T, typename Sum> class TypedMatmul {
public:
  TypedMatmul(const Matmul &p, const MatmulOperands &o) : p(p), o(o) {}

  void run() {
    uint64_t m = p.d.rows, n = p.d.columns, k = p.depth();
    std::vector<Sum> left(m * k), right(k * n), sums(m * n);
    for (int64_t i = 0; i < p.d.batches; ++i) {
      if (i == 0 || p.a.batchStride != 0 || p.a.byAddress())
        read(matrix(o.a, p.a, i), p.a, p.operation.transposeA, left.data());
      if (i == 0 || p.b.batchStride != 0 || p.b.byAddress())
        read(matrix(o.b, p.b, i), p.b, p.operation.transposeB, right.data());
      multiply(left.data(), right.data(), sums.data());
      write(sums.data(), i);
    }
  }

private:
  using E = Element<T>;

  const T *matrix(const void *base, const MatrixLayout &layout, int64_t i) {
    return memoryAs<T>(matrixAddress(layout, base, i));
  }

  /// op(matrix), dense by columns.
  void read(const T *from, const MatrixLayout &layout, int32_t transpose,
            Sum *to) {
    bool plain = transpose == CUBLAS_OP_N;
    int64_t rowStep = plain ? layout.rowStride() : layout.columnStride();
    int64_t columnStep = plain ? layout.columnStride() : layout.rowStride();
    int64_t rows = int64_t(plain ? layout.rows : layout.columns);
    int64_t columns = int64_t(plain ? layout.columns : layout.rows);
    bool rounds = p.operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) {
        Sum value = Sum(E::load(from[i * rowStep + j * columnStep]));
        *to++ = rounds ? Sum(roundToTf32(float(value))) : value;
      }
  }

  /// By columns, C = L R is by rows C^T = R^T L^T.
  void multiply(const Sum *left, const Sum *right, Sum *sums) {
    aprt_gemm_desc desc{};
    desc.dtype = sizeof(Sum) == sizeof(double) ? APRT_F64 : APRT_F32;
    desc.m = int64_t(p.d.columns);
    desc.n = int64_t(p.d.rows);
    desc.k = int64_t(p.depth());
    desc.a_strides[0] = desc.k;
    desc.b_strides[0] = desc.c_strides[0] = desc.n;
    desc.a_strides[1] = desc.b_strides[1] = desc.c_strides[1] = 1;
    desc.slot = -1;
    HostCompute &host = hostCompute();
    // Fails only where the host has no memory left.
    if (host.workspace.reserve(blockedGemmScratch(desc)).ok())
      blockedGemm(desc, right, left, nullptr, nullptr, sums, host.pool,
                  host.workspace);
  }

  int64_t activation() const {
    uint32_t epilogue = p.operation.epilogue;
    return epilogue & CUBLASLT_EPILOGUE_RELU   ? APRT_ACT_RELU
           : epilogue & CUBLASLT_EPILOGUE_GELU ? APRT_ACT_GELU_TANH
                                               : APRT_ACT_NONE;
  }

  void write(const Sum *sums, int64_t batch) {
    const T *c = o.beta != 0 ? matrix(o.c, p.c, batch) : nullptr;
    T *d = const_cast<T *>(matrix(o.d, p.d, batch));
    const T *bias =
        p.operation.hasBias()
            ? memoryAs<T>(reinterpret_cast<CUdeviceptr>(p.operation.bias))
            : nullptr;
    for (int64_t j = 0; j < int64_t(p.d.columns); ++j)
      for (int64_t i = 0; i < int64_t(p.d.rows); ++i) {
        Sum sum = Sum(o.alpha) * *sums++;
        if (c)
          sum += Sum(o.beta) *
                 Sum(E::load(c[i * p.c.rowStride() + j * p.c.columnStride()]));
        if (bias)
          sum += Sum(E::load(bias[i]));
        d[i * p.d.rowStride() + j * p.d.columnStride()] =
            E::store(activate(activation(), sum));
      }
  }

  const Matmul &p;
  const MatmulOperands &o;
};

} // namespace

void runMatmul(const Matmul &p, const MatmulOperands &o) {
  switch (p.d.type) {
  case CUDA_R_16F:
    return TypedMatmul<Float16, float>(p, o).run();
  case CUDA_R_16BF:
    return TypedMatmul<BFloat16, float>(p, o).run();
  case CUDA_R_32F:
    return TypedMatmul<float, float>(p, o).run();
  case CUDA_R_64F:
    return TypedMatmul<double, double>(p, o).run();
  }
}

} // namespace autopar::runtime::emulated
