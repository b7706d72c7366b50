//===- FindCuda.cpp - Where NVIDIA's compiler parts are -------------------===//

#include "FindCuda.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace autopar {

namespace {

constexpr StringLiteral kLibdevice = "libdevice.10.bc";

std::string pathIn(const Twine &folder, const Twine &name) {
  SmallString<256> path;
  sys::path::append(path, folder, name);
  return std::string(path);
}

/// Folders `folder`/P* in order of their names, for each prefix P in turn.
std::vector<std::string> inside(std::vector<std::string> folders,
                                ArrayRef<StringRef> prefixes) {
  for (StringRef prefix : prefixes) {
    std::vector<std::string> next;
    for (const std::string &folder : folders) {
      std::error_code error;
      for (sys::fs::directory_iterator at(folder, error), end;
           at != end && !error; at.increment(error))
        if (sys::path::filename(at->path()).starts_with(prefix))
          next.push_back(at->path());
    }
    llvm::sort(next);
    folders = std::move(next);
  }
  return folders;
}

/// Packages of a Python environment have a toolkit's folders.
void addPackages(std::vector<std::string> &roots, StringRef environment) {
  for (std::string &root :
       inside({environment.str()},
              {"lib", "python3", "site-packages", "nvidia", "cu"}))
    roots.push_back(std::move(root));
}

std::string aboveCompiler(StringRef below) {
  static int anchor;
  std::string compiler = sys::fs::getMainExecutable(nullptr, &anchor);
  return pathIn(sys::path::parent_path(sys::path::parent_path(compiler)),
                below);
}

/// The roots of toolkits, in the order in which they are searched.
struct Toolkits {
  std::vector<std::string> named; // before PATH
  std::vector<std::string> usual; // after PATH
};

Toolkits toolkits() {
  Toolkits roots;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (auto value = sys::Process::GetEnv(name); value && !value->empty())
      roots.named.push_back(*value);
  if (auto environment = sys::Process::GetEnv("VIRTUAL_ENV"))
    addPackages(roots.usual, *environment);
  addPackages(roots.usual, aboveCompiler("venv"));
  for (const char *root : {"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
                           "/usr/lib/nvidia-cuda-toolkit"})
    roots.usual.push_back(root);
  return roots;
}

std::optional<std::string> libdeviceIn(ArrayRef<std::string> roots) {
  for (const std::string &root : roots)
    for (StringRef folder : {"nvvm/libdevice", "libdevice"})
      if (std::string path = pathIn(root, folder + "/" + kLibdevice);
          sys::fs::exists(path))
        return path;
  return std::nullopt;
}

std::optional<std::string> toolIn(ArrayRef<std::string> roots, StringRef name) {
  for (const std::string &root : roots)
    if (std::string path = pathIn(root, "bin/" + name);
        sys::fs::can_execute(path))
      return path;
  return std::nullopt;
}

} // namespace

Expected<std::string> findLibdevice() {
  if (auto given = sys::Process::GetEnv("AUTOPAR_LIBDEVICE")) {
    if (sys::fs::exists(*given))
      return *given;
    return createStringError("AUTOPAR_LIBDEVICE names no file: " + *given);
  }
  Toolkits roots = toolkits();
  std::vector<std::string> ordered = roots.named;
  if (auto ptxas = sys::findProgramByName("ptxas"))
    ordered.push_back(
        sys::path::parent_path(sys::path::parent_path(*ptxas)).str());
  llvm::append_range(ordered, roots.usual);
  if (auto found = libdeviceIn(ordered))
    return *found;
  return createStringError(
      "no " + kLibdevice +
      " for the functions of GPU kernels: install a CUDA "
      "toolkit or `pip install nvidia-nvvm` and set CUDA_HOME, or let "
      "AUTOPAR_LIBDEVICE name the file");
}

std::optional<std::string> findCudaTool(StringRef name, StringRef beside) {
  if (auto given = sys::Process::GetEnv("AUTOPAR_" + name.upper()))
    return given;
  if (!beside.empty())
    if (std::string path = pathIn(sys::path::parent_path(beside), name);
        sys::fs::can_execute(path))
      return path;
  Toolkits roots = toolkits();
  if (auto found = toolIn(roots.named, name))
    return found;
  if (auto found = sys::findProgramByName(name))
    return *found;
  return toolIn(roots.usual, name);
}

} // namespace autopar
