//===- FindCuda.h - Where NVIDIA's compiler parts are -----------*- C++ -*-===//

#ifndef AUTOPAR_LIB_LOWERING_GPU_FINDCUDA_H
#define AUTOPAR_LIB_LOWERING_GPU_FINDCUDA_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace autopar {

/// libdevice.10.bc: $AUTOPAR_LIBDEVICE, or of a CUDA toolkit: $CUDA_HOME,
/// $CUDA_PATH, the one of the ptxas in PATH, the packages of the active Python
/// environment ($VIRTUAL_ENV) or of build/venv, or where toolkits usually are.
llvm::Expected<std::string> findLibdevice();

/// A program of a toolkit, such as ptxas: $AUTOPAR_PTXAS (in capitals), the
/// folder of the program `beside`, so that both are of one toolkit, or the
/// places above in their order. nullopt if there is none.
std::optional<std::string> findCudaTool(llvm::StringRef name,
                                        llvm::StringRef beside = "");

} // namespace autopar

#endif // AUTOPAR_LIB_LOWERING_GPU_FINDCUDA_H
