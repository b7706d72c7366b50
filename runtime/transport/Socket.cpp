//===- Socket.cpp - Messages between processes over TCP -------------------===//

#include "Socket.h"

#include "../core/Futex.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace autopar::runtime {

namespace {
struct FrameHeader {
  static constexpr uint32_t kMagic = 0x31545041; // "APT1"
  uint32_t magic;
  FrameKind kind;
  uint64_t bytes;
};
} // namespace

static Status systemError(const std::string &what) {
  return Status::error(what + ": " + std::strerror(errno));
}

bool FrameReader::read(void *to, size_t count) {
  if (bytes.size() - at < count)
    return false;
  std::memcpy(to, bytes.data() + at, count);
  at += count;
  return true;
}

void Socket::close() {
  if (descriptor >= 0)
    ::close(descriptor);
  descriptor = -1;
}

void Socket::shutDown() {
  if (descriptor >= 0)
    ::shutdown(descriptor, SHUT_RDWR);
}

/// A peer that vanishes without a word is noticed after half a minute: by
/// probes where nothing is on its way to it, else by what it does not
/// acknowledge. One that does not read holds up the sender for at most 20 s.
static void setOptions(int descriptor) {
  int one = 1, idle = 10, interval = 5, probes = 4;
  unsigned unacknowledged = 30000; // milliseconds
  timeval patience = {20, 0};
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval,
             sizeof(interval));
  setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
  setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged,
             sizeof(unacknowledged));
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
}

/// On all addresses of this host, IPv6 and IPv4 where it has both.
Status Socket::listen(int port, Socket &result) {
  for (int family : {AF_INET6, AF_INET}) {
    Socket made(
        ::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made.isOpen())
      continue;
    int one = 1, zero = 0;
    setsockopt(made.descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    sockaddr_in6 six = {};
    sockaddr_in four = {};
    six.sin6_family = AF_INET6;
    six.sin6_port = four.sin_port = htons(uint16_t(port));
    four.sin_family = AF_INET;
    if (family == AF_INET6)
      setsockopt(made.descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &zero,
                 sizeof(zero));
    bool isSix = family == AF_INET6;
    auto *address = isSix ? reinterpret_cast<sockaddr *>(&six)
                          : reinterpret_cast<sockaddr *>(&four);
    socklen_t length = isSix ? sizeof(six) : sizeof(four);
    if (bind(made.descriptor, address, length) == 0 &&
        ::listen(made.descriptor, 1024) == 0) {
      result = std::move(made);
      return Status::success();
    }
  }
  return systemError("cannot listen at port " + std::to_string(port));
}

Status Socket::connect(const std::string &host, int port, double seconds,
                       Socket &result) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0)
    return Status::error("cannot find the address of '" + host +
                         "': " + gai_strerror(error));
  std::unique_ptr<addrinfo, void (*)(addrinfo *)> list(found, freeaddrinfo);
  Status last = Status::error("'" + host + "' has no address");
  for (addrinfo *at = found; at; at = at->ai_next) {
    Socket made(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!made.isOpen())
      continue;
    fcntl(made.descriptor, F_SETFL, O_NONBLOCK);
    int code = ::connect(made.descriptor, at->ai_addr, at->ai_addrlen);
    pollfd wait = {made.descriptor, POLLOUT, 0};
    if (code != 0 && errno == EINPROGRESS &&
        poll(&wait, 1, int(seconds * 1000)) == 1) {
      socklen_t length = sizeof(code);
      getsockopt(made.descriptor, SOL_SOCKET, SO_ERROR, &code, &length);
      errno = code;
    }
    if (code == 0) {
      fcntl(made.descriptor, F_SETFL, 0);
      setOptions(made.descriptor);
      result = std::move(made);
      return Status::success();
    }
    last =
        systemError("cannot connect to " + host + ":" + std::to_string(port));
  }
  return last;
}

Socket Socket::accept() const {
  Socket made(accept4(descriptor, nullptr, nullptr, SOCK_CLOEXEC));
  if (made.isOpen())
    setOptions(made.descriptor);
  return made;
}

Status Socket::send(FrameKind kind, const std::string &bytes) const {
  FrameHeader header = {FrameHeader::kMagic, kind, bytes.size()};
  std::string all(reinterpret_cast<char *>(&header), sizeof(header));
  all += bytes;
  for (size_t done = 0; done < all.size();) {
    ssize_t put =
        ::send(descriptor, all.data() + done, all.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return systemError("the connection to another rank broke");
    done += size_t(put);
  }
  return Status::success();
}

Status Socket::receiveExactly(void *to, size_t count, double until) const {
  char *at = static_cast<char *>(to);
  while (count > 0) {
    int milliseconds = -1;
    if (until >= 0)
      milliseconds = int(std::max(0.0, until - monotonicSeconds()) * 1000) + 1;
    pollfd wait = {descriptor, POLLIN, 0};
    int ready = poll(&wait, 1, milliseconds);
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      return Status::error("no answer in time");
    ssize_t got = recv(descriptor, at, count, 0);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Status::error("the connection was closed");
    at += got;
    count -= size_t(got);
  }
  return Status::success();
}

Status Socket::receive(Frame &frame, double seconds, uint64_t most) const {
  double until = seconds < 0 ? -1 : monotonicSeconds() + seconds;
  FrameHeader header = {};
  APRT_TRY(receiveExactly(&header, sizeof(header), until));
  if (header.magic != FrameHeader::kMagic || header.bytes > most)
    return Status::error("something else answers there");
  frame.kind = header.kind;
  frame.bytes.resize(header.bytes);
  return receiveExactly(frame.bytes.data(), frame.bytes.size(), until);
}

bool Socket::read(std::string &buffer) const {
  char piece[65536];
  ssize_t got = recv(descriptor, piece, sizeof(piece), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    return true;
  if (got > 0)
    buffer.append(piece, size_t(got));
  return got > 0;
}

bool takeFrame(std::string &buffer, uint64_t most, Frame &frame, bool &bad) {
  FrameHeader header;
  if (buffer.size() < sizeof(header))
    return false;
  std::memcpy(&header, buffer.data(), sizeof(header));
  bad = header.magic != FrameHeader::kMagic || header.bytes > most;
  if (bad || buffer.size() - sizeof(header) < header.bytes)
    return false;
  frame.kind = header.kind;
  frame.bytes = buffer.substr(sizeof(header), header.bytes);
  buffer.erase(0, sizeof(header) + header.bytes);
  return true;
}

} // namespace autopar::runtime
