//===- TargetNames.h - The kinds of devices that code is made for -*- C++ -*-=//

#ifndef AUTOPAR_COST_TARGETNAMES_H
#define AUTOPAR_COST_TARGETNAMES_H

#include "llvm/ADT/StringRef.h"

namespace autopar {

// The values of the module's attribute `autopar.target`.
inline constexpr llvm::StringLiteral kTargetCpu = "cpu";
inline constexpr llvm::StringLiteral kTargetCuda = "cuda";
inline constexpr llvm::StringLiteral kTargetEmulated = "emulated";
inline constexpr llvm::StringRef kTargets[] = {kTargetCpu, kTargetCuda,
                                               kTargetEmulated};

} // namespace autopar

#endif // AUTOPAR_COST_TARGETNAMES_H
