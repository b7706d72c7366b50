//===- NcclRegion.cpp - What members of a communicator share --------------===//

#include "NcclRegion.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopar::runtime::emulated {

/// At the begin of the file, zeroed but for the nonce when it is created.
struct NcclRegion::Header {
  uint64_t nonce;
  std::atomic<uint32_t> members; // 0: nobody came yet
  std::atomic<uint32_t> attached;
  std::atomic<uint32_t> failed; // 1: being written, 2: failure is complete
  char failure[1900];
};

static Status systemError(const std::string &what) {
  return Status::error(what + ": " + std::strerror(errno));
}

std::string describe(const CallRecord &call) {
  static const char *const kinds[] = {
      "ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast",
      "ncclReduce",    "ncclSend",      "ncclRecv"};
  static const char *const types[] = {"i8",  "u8",  "i32", "u32", "i64",
                                      "u64", "f16", "f32", "f64", "bf16"};
  static const char *const reductions[] = {"sum", "product", "max", "min"};
  std::string text = std::string(kinds[int(call.kind)]) + " of " +
                     std::to_string(call.count) + " " + types[call.type];
  switch (call.kind) {
  case CallKind::allReduce:
  case CallKind::reduceScatter:
    text += std::string(", ") + reductions[call.reduction];
    break;
  case CallKind::reduce:
    text += std::string(", ") + reductions[call.reduction];
    [[fallthrough]];
  case CallKind::broadcast:
    text += ", root " + std::to_string(call.root);
    break;
  case CallKind::send:
    text += " to " + std::to_string(call.root);
    break;
  case CallKind::receive:
    text += " from " + std::to_string(call.root);
    break;
  case CallKind::allGather:
    break;
  }
  if (call.op[0])
    text += std::string(" in op '") + call.op + "'";
  return text;
}

Status NcclRegion::create(RegionName &name) {
  int descriptor = memfd_create("autopar-emulated-nccl", MFD_CLOEXEC);
  if (descriptor < 0)
    return systemError("cannot make a communicator's memory");
  std::random_device random;
  name = {getpid(), descriptor, uint64_t(random()) << 32 | random()};
  if (pwrite(descriptor, &name.nonce, sizeof(name.nonce), 0) !=
      ssize_t(sizeof(name.nonce)))
    return systemError("cannot write a communicator's memory");
  return Status::success();
}

void closeCreated(const RegionName &name) {
  if (name.descriptor >= 0 && name.process == getpid())
    ::close(name.descriptor);
}

int64_t NcclRegion::bytesBeforeData() const {
  int64_t bytes = int64_t(sizeof(Header) + sizeof(Seat) * size_t(count + 1) +
                          sizeof(Mail) * size_t(count) * size_t(count));
  return (bytes + 4095) / 4096 * 4096;
}

/// Opens the file anew, so that the lock is this process's own.
Status NcclRegion::map(const RegionName &name) {
  std::string path = "/proc/" + std::to_string(name.process) + "/fd/" +
                     std::to_string(name.descriptor);
  file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  uint64_t nonce = 0;
  if (file < 0 || pread(file, &nonce, sizeof(nonce), 0) != sizeof(nonce) ||
      nonce != name.nonce)
    return Status::error("the process that made the communicator's id (" +
                         std::to_string(name.process) + ") is gone");
  mapped = bytesBeforeData() + count * dataBytes;
  struct stat info = {};
  if (fstat(file, &info) != 0 ||
      (info.st_size < mapped && ftruncate(file, mapped) != 0))
    return systemError("cannot size a communicator's memory");
  base = mmap(nullptr, size_t(mapped), PROT_READ | PROT_WRITE,
              MAP_SHARED | MAP_NORESERVE, file, 0);
  if (base != MAP_FAILED)
    return Status::success();
  base = nullptr;
  return systemError("cannot map a communicator's memory");
}

static struct flock seatLock(int member) {
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = member;
  lock.l_len = 1;
  return lock;
}

Status NcclRegion::attach(const RegionName &name, int members, int member,
                          int32_t worldRank) {
  count = members;
  self = member;
  APRT_TRY(map(name));
  uint32_t said = 0;
  if (!header()->members.compare_exchange_strong(said, uint32_t(members)) &&
      said != uint32_t(members))
    return Status::error("rank " + std::to_string(member) + " says that " +
                         std::to_string(members) +
                         " ranks make the communicator, another rank says " +
                         std::to_string(said));
  struct flock lock = seatLock(member);
  if (fcntl(file, F_OFD_SETLK, &lock) != 0)
    return Status::error("rank " + std::to_string(member) +
                         " of the communicator is taken twice");
  if (seat(member).state.load() != SeatState::empty)
    return Status::error("the communicator's id was used before");
  seat(member).worldRank = worldRank;
  seat(member).state.store(SeatState::here);
  header()->attached.fetch_add(1);
  return Status::success();
}

bool NcclRegion::allAttached() const {
  return header()->attached.load() == uint32_t(count);
}

void NcclRegion::close() {
  if (base)
    munmap(base, size_t(mapped));
  if (file >= 0)
    ::close(file);
  base = nullptr;
  file = -1;
}

Seat &NcclRegion::seat(int member) const {
  uintptr_t first = reinterpret_cast<uintptr_t>(header() + 1);
  first = (first + alignof(Seat) - 1) / alignof(Seat) * alignof(Seat);
  return reinterpret_cast<Seat *>(first)[member];
}

Mail &NcclRegion::mail(int from, int to) const {
  return reinterpret_cast<Mail *>(&seat(count))[from * count + to];
}

char *NcclRegion::data(int member) const {
  return static_cast<char *>(base) + bytesBeforeData() + member * dataBytes;
}

bool NcclRegion::isAlive(int member) const {
  if (member == self || seat(member).state.load() != SeatState::here)
    return true;
  struct flock lock = seatLock(member);
  if (fcntl(file, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK)
    return true;
  // It may have left in good order meanwhile.
  return seat(member).state.load() != SeatState::here;
}

void NcclRegion::fail(const std::string &text) const {
  uint32_t none = 0;
  if (!header()->failed.compare_exchange_strong(none, 1))
    return;
  std::snprintf(header()->failure, sizeof(header()->failure), "%s",
                text.c_str());
  header()->failed.store(2);
}

bool NcclRegion::failed(std::string &text) const {
  if (header()->failed.load() != 2)
    return false;
  text = header()->failure;
  return true;
}

} // namespace autopar::runtime::emulated
