//===- Socket.cpp - Messages between processes over TCP -------------------===//

#include "Socket.h"

#include "../core/Futex.h"

#include <algorithm>
#include <arpa/inet.h>
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

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo *)>;

/// The addresses of `host`; if it is empty, those that stand for all addresses
/// of this host.
static Status findAddresses(const std::string &host, int port,
                            AddressList &list) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = host.empty() ? AI_PASSIVE : 0;
  int error = getaddrinfo(host.empty() ? nullptr : host.c_str(),
                          std::to_string(port).c_str(), &hints, &found);
  if (error != 0)
    return Status::error("cannot find the address of '" + host +
                         "': " + gai_strerror(error));
  list.reset(found);
  return Status::success();
}

/// A closed socket where this host cannot have the address.
static Socket bindTo(const addrinfo &address) {
  int kind = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
  Socket made(::socket(address.ai_family, kind, 0));
  int one = 1, zero = 0;
  setsockopt(made.handle(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  if (address.ai_family == AF_INET6)
    setsockopt(made.handle(), IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
  if (bind(made.handle(), address.ai_addr, address.ai_addrlen) != 0)
    made.close();
  return made;
}

Status Socket::listen(const std::string &host, int port, Socket &result) {
  AddressList list(nullptr, freeaddrinfo);
  APRT_TRY(findAddresses(host, port, list));
  std::vector<const addrinfo *> addresses;
  for (const addrinfo *at = list.get(); at; at = at->ai_next)
    addresses.push_back(at);
  if (host.empty()) // IPv6's takes IPv4 too
    std::partition(addresses.begin(), addresses.end(), [](const addrinfo *at) {
      return at->ai_family == AF_INET6;
    });
  for (const addrinfo *at : addresses) {
    Socket made = bindTo(*at);
    if (!made.isOpen() || ::listen(made.descriptor, 1024) != 0)
      continue;
    result = std::move(made);
    return Status::success();
  }
  return systemError("cannot listen at port " + std::to_string(port) +
                     (host.empty() ? "" : " of '" + host + "'"));
}

std::string Socket::ownAddress(const std::string &host) {
  AddressList list(nullptr, freeaddrinfo);
  if (findAddresses(host, 0, list).failed())
    return "";
  for (const addrinfo *at = list.get(); at; at = at->ai_next)
    if (Socket made = bindTo(*at); made.isOpen())
      return made.address(/*isPeer=*/false);
  return "";
}

/// Without the port.
static std::string addressText(const sockaddr_storage &address) {
  char text[INET6_ADDRSTRLEN] = "";
  const void *bytes = nullptr;
  if (address.ss_family == AF_INET)
    bytes = &reinterpret_cast<const sockaddr_in &>(address).sin_addr;
  if (address.ss_family == AF_INET6)
    bytes = &reinterpret_cast<const sockaddr_in6 &>(address).sin6_addr;
  if (bytes)
    inet_ntop(address.ss_family, bytes, text, sizeof(text));
  return text;
}

std::string Socket::address(bool isPeer) const {
  sockaddr_storage address = {};
  socklen_t length = sizeof(address);
  auto *to = reinterpret_cast<sockaddr *>(&address);
  int code = isPeer ? getpeername(descriptor, to, &length)
                    : getsockname(descriptor, to, &length);
  return code == 0 ? addressText(address) : "";
}

bool isLoopback(const std::string &address) {
  return address == "::1" || address.compare(0, 4, "127.") == 0 ||
         address.compare(0, 11, "::ffff:127.") == 0;
}

bool Socket::hasEnded() const {
  pollfd look = {descriptor, POLLRDHUP, 0};
  return poll(&look, 1, 0) == 1 &&
         (look.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

Status Socket::connect(const std::string &host, int port, double seconds,
                       Socket &result) {
  AddressList list(nullptr, freeaddrinfo);
  APRT_TRY(findAddresses(host, port, list));
  Status last = Status::error("'" + host + "' has no address");
  for (const addrinfo *at = list.get(); at; at = at->ai_next) {
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

std::string Frame::text() const {
  std::string text = bytes.substr(0, kMostText);
  for (char &letter : text)
    if ((static_cast<unsigned char>(letter) < 0x20 && letter != '\n') ||
        letter == 0x7f)
      letter = '?';
  return text;
}

bool takeFrame(std::string &buffer,
               const std::function<uint64_t(FrameKind)> &most, Frame &frame,
               bool &bad) {
  FrameHeader header;
  if (buffer.size() < sizeof(header))
    return false;
  std::memcpy(&header, buffer.data(), sizeof(header));
  bad = header.magic != FrameHeader::kMagic || header.bytes > most(header.kind);
  if (bad || buffer.size() - sizeof(header) < header.bytes)
    return false;
  frame.kind = header.kind;
  frame.bytes = buffer.substr(sizeof(header), header.bytes);
  buffer.erase(0, sizeof(header) + header.bytes);
  return true;
}

} // namespace autopar::runtime
