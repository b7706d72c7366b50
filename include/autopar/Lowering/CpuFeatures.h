//===- CpuFeatures.h - The CPU that code is made for ------------*- C++ -*-===//

#ifndef AUTOPAR_LOWERING_CPUFEATURES_H
#define AUTOPAR_LOWERING_CPUFEATURES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace autopar {

/// The x86 features of a CPU that the code will use, named as by
/// hostCpuFeatures(). CPUs are called `x86-64-v3`, `skylake` and so on; "" is
/// this host's. An error lists the CPUs that are known.
llvm::Expected<std::vector<std::string>> cpuFeatures(llvm::StringRef cpu);

} // namespace autopar

#endif // AUTOPAR_LOWERING_CPUFEATURES_H
