//===- Socket.h - Messages between processes over TCP -----------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_TRANSPORT_SOCKET_H
#define AUTOPAR_RUNTIME_TRANSPORT_SOCKET_H

#include "../core/Status.h"

#include <cstdint>
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
  Barrier,     // rank -> hub: number; hub -> rank: all have come to it
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
  NotYours     // hub -> rank: text: the hub's run may be another one
};

struct Frame {
  FrameKind kind = FrameKind::Hello;
  std::string bytes;
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

  /// A socket that others can connect to on `port`, or a failure.
  static Status listen(int port, Socket &result);
  /// Tries once, for at most `seconds`.
  static Status connect(const std::string &host, int port, double seconds,
                        Socket &result);
  /// A connection that waits at a listening socket, or a closed one; then
  /// errno says why.
  Socket accept() const;

  bool isOpen() const { return descriptor >= 0; }
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
/// `bad` is set if there can be none, as it is longer than `most` or no frame.
bool takeFrame(std::string &buffer, uint64_t most, Frame &frame, bool &bad);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_TRANSPORT_SOCKET_H
