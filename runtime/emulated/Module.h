//===- Module.h - Loaded kernels of the emulated GPU ------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_EMULATED_MODULE_H
#define AUTOPAR_RUNTIME_EMULATED_MODULE_H

#include "EmulatedDevice.h"
#include "autopar/emulated.h"

#include <memory>

namespace autopar::runtime::emulated {

struct Module;

struct Function {
  const apemu_kernel *kernel = nullptr;
  int64_t maxDynamicShared = 0; // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_...
  std::shared_ptr<bool> loaded; // its module is
};

struct Module {
  std::vector<std::unique_ptr<Function>> functions; // those asked for
  const apemu_module *code = nullptr;
  std::shared_ptr<bool> loaded = std::make_shared<bool>(true);
};

/// Limits of a launch, as an H100 has them.
struct LaunchLimits {
  static constexpr int64_t threads = 1024;
  static constexpr int64_t blockZ = 64;
  static constexpr int64_t gridX = 2147483647;
  static constexpr int64_t gridYZ = 65535;
  static constexpr int64_t argumentBytes = 4096; // that all drivers take
  static constexpr int64_t shared = 48 * 1024;
  static constexpr int64_t sharedWhenAsked = 227 * 1024;
};

class Modules {
public:
  CUresult load(const void *image, CUmodule *result);
  CUresult unload(CUmodule handle);
  CUresult find(CUmodule handle, const char *name, CUfunction *result);
  /// The function of a handle, or null.
  Function *find(CUfunction handle);
  std::vector<std::string> openHandles() const;

private:
  std::vector<std::unique_ptr<Module>> modules;
};

/// cuLaunchKernel: checks limits and arguments, and enqueues the launch.
CUresult launchKernel(Function &function, const uint32_t (&grid)[3],
                      const uint32_t (&block)[3], int64_t dynamicShared,
                      CUstream stream, void *const *arguments);

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_MODULE_H
