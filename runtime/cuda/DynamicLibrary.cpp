//===- DynamicLibrary.cpp - Finding a CUDA library at run time ------------===//

#include "DynamicLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

namespace autopar::runtime {

static std::vector<std::string> splitPath(const char *text) {
  std::vector<std::string> parts;
  for (std::string rest = text ? text : ""; !rest.empty();) {
    size_t colon = rest.find(':');
    if (std::string part = rest.substr(0, colon); !part.empty())
      parts.push_back(part);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  return parts;
}

/// Every folder in which a file may be, in order; "" is the system's search.
static std::vector<std::string> searchFolders(const LibraryRequest &request) {
  std::vector<std::string> folders;
  for (const std::string &root : splitPath(getenv("AUTOPAR_CUDA_PATH"))) {
    for (const char *place : {"/", "/lib64/", "/lib/"})
      folders.push_back(root + place);
    for (const char *wheel : request.wheels)
      for (const char *place : {"/nvidia/", "/"})
        folders.push_back(root + place + wheel + "/lib/");
  }
  folders.push_back("");
  folders.push_back("/usr/local/cuda/lib64/");
  return folders;
}

static bool exists(const std::string &file) {
  struct stat info;
  return stat(file.c_str(), &info) == 0;
}

/// The path of the object that holds `handle`, for messages.
static std::string openedPath(void *handle, const std::string &asked) {
  char folder[4096];
  if (asked.find('/') != std::string::npos ||
      dlinfo(handle, RTLD_DI_ORIGIN, folder) != 0)
    return asked;
  return std::string(folder) + "/" + asked;
}

Status DynamicLibrary::open(const LibraryRequest &wanted) {
  request = wanted;
  std::string reason;
  for (const std::string &folder : searchFolders(request))
    for (const char *file : request.files) {
      std::string candidate = folder + file;
      if (!folder.empty() && !exists(candidate))
        continue;
      handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle) {
        path = openedPath(handle, candidate);
        return Status::success();
      }
      // The first reason is that of the best file in the best place; one of a
      // file that is there says more.
      const char *error = dlerror();
      if (error && (reason.empty() || !folder.empty()))
        reason = error;
    }
  return Status::error(std::string(request.name) + " " + request.wanted +
                       " is needed and cannot be loaded: " + reason +
                       "; install it (" + request.install +
                       ") and name its folder in LD_LIBRARY_PATH or "
                       "AUTOPAR_CUDA_PATH");
}

void *DynamicLibrary::find(const char *function) const {
  return dlsym(handle, function);
}

Status DynamicLibrary::refuse(const std::string &what) const {
  return Status::error(std::string(request.name) + " of " + path + " " + what +
                       ", but " + request.wanted + " is needed; install it (" +
                       request.install +
                       ") and name its folder in LD_LIBRARY_PATH or "
                       "AUTOPAR_CUDA_PATH");
}

namespace {
struct ImageSearch {
  uintptr_t address;
  std::string_view found;
};
} // namespace

static int searchSegments(dl_phdr_info *info, size_t, void *data) {
  auto &search = *static_cast<ImageSearch *>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &segment = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    bool readable = segment.p_type == PT_LOAD && (segment.p_flags & PF_R) &&
                    !(segment.p_flags & PF_W);
    if (!readable || search.address < begin ||
        search.address - begin >= segment.p_filesz)
      continue;
    search.found = {reinterpret_cast<const char *>(begin), segment.p_filesz};
    return 1;
  }
  return 0;
}

std::string_view DynamicLibrary::imageOf(const void *function) {
  // Code for GPUs, hundreds of megabytes, comes after the texts.
  constexpr size_t most = size_t(64) << 20;
  ImageSearch search{reinterpret_cast<uintptr_t>(function), {}};
  if (function)
    dl_iterate_phdr(searchSegments, &search);
  return search.found.substr(0, most);
}

Status checkLibraryDriver(const std::string &library,
                          const std::string &install, int libraryVersion,
                          int driverVersion) {
  int wanted = libraryVersion / 1000, found = driverVersion / 1000;
  if (!wanted || !found || wanted <= found)
    return Status::success();
  return Status::error(library + " is made for CUDA " + std::to_string(wanted) +
                       ", but the driver is for CUDA " + std::to_string(found) +
                       ": install a newer driver, or the library for CUDA " +
                       std::to_string(found) + " (" + install + ")");
}

Status DynamicLibrary::checkDriver(int libraryVersion,
                                   int driverVersion) const {
  return checkLibraryDriver(std::string(request.name) + " of " + path,
                            request.install, libraryVersion, driverVersion);
}

} // namespace autopar::runtime
