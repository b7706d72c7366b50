//===- Module.cpp - Loaded kernels of the emulated GPU --------------------===//

#include "Module.h"

#include "Gpu.h"
#include "Planted.h"

#include <cstring>
#include <deque>

namespace autopar::runtime::emulated {

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

CUresult Modules::load(const void *image, CUmodule *result) {
  uint64_t magic = 0;
  if (image)
    std::memcpy(&magic, image, sizeof magic);
  if (magic != APEMU_MAGIC && magic != APEMU_PTX_MAGIC)
    return refuse(CUDA_ERROR_INVALID_IMAGE,
                  "the image is no module for the emulated GPU: was the "
                  "program compiled for --target emulated?");
  Planted kind = magic == APEMU_MAGIC ? Planted::image : Planted::ptx;
  if (isPlanted(kind))
    return refuse(CUresult(planted(kind)), "the image is refused");
  modules.push_back(std::make_unique<Module>());
  modules.back()->code = static_cast<const apemu_module *>(image);
  *result = reinterpret_cast<CUmodule>(modules.back().get());
  return CUDA_SUCCESS;
}

static auto findModule(std::vector<std::unique_ptr<Module>> &modules,
                       CUmodule handle) {
  return std::find_if(modules.begin(), modules.end(), [&](const auto &module) {
    return module.get() == reinterpret_cast<Module *>(handle);
  });
}

CUresult Modules::unload(CUmodule handle) {
  auto found = findModule(modules, handle);
  if (found == modules.end())
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not a loaded module");
  *(*found)->loaded = false;
  modules.erase(found);
  return CUDA_SUCCESS;
}

CUresult Modules::find(CUmodule handle, const char *name, CUfunction *result) {
  auto found = findModule(modules, handle);
  if (found == modules.end())
    return refuse(CUDA_ERROR_INVALID_HANDLE, "not a loaded module");
  Module &module = **found;
  for (int64_t i = 0; i < module.code->count; ++i) {
    if (std::strcmp(module.code->kernels[i].name, name) != 0)
      continue;
    auto function = std::make_unique<Function>();
    function->kernel = &module.code->kernels[i];
    function->loaded = module.loaded;
    *result = reinterpret_cast<CUfunction>(function.get());
    module.functions.push_back(std::move(function));
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_NOT_FOUND,
                "the module has no kernel '" + std::string(name) + "'");
}

Function *Modules::find(CUfunction handle) {
  for (auto &module : modules)
    for (auto &function : module->functions)
      if (function.get() == reinterpret_cast<Function *>(handle))
        return function.get();
  return nullptr;
}

std::vector<std::string> Modules::openHandles() const {
  return std::vector<std::string>(modules.size(), "a module");
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static CUresult checkLimits(const Launch &launch, const Function &function,
                            int64_t dynamicShared) {
  using Limits = LaunchLimits;
  auto refused = [&](const std::string &text) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  std::string(faultWords(FaultKind::launchLimit)) + ": '" +
                      launch.name + "' " + text);
  };
  const uint32_t *grid = launch.grid, *block = launch.block;
  int64_t threads = int64_t(block[0]) * block[1] * block[2];
  if (threads == 0 || !grid[0] || !grid[1] || !grid[2])
    return refused("has an empty grid or block");
  if (threads > Limits::threads || block[2] > Limits::blockZ)
    return refused("has " + std::to_string(threads) +
                   " threads per block: at most " +
                   std::to_string(Limits::threads));
  if (grid[0] > Limits::gridX || grid[1] > Limits::gridYZ ||
      grid[2] > Limits::gridYZ)
    return refused("has too large a grid");
  int64_t arguments = 8 * (launch.kernel->pointers + launch.kernel->scalars);
  if (arguments > Limits::argumentBytes)
    return refused("has " + std::to_string(arguments) +
                   " bytes of arguments: at most " +
                   std::to_string(Limits::argumentBytes));
  int64_t allowed = std::max(Limits::shared - launch.kernel->shared_bytes,
                             function.maxDynamicShared);
  if (dynamicShared > allowed || launch.kernel->shared_bytes > Limits::shared)
    return refused("wants " + std::to_string(launch.sharedBytes) +
                   " bytes of shared memory: at most " +
                   std::to_string(Limits::shared) +
                   " unless it asks for more dynamic ones before");
  return CUDA_SUCCESS;
}

/// Names of arguments outlive all messages.
static const char *parameterName(size_t index) {
  static std::deque<std::string> names;
  while (names.size() <= index)
    names.push_back("parameter " + std::to_string(names.size()));
  return names[index].c_str();
}

static CUresult readArguments(Launch &launch, void *const *arguments) {
  const apemu_kernel &kernel = *launch.kernel;
  auto count = size_t(kernel.pointers + kernel.scalars);
  for (size_t i = 0; i < count; ++i) {
    if (!arguments || !arguments[i])
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "'" + launch.name + "' wants " + std::to_string(count) +
                        " arguments: argument " + std::to_string(i) +
                        " is missing");
    uint64_t value;
    std::memcpy(&value, arguments[i], sizeof value);
    launch.arguments.push_back(value);
  }
  return CUDA_SUCCESS;
}

CUresult launchKernel(Function &function, const uint32_t (&grid)[3],
                      const uint32_t (&block)[3], int64_t dynamicShared,
                      CUstream stream, void *const *arguments) {
  const apemu_kernel &kernel = *function.kernel;
  auto launch = std::make_shared<Launch>();
  launch->kernel = &kernel;
  launch->name = labelled(kernel.name);
  std::copy_n(grid, 3, launch->grid);
  std::copy_n(block, 3, launch->block);
  launch->sharedBytes = kernel.shared_bytes + dynamicShared;
  if (CUresult code = checkLimits(*launch, function, dynamicShared))
    return code;
  if (CUresult code = readArguments(*launch, arguments))
    return code;
  Work work;
  work.name = kernel.name;
  for (size_t i = 0; i < size_t(kernel.pointers); ++i)
    if (kernel.parameters[i].bytes > 0)
      work.ranges.push_back({launch->arguments[i],
                             size_t(kernel.parameters[i].bytes),
                             int(kernel.parameters[i].access) | accessUnchecked,
                             parameterName(i)});
  work.body = [launch, loaded = function.loaded] {
    if (*loaded)
      gpu().kernels.run(*launch);
    else
      fault(FaultKind::useAfterFree,
            "'" + launch->name + "' runs after its module was unloaded");
  };
  return enqueue(stream, std::move(work));
}

} // namespace autopar::runtime::emulated
