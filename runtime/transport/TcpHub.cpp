//===- TcpHub.cpp - Where ranks of a launcher meet ------------------------===//

#include "TcpHub.h"

#include "../core/Futex.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace autopar::runtime {

std::string helloBytes(const TcpIdentity &identity, int rank) {
  std::string bytes;
  append(bytes, int32_t(rank));
  append(bytes, int32_t(identity.world));
  append(bytes, identity.program);
  return bytes + identity.run;
}

static std::string listOf(const std::vector<int> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

Status TcpHub::start(int port) {
  Status status;
  for (int i = 0; i < kHubPorts && !listener.isOpen(); ++i) {
    listening = port + i;
    status = Socket::listen(listening, listener);
  }
  APRT_TRY(status);
  wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  results.resize(size_t(identity.world));
  thread = std::thread([this] { serve(); });
  return Status::success();
}

TcpHub::~TcpHub() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  if (wake >= 0)
    eventfd_write(wake, 1);
  if (thread.joinable())
    thread.join();
  if (wake >= 0)
    ::close(wake);
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void TcpHub::serve() {
  double begun = monotonicSeconds();
  bool told = false; // that all is over
  for (;;) {
    std::vector<pollfd> waits = {
        {wake, POLLIN, 0}, {canAccept() ? listener.handle() : -1, POLLIN, 0}};
    for (const auto &peer : peers)
      waits.push_back({peer->socket.handle(), POLLIN, 0});
    poll(waits.data(), nfds_t(waits.size()), 100);
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (finishing && !std::exchange(told, true))
        tellAll(FrameKind::Done, "");
      if (stopping)
        return;
    }
    size_t known = peers.size();
    for (size_t i = 0; i < known; ++i)
      if (waits[i + 2].revents)
        readFrom(*peers[i]);
    if (waits[1].revents)
      acceptPeer();
    dropStrangers(monotonicSeconds() - kHelloSeconds);
    peers.erase(std::remove_if(peers.begin(), peers.end(),
                               [](const std::unique_ptr<Peer> &peer) {
                                 return !peer->socket.isOpen();
                               }),
                peers.end());
    if (!joined)
      checkDeadline(begun);
    checkReport();
  }
}

bool TcpHub::canAccept() const {
  return peers.size() < size_t(identity.world) + kMostStrangers &&
         monotonicSeconds() >= acceptsAgain;
}

void TcpHub::acceptPeer() {
  auto peer = std::make_unique<Peer>();
  peer->socket = listener.accept();
  peer->since = monotonicSeconds();
  if (peer->socket.isOpen())
    return peers.push_back(std::move(peer));
  if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
    return; // who connected has gone
  // The connection waits, and would wake the thread at once.
  trouble = std::string("; connections could not be accepted: ") +
            std::strerror(errno);
  acceptsAgain = monotonicSeconds() + 0.5;
}

void TcpHub::dropStrangers(double before) {
  for (const auto &peer : peers)
    if (peer->rank < 0 && peer->since < before)
      peer->socket.close();
}

void TcpHub::readFrom(Peer &peer) {
  size_t before = peer.buffer.size();
  bool open = peer.socket.read(peer.buffer), bad = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    arrivedBytes += peer.buffer.size() - before;
  }
  // Who has not said hello may be anyone.
  uint64_t most = peer.rank < 0 ? kMostFrame : kMostResult;
  Frame frame;
  while (peer.socket.isOpen() && takeFrame(peer.buffer, most, frame, bad))
    handle(peer, frame);
  if ((!open || bad) && peer.socket.isOpen())
    lost(peer);
}

void TcpHub::lost(Peer &peer) {
  peer.socket.close();
  bool over = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    over = finishing || stopping;
  }
  if (peer.rank >= 0 && !over)
    fail("rank " + std::to_string(peer.rank) + " died" + nameOp(peer.op) +
         ": its process ended or its host cannot be reached");
}

std::vector<int> TcpHub::absent() {
  std::vector<int> ranks;
  for (int rank = 0; rank < identity.world; ++rank)
    if (!peerOf(rank))
      ranks.push_back(rank);
  return ranks;
}

void TcpHub::checkDeadline(double begun) {
  if (monotonicSeconds() - begun < identity.timeoutSeconds)
    return;
  joined = true; // nobody else is waited for
  fail(missingRanks(absent(), identity.timeoutSeconds) + " at the start of " +
       std::to_string(identity.world) + " ranks" + trouble);
}

void TcpHub::report(const std::string &text) {
  if (!reported.empty())
    return;
  reported = text;
  reportedAt = monotonicSeconds();
}

void TcpHub::checkReport() {
  if (!reported.empty() && monotonicSeconds() - reportedAt > kReportSeconds)
    fail(reported);
}

TcpHub::Peer *TcpHub::peerOf(int rank) {
  for (const auto &peer : peers)
    if (peer->rank == rank && peer->socket.isOpen())
      return peer.get();
  return nullptr;
}

void TcpHub::tell(Peer &peer, FrameKind kind, const std::string &bytes) {
  // Perhaps half a frame went: nothing may follow it.
  if (peer.socket.isOpen() && peer.socket.send(kind, bytes).failed())
    lost(peer);
}

void TcpHub::tellAll(FrameKind kind, const std::string &bytes) {
  for (const auto &peer : peers)
    if (peer->rank >= 0)
      tell(*peer, kind, bytes);
}

