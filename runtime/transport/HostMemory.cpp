//===- HostMemory.cpp - Memory of a launcher's ranks on one host ----------===//

#include "HostMemory.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime {

/// Reads the number that the kernel of this host took when it started; "" if it
/// cannot be read.
static std::string bootId() {
  char text[37] = {};
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
  if (file >= 0)
    close(file);
  return got > 0 ? text : "";
}

HostMemory describeMemory(int descriptor, int64_t bytes) {
  HostMemory memory;
  std::snprintf(memory.boot, sizeof(memory.boot), "%s", bootId().c_str());
  gethostname(memory.host, sizeof(memory.host) - 1);
  memory.process = getpid();
  memory.descriptor = descriptor;
  memory.bytes = bytes;
  struct stat file;
  if (descriptor >= 0 && fstat(descriptor, &file) == 0) {
    memory.device = file.st_dev;
    memory.inode = file.st_ino;
  }
  return memory;
}

Status checkHost(const HostMemory &first, const HostMemory &mine, int rank) {
  if (std::strcmp(first.boot, mine.boot) == 0)
    return Status::success();
  return Status::error(
      "rank " + std::to_string(rank) + " is on host '" + mine.host +
      "', rank 0 on host '" + first.host +
      "': ranks of a CPU program, and of one that evaluates or saves "
      "checkpoints, share memory: start all of them on one host. For these "
      "several hosts, as "
      "mpirun would start ranks there, are not supported yet");
}

/// Opens rank 0's file, and makes sure that it is that one.
static Status openMemory(const HostMemory &first, int &descriptor) {
  std::string path = "/proc/" + std::to_string(first.process) + "/fd/" +
                     std::to_string(first.descriptor);
  descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    return Status::error(std::strerror(errno));
  struct stat file = {};
  if (fstat(descriptor, &file) == 0 && file.st_dev == first.device &&
      file.st_ino == first.inode)
    return Status::success();
  close(descriptor);
  return Status::error("process " + std::to_string(first.process) +
                       " is another one here");
}

Status attachMemory(const HostMemory &first, int rank, SharedMemory &memory) {
  APRT_TRY(checkHost(first, describeMemory(-1, 0), rank));
  int descriptor = -1;
  if (Status status = openMemory(first, descriptor); status.failed())
    return Status::error(
        "rank " + std::to_string(rank) + " cannot open the memory of rank 0, " +
        "process " + std::to_string(first.process) +
        " on this host: " + status.message() +
        ". Start all ranks as one user and in one container, where they see "
        "each other's processes");
  memory.attach(descriptor);
  return Status::success();
}

} // namespace autopar::runtime
