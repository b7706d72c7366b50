//===- SharedMemory.cpp - Memory of several processes ---------------------===//

#include "SharedMemory.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace autopar::runtime {

static constexpr int64_t pageBytes = 4096; // pieces begin on pages

SharedMemory::~SharedMemory() {
  if (file >= 0)
    close(file);
}

Status SharedMemory::createFile() {
  file = memfd_create("autopar-session", MFD_CLOEXEC);
  if (file < 0)
    return Status::error(std::string("cannot make shared memory: ") +
                         std::strerror(errno));
  return Status::success();
}

void SharedMemory::attach(int descriptor) {
  file = descriptor;
  attached = true;
}

Status SharedMemory::take(int64_t bytes, const char *what, Buffer &piece) {
  if (file < 0)
    return piece.allocateShared(bytes, what);
  int64_t begin = end;
  end += std::max<int64_t>((bytes + pageBytes - 1) / pageBytes, 1) * pageBytes;
  if (!attached && ftruncate(file, end) != 0)
    return Status::error("cannot allocate " + std::to_string(bytes) +
                         " bytes for " + what + ": " + std::strerror(errno));
  return piece.mapShared(file, begin, bytes, what);
}

} // namespace autopar::runtime
