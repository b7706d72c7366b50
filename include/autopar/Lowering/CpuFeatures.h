//===- CpuFeatures.h - The CPU that code is made for ------------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_CPUFEATURES_H
#define AUTOPAR_LOWERING_CPUFEATURES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace autopar {

/// Module: the CPU that code is made for (`--cpu`); absent: this host's.
inline constexpr llvm::StringLiteral kCpu = "autopar.cpu";

/// The x86 features of a CPU (`x86-64-v3`, `skylake`; "": this host's) that the
/// code will use, as hostCpuFeatures() names them. An error lists the CPUs that
/// are known.
llvm::Expected<std::vector<std::string>> cpuFeatures(llvm::StringRef cpu);

} // namespace autopar

#endif // AUTOPAR_LOWERING_CPUFEATURES_H
