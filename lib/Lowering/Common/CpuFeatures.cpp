//===- CpuFeatures.cpp - The CPUs that code is made for -------------------===//

#include "autopar/Lowering/CpuFeatures.h"
#include "HostCode.h"
#include "autopar/Lowering/Executable.h"
#include "autopar/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <algorithm>

using namespace llvm;

namespace autopar {

/// Features that the vectorizer uses, by the kernel's names and by LLVM's.
static const std::pair<const char *, const char *> usedFeatures[] = {
    {"avx", "avx"},           {"avx2", "avx2"},
    {"fma", "fma"},           {"f16c", "f16c"},
    {"bmi1", "bmi"},          {"bmi2", "bmi2"},
    {"avx512f", "avx512f"},   {"avx512bw", "avx512bw"},
    {"avx512cd", "avx512cd"}, {"avx512dq", "avx512dq"},
    {"avx512vl", "avx512vl"}};

/// The features of that list that a CPU has.
static std::vector<std::string>
usedOf(function_ref<bool(StringRef llvmName)> has) {
  std::vector<std::string> result;
  for (auto [name, llvmName] : usedFeatures)
    if (has(llvmName))
      result.push_back(name);
  return result;
}

/// The levels first: what most users want.
static SmallVector<StringRef> knownCpus() {
  SmallVector<StringRef> names;
  X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  std::stable_partition(names.begin(), names.end(), [](StringRef name) {
    return name.starts_with("x86-64");
  });
  return names;
}

std::vector<std::string> hostCpuFeatures() {
  StringMap<bool> host = sys::getHostCPUFeatures();
  return usedOf([&](StringRef name) { return host.lookup(name); });
}

Expected<std::vector<std::string>> cpuFeatures(StringRef cpu) {
  if (cpu.empty())
    return hostCpuFeatures();
  SmallVector<StringRef> known = knownCpus();
  if (!is_contained(known, cpu))
    return createStringError("unknown CPU '" + cpu + "'; known: " +
                             join(known, ", ") + didYouMean(cpu, known));
  SmallVector<StringRef> features;
  X86::getFeaturesForCPU(cpu, features);
  StringMap<bool> all; // AVX2 implies AVX
  for (StringRef feature : features) {
    all[feature] = true;
    X86::updateImpliedFeatures(feature, /*Enabled=*/true, all);
  }
  return usedOf([&](StringRef name) { return all.lookup(name); });
}

Expected<std::unique_ptr<TargetMachine>>
createMachine(ArrayRef<std::string> cpuFeatures) {
  [[maybe_unused]] static const bool isInitialized =
      !InitializeNativeTarget() && !InitializeNativeTargetAsmPrinter();
  Triple triple(sys::getDefaultTargetTriple());
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return createStringError("no code generator for this host: " + error);
  // Strided loads one by one beat gathers on most hosts.
  std::string features = "+prefer-no-gather,+prefer-no-scatter";
  for (auto [name, llvmName] : usedFeatures)
    if (is_contained(cpuFeatures, name))
      features += std::string(",+") + llvmName;
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64", features, TargetOptions(), Reloc::PIC_, std::nullopt,
      CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("cannot make a code generator for this host");
  return machine;
}

} // namespace autopar
