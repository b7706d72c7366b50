//===- CudaGemm.cpp - The GEMMs of one rank on a GPU ----------------------===//

#include "CudaGemm.h"

#include "../core/DataType.h"

#include <algorithm>

namespace autopar::runtime {

CudaGemm::~CudaGemm() {
  if (!context.isIdle())
    return;
  for (PackedMatrix &matrix : packed)
    (void)context.release(matrix.data);
  for (auto &[key, plan] : plans)
    if (plan)
      plan->release(context);
}

/// The largest power of two, up to 256, that divides the address of every
/// matrix of `strides` from `base` on.
static int64_t alignmentOf(const aprt_gemm_desc &desc, const void *base,
                           const int64_t *strides) {
  uint64_t bits = reinterpret_cast<uintptr_t>(base) | 256;
  for (int64_t d = 0; strides && d < desc.batch_rank; ++d)
    bits |= uint64_t(strides[d] * elementBytes(desc.dtype));
  return int64_t(bits & -bits);
}

static GemmAlignments alignmentsOf(const aprt_gemm_desc &desc,
                                   const GemmOperands &operands) {
  auto of = [&](const void *base, const int64_t *strides) {
    return alignmentOf(desc, base, strides);
  };
  return {of(operands.a, desc.a_strides), of(operands.b, desc.b_strides),
          of(operands.bias, nullptr), of(operands.addend, desc.c_strides),
          of(operands.c, desc.c_strides)};
}

Status CudaGemm::makeHandle() {
  if (handle)
    return Status::success();
  cublasLtHandle_t made = nullptr;
  APRT_CUBLASLT(library, cublasLtCreate, &made);
  handle = {made, {library.cublasLtDestroy}};
  return Status::success();
}

Status CudaGemm::checkPacked(const aprt_gemm_desc &desc) const {
  const PackedMatrix &matrix = packed[desc.slot];
  if (distinctMatrices(desc) == matrix.matrices && desc.k == matrix.desc.k &&
      desc.n == matrix.desc.n && desc.dtype == matrix.desc.dtype)
    return Status::success();
  return Status::error("packed weight " + std::to_string(desc.slot) +
                       " was packed for another GEMM, or not at all");
}

Status CudaGemm::makePlan(const aprt_gemm_desc &desc, const Key &key,
                          Plan &plan) {
  APRT_TRY(makeHandle());
  plan =
      std::make_unique<CudaGemmPlan>(library, desc, AddendMode(key.addendMode));
  APRT_TRY(plan->create(handle.get(), context.tf32, key.alignments));
  return context.reserveWorkspace(int64_t(plan->workspaceBytes()));
}

Status CudaGemm::run(const aprt_gemm_desc &described,
                     const GemmOperands &given) {
  APRT_TRY(checkGemm(described, packed.size()));
  aprt_gemm_desc desc = canonicalGemm(described);
  if (desc.m == 0 || desc.n == 0 || gemmBatches(desc) == 0)
    return Status::success();
  desc = normalizeGemm(desc);
  GemmOperands operands = given;
  if (desc.slot >= 0) {
    APRT_TRY(checkPacked(desc));
    desc = withDenseB(desc, packed[desc.slot].transposed);
    operands.b = packed[desc.slot].data;
  }
  if (desc.k == 0)
    return runEmptySum(desc, operands);
  desc = canonicalGemm(desc);
  Key key{desc, addendMode(desc, operands), alignmentsOf(desc, operands)};
  Plan &plan = plans[key];
  if (!plan) {
    Plan made;
    APRT_TRY(makePlan(desc, key, made));
    plan = std::move(made);
  }
  return plan->run(handle.get(), operands, context);
}

/// The library has no sums of nothing: sums of one zero are the same.
Status CudaGemm::runEmptySum(aprt_gemm_desc desc, GemmOperands operands) {
  int64_t most = std::max(desc.m, desc.n);
  APRT_TRY(context.reserveZeros(most * elementBytes(desc.dtype)));
  int64_t r = desc.batch_rank;
  std::fill_n(desc.a_strides, r, 0);
  std::fill_n(desc.b_strides, r, 0);
  desc.k = desc.a_strides[r] = desc.b_strides[r + 1] = 1;
  desc.a_strides[r + 1] = desc.m;
  desc.b_strides[r] = desc.n;
  desc.slot = -1;
  operands.a = operands.b = context.zeros();
  return run(desc, operands);
}

Status CudaGemm::pack(const aprt_gemm_desc &described, const void *b) {
  APRT_TRY(checkGemm(described, packed.size()));
  if (described.slot < 0)
    return Status::error("a weight to pack names no slot");
  aprt_gemm_desc desc = normalizeGemm(described);
  PackedMatrix &matrix = packed[desc.slot];
  APRT_TRY(context.release(matrix.data));
  matrix = PackedMatrix();
  int64_t r = desc.batch_rank, element = elementBytes(desc.dtype);
  int64_t rowStride = desc.b_strides[r], columnStride = desc.b_strides[r + 1];
  matrix.desc = desc;
  matrix.matrices = distinctMatrices(desc);
  matrix.transposed = columnStride != 1 && desc.n != 1;
  if (matrix.transposed && rowStride != 1 && desc.k != 1)
    return Status::error("a weight to pack has no dense dimension");
  int64_t width = (matrix.transposed ? desc.k : desc.n) * element;
  int64_t height = matrix.transposed ? desc.n : desc.k;
  APRT_TRY(context.allocate(matrix.matrices * width * height, "a packed weight",
                            context.memory.packed, matrix.data));
  if (width * height == 0)
    return Status::success();
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.WidthInBytes = copy.dstPitch = size_t(width);
  copy.Height = size_t(height);
  copy.srcPitch = size_t(
      height == 1 ? width
                  : (matrix.transposed ? columnStride : rowStride) * element);
  for (int64_t i = 0; i < matrix.matrices; ++i) {
    copy.srcDevice = reinterpret_cast<CUdeviceptr>(b) +
                     CUdeviceptr(distinctOffset(desc, i) * element);
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(matrix.data) +
                     CUdeviceptr(i * width * height);
    APRT_CUDA(context.driver, cuMemcpy2DAsync_v2, &copy,
              context.currentStream());
  }
  return Status::success();
}

Status CudaGemm::mergePacked(const Device::MergeBytes &merge) {
  for (PackedMatrix &matrix : packed)
    if (matrix.data)
      APRT_TRY(merge(matrix.matrices * matrix.desc.k * matrix.desc.n *
                         elementBytes(matrix.desc.dtype),
                     matrix.data));
  return Status::success();
}

} // namespace autopar::runtime