void TcpHub::fail(const std::string &text) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!failure.empty())
      return;
    failure = text;
    changed.notify_all();
  }
  tellAll(FrameKind::Abort, text);
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

/// Only a rank of this very run makes it fail: others may have been given the
/// same port.
void TcpHub::greet(Peer &peer, const Frame &frame) {
  FrameReader reader(frame.bytes);
  int32_t rank = -1, world = 0;
  uint64_t program = 0;
  bool whole = reader.read(rank) && reader.read(world) && reader.read(program);
  // A rank of another run that listens elsewhere.
  if (!whole || reader.rest() != identity.run)
    return peer.socket.close();
  bool isOurs = false;
  std::string text;
  if (world != identity.world || rank < 0 || rank >= world)
    text = "rank " + std::to_string(rank) + " says that there are " +
           std::to_string(world) + " ranks, rank 0 says " +
           std::to_string(identity.world);
  else if (peerOf(rank))
    text = "two processes say that they are rank " + std::to_string(rank);
  else if (program != identity.program) {
    isOurs = identity.isNamed;
    text = "rank " + std::to_string(rank) +
           " runs another program, or with other options, than rank 0";
  }
  if (text.empty())
    return welcome(peer, rank);
  tell(peer, isOurs ? FrameKind::Refused : FrameKind::NotYours, text);
  peer.socket.close();
  if (isOurs)
    fail(text);
}

void TcpHub::welcome(Peer &peer, int rank) {
  peer.rank = rank;
  tell(peer, FrameKind::Welcome);
  std::string failed;
  {
    std::lock_guard<std::mutex> lock(mutex);
    failed = failure;
  }
  if (!failed.empty())
    tell(peer, FrameKind::Abort, failed);
  if (!absent().empty() || joined)
    return;
  joined = true;
  listener.close();
  dropStrangers(monotonicSeconds());
  tellAll(FrameKind::Joined, "");
}

/// A barrier is over when all have come to the same number.
void TcpHub::meet() {
  size_t here = 0;
  for (const auto &peer : peers)
    here += peer->rank >= 0 && int32_t(peer->barrier - met) > 0;
  if (here < size_t(identity.world))
    return;
  ++met;
  std::string bytes;
  append(bytes, met);
  tellAll(FrameKind::Barrier, bytes);
}

void TcpHub::answerMissing(Peer &peer, uint32_t number) {
  std::string bytes;
  for (int32_t rank = 0; rank < identity.world; ++rank) {
    const Peer *other = peerOf(rank);
    if (!other || int32_t(other->barrier - number) < 0)
      append(bytes, rank);
  }
  tell(peer, FrameKind::Missing, bytes);
}

void TcpHub::answerProgress(Peer &peer, int rank) {
  const Peer *other = peerOf(rank);
  std::string bytes;
  append(bytes, int32_t(rank));
  append(bytes, other ? other->progress : RankProgress());
  tell(peer, FrameKind::ProgressOf, bytes);
}

void TcpHub::pass(const Peer &from, const Frame &frame) {
  for (const auto &peer : peers)
    if (peer->rank >= 0 && peer->rank != from.rank)
      tell(*peer, frame.kind, frame.bytes);
}

void TcpHub::handle(Peer &peer, const Frame &frame) {
  FrameReader reader(frame.bytes);
  if (peer.rank < 0)
    return frame.kind == FrameKind::Hello ? greet(peer, frame)
                                          : peer.socket.close();
  uint32_t number = 0;
  int32_t rank = 0;
  switch (frame.kind) {
  case FrameKind::Barrier:
    if (reader.read(number))
      peer.barrier = number;
    return meet();
  case FrameKind::AskMissing:
    if (reader.read(number))
      answerMissing(peer, number);
    return;
  case FrameKind::Share:
    return pass(peer, frame);
  case FrameKind::Progress:
    (void)(reader.read(peer.op) && reader.read(peer.progress));
    return;
  case FrameKind::AskProgress:
    if (reader.read(rank))
      answerProgress(peer, rank);
    return;
  case FrameKind::Failed:
    return report(frame.bytes);
  case FrameKind::Result: {
    std::lock_guard<std::mutex> lock(mutex);
    results[size_t(peer.rank)] = frame.bytes;
    ++arrivedResults;
    changed.notify_all();
    return;
  }
  default:
    return; // what a hub says
  }
}

//===----------------------------------------------------------------------===//
// Rank 0's main thread
//===----------------------------------------------------------------------===//

Status TcpHub::waitForResults(std::vector<std::string> &taken) {
  std::unique_lock<std::mutex> lock(mutex);
  uint64_t seen = 0;
  double since = monotonicSeconds();
  while (arrivedResults + 1 < size_t(identity.world)) {
    if (!failure.empty())
      return Status::error(failure);
    if (arrivedBytes != seen) {
      seen = arrivedBytes;
      since = monotonicSeconds();
    }
    if (monotonicSeconds() - since > identity.timeoutSeconds) {
      std::vector<int> missing;
      for (int rank = 1; rank < identity.world; ++rank)
        if (results[size_t(rank)].empty())
          missing.push_back(rank);
      return Status::error("the results of " + listOf(missing) +
                           " did not come in time (--timeout sets the limit)");
    }
    changed.wait_for(lock, std::chrono::milliseconds(200));
  }
  taken = std::move(results);
  return Status::success();
}

void TcpHub::finish() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    finishing = true;
  }
  eventfd_write(wake, 1);
}

} // namespace autopar::runtime
