//===- CudnnPlanCache.cpp - Plans of cuDNN on disk ------------------------===//

#include "CudnnPlanCache.h"

#include "../files/ContentHash.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime {

namespace {
/// [header][key][plan].
struct Header {
  char magic[8];
  uint64_t keyBytes, planBytes, checksum;
};
constexpr char kMagic[8] = {'A', 'P', 'C', 'U', 'D', 'N', 'N', '2'};

/// A descriptor that is closed with its scope.
class File {
public:
  explicit File(int descriptor) : descriptor(descriptor) {}
  ~File() {
    if (descriptor >= 0)
      close(descriptor);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  bool isOpen() const { return descriptor >= 0; }
  /// Nobody else can have written it.
  bool isOwn(mode_t kind, struct stat &info) const {
    return isOpen() && fstat(descriptor, &info) == 0 &&
           (info.st_mode & S_IFMT) == kind && info.st_uid == geteuid() &&
           (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  }
  bool read(void *to, size_t bytes) const {
    return transfer(static_cast<char *>(to), bytes, ::read);
  }
  bool write(const void *from, size_t bytes) const {
    return transfer(static_cast<const char *>(from), bytes, ::write);
  }

private:
  template <typename Pointer, typename Call>
  bool transfer(Pointer at, size_t bytes, Call call) const {
    while (bytes > 0) {
      ssize_t done = call(descriptor, at, bytes);
      if (done < 0 && errno == EINTR)
        continue;
      if (done <= 0)
        return false;
      at += done;
      bytes -= size_t(done);
    }
    return true;
  }
  int descriptor;
};
} // namespace

static uint64_t checksum(const std::string &key, const std::string &plan) {
  ContentHash hash;
  hash.add(key.data(), key.size());
  hash.add(plan.data(), plan.size());
  return hash.value();
}

std::string CudnnPlanCache::keyOf(const std::string &graph) const {
  return host + "\n" + graph;
}

std::string CudnnPlanCache::fileOf(const std::string &key) const {
  return folder + "/" + formatHash(checksum(key, "")) + ".cudnn";
}

bool CudnnPlanCache::read(const std::string &graph, std::string &plan) const {
  if (!isOn())
    return false;
  std::string key = keyOf(graph);
  struct stat info;
  File place(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place.isOwn(S_IFDIR, info))
    return false;
  File file(open(fileOf(key).c_str(),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  Header header;
  if (!file.isOwn(S_IFREG, info) || !file.read(&header, sizeof(header)) ||
      std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 ||
      header.keyBytes != key.size() || header.planBytes > mostBytes ||
      uint64_t(info.st_size) !=
          sizeof(header) + header.keyBytes + header.planBytes)
    return false;
  std::string found(key.size(), '\0');
  plan.resize(header.planBytes);
  return file.read(found.data(), found.size()) && found == key &&
         file.read(plan.data(), plan.size()) &&
         header.checksum == checksum(key, plan);
}

/// Makes the folder and those it is in, for this user alone.
static void makeFolders(const std::string &folder) {
  for (size_t slash = folder.find('/', 1);;
       slash = folder.find('/', slash + 1)) {
    mkdir(folder.substr(0, slash).c_str(), 0700);
    if (slash == std::string::npos)
      return;
  }
}

void CudnnPlanCache::write(const std::string &graph,
                           const std::string &plan) const {
  if (!isOn() || plan.size() > mostBytes)
    return;
  makeFolders(folder);
  struct stat info;
  if (!File(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC))
           .isOwn(S_IFDIR, info))
    return;
  // No OutputFile: that follows links and keeps the permissions it finds.
  std::string key = keyOf(graph), beside = folder + "/new-XXXXXX";
  File file(mkostemp(beside.data(), O_CLOEXEC)); // for this user alone
  if (!file.isOpen())
    return;
  Header header{{}, key.size(), plan.size(), checksum(key, plan)};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  bool complete = file.write(&header, sizeof(header)) &&
                  file.write(key.data(), key.size()) &&
                  file.write(plan.data(), plan.size());
  if (!complete || rename(beside.c_str(), fileOf(key).c_str()) != 0)
    unlink(beside.c_str());
}

std::string planCacheFolder() {
  auto variable = [](const char *name) {
    const char *text = std::getenv(name);
    return std::string(text ? text : "");
  };
  if (std::string folder = variable("AUTOPAR_CACHE"); !folder.empty())
    return folder == "off" ? "" : folder;
  if (std::string folder = variable("XDG_CACHE_HOME"); !folder.empty())
    return folder + "/autopar";
  std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/autopar";
}

} // namespace autopar::runtime
