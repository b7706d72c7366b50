//===- Socket.h - Messages between processes over TCP -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_SOCKET_H
#define AUTOPAR_RUNTIME_TRANSPORT_SOCKET_H

#include "../core/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace autopar::runtime {

/// What a frame says. Numbers are those of the host: both ends run the same
/// program.
enum class FrameKind : uint32_t {
  Hello = 1,   // rank -> hub: who it is
  Welcome,     // hub -> rank
  Refused,     // hub -> rank: text
  Joined,      // hub -> rank: all ranks said hello
  Barrier,     // rank -> hub: number, signal; hub -> rank: all have come to it
  AskMissing,  // rank -> hub: barrier's number
  Missing,     // hub -> rank: ranks that have not come to it
  Share,       // rank -> hub -> ranks: bytes of one for all
  Progress,    // rank -> hub: how far it is
  AskProgress, // rank -> hub: of which rank
  ProgressOf,  // hub -> rank
  Failed,      // rank -> hub: text
  Abort,       // hub -> rank: text of the first failure
  Result,      // rank -> hub: what it brings rank 0
  Done,        // hub -> rank: all is over
  NotYours,    // hub -> rank: text: the hub's run may be another one
  Here         // rank -> hub: it had the welcome, and stays
};

/// The most bytes of a frame other than a result, and of a text in one.
constexpr uint64_t kMostFrame = 1 << 16;
constexpr size_t kMostText = 4096;

struct Frame {
  FrameKind kind = FrameKind::Hello;
  std::string bytes;

  /// The bytes as text for a terminal: control characters, which may come from
  /// a stranger, are question marks.
  std::string text() const;
};

/// The numbers of a frame's bytes, one after the other.
class FrameReader {
public:
  explicit FrameReader(const std::string &bytes) : bytes(bytes) {}
  template <typename T> bool read(T &value) { return read(&value, sizeof(T)); }
  bool read(void *to, size_t count);
  bool atEnd() const { return at == bytes.size(); }
  /// The rest, from here on.
  std::string rest() const { return bytes.substr(at); }

private:
  const std::string &bytes;
  size_t at = 0;
};

template <typename T> void append(std::string &bytes, const T &value) {
  bytes.append(reinterpret_cast<const char *>(&value), sizeof(T));
}

/// One end of a connection. Closed when destroyed.
class Socket {
public:
  explicit Socket(int descriptor = -1) : descriptor(descriptor) {}
  Socket(Socket &&other) noexcept { swap(other); }
  Socket &operator=(Socket &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Socket() { close(); }

  /// A socket that others can connect to at `port` of the address that `host`
  /// names, of all addresses of this host if it is empty.
  static Status listen(const std::string &host, int port, Socket &result);
  /// The first address of `host` that is this host's, or "".
  static std::string ownAddress(const std::string &host);
  /// Tries once, for at most `seconds`.
  static Status connect(const std::string &host, int port, double seconds,
                        Socket &result);
  /// A connection that waits at a listening socket, or a closed one; then
  /// errno says why.
  Socket accept() const;

  bool isOpen() const { return descriptor >= 0; }
  /// The address of this end (`isPeer`: of the other one), without the port.
  std::string address(bool isPeer) const;
  /// Whether the other end will send no more than what has come.
  bool hasEnded() const;
  int handle() const { return descriptor; }
  void close();
  /// Wakes whoever reads from it.
  void shutDown();

  Status send(FrameKind kind, const std::string &bytes = "") const;
  /// Waits for a whole frame of at most `most` bytes; a failure if the
  /// connection ends. `seconds` < 0: for ever.
  Status receive(Frame &frame, double seconds, uint64_t most) const;
  /// What has come, up to 64 KiB, added to `buffer`; false if the connection
  /// has ended. Call it when there is something to read.
  bool read(std::string &buffer) const;

private:
  void swap(Socket &other) noexcept { std::swap(descriptor, other.descriptor); }
  Status receiveExactly(void *to, size_t count, double until) const;

  int descriptor = -1;
};

/// Takes the first whole frame off `buffer`. Returns false if there is none;
/// `bad` is set if there can be none, as it is longer than `most` of its kind
/// or no frame.
bool takeFrame(std::string &buffer,
               const std::function<uint64_t(FrameKind)> &most, Frame &frame,
               bool &bad);

/// Whether an address is one at which only this host is reached.
bool isLoopback(const std::string &address);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_SOCKET_H
