//===- GemmCall.cpp - Descriptors of matrix multiplications ---------------===//

#include "LibraryCalls.h"
#include "autopar/Dialect/LibraryCall.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace autopar {

aprt_gemm_desc describeGemm(KernelOp kernel) {
  std::optional<EinsumAsGemm> gemm = gemmOf(kernel); // verified
  Type type = libraryRootOf(kernel)->getResult(0).getType();
  auto desc = describeEpilogue<aprt_gemm_desc>(*kernel.getLibrary(),
                                               getElementTypeOrSelf(type));
  desc.batch_rank = gemm->batch.size();
  fillWords(desc.batch, gemm->batch, 0);
  desc.m = gemm->m;
  desc.n = gemm->n;
  desc.k = gemm->k;
  fillWords(desc.a_strides, gemm->aStrides, 0);
  fillWords(desc.b_strides, gemm->bStrides, 0);
  fillWords(desc.c_strides, gemm->cStrides, 0);
  return desc;
}

/// "128x64 from 128x32 and 32x64"
std::string titleOf(const aprt_gemm_desc &desc) {
  return llvm::formatv("{0}x{1} from {0}x{2} and {2}x{1}", desc.m, desc.n,
                       desc.k);
}

} // namespace autopar
