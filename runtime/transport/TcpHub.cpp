//===- TcpHub.cpp - Where ranks of a launcher meet ------------------------===//

#include "TcpHub.h"

#include "../core/Futex.h"
#include "../core/QuietThread.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace autopar::runtime {

static constexpr int kPollMilliseconds = 100;
/// A turn of the loop that takes so long is no turn of a loop that runs.
static constexpr double kStillSeconds = 1;

static std::string listOf(const std::vector<int> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  return text;
}

Status TcpHub::start(int port, const std::string &host) {
  Status status;
  for (int i = 0; i < kHubPorts && !listener.isOpen(); ++i) {
    listening = port + i;
    status = Socket::listen(host, listening, listener);
  }
  APRT_TRY(status);
  where = listener.address(/*isPeer=*/false);
  wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  results.resize(size_t(identity.world));
  thread = startQuietThread([this] { serve(); });
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
  double begun = monotonicSeconds(), last = begun;
  bool told = false; // that all is over
  for (;;) {
    std::vector<pollfd> waits = {
        {wake, POLLIN, 0}, {canAccept() ? listener.handle() : -1, POLLIN, 0}};
    for (const auto &peer : peers)
      waits.push_back({peer->socket.handle(), POLLIN, 0});
    poll(waits.data(), nfds_t(waits.size()), kPollMilliseconds);
    // Nobody could join while this process itself stood still.
    double now = monotonicSeconds(), stood = now - std::exchange(last, now);
    begun += stood > kStillSeconds ? stood : 0;
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
      acceptPeers();
    dropStrangers(now - kHelloSeconds);
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

void TcpHub::readFrom(Peer &peer) {
  size_t before = peer.buffer.size();
  bool open = peer.socket.read(peer.buffer), bad = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    arrivedBytes += peer.buffer.size() - before;
  }
  Frame frame;
  auto most = [&](FrameKind kind) { return mostBytes(peer, kind); };
  while (peer.socket.isOpen() && takeFrame(peer.buffer, most, frame, bad))
    handle(peer, frame);
  if (bad && peer.socket.isOpen())
    refuse(peer);
  if ((!open || bad) && peer.socket.isOpen())
    lost(peer);
}

/// What a connection sends is nothing that this program sends.
void TcpHub::refuse(Peer &peer) {
  if (peer.rank < 0)
    return turnAway(peer, "what it sends is no rank's");
  std::string who = "rank " + std::to_string(peer.rank);
  if (!joined) {
    leaveSeat(peer);
    return turnAway(peer, "what it sends as " + who + " is no rank's");
  }
  peer.socket.close();
  fail(who + " sent what no rank of this program sends");
}

/// Who has not said hello may be anyone; a rank sends what its program makes.
uint64_t TcpHub::mostBytes(const Peer &peer, FrameKind kind) const {
  if (peer.rank < 0)
    return helloBytes(identity, 0).size();
  if (kind != FrameKind::Result)
    return kMostFrame;
  return program.mostResult ? program.mostResult(peer.rank) : UINT64_MAX;
}

void TcpHub::lost(Peer &peer) {
  peer.socket.close();
  if (!joined)
    return leaveSeat(peer);
  bool over = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    over = finishing || stopping;
  }
  if (peer.rank >= 0 && !over)
    fail("rank " + std::to_string(peer.rank) + " died" +
         program.nameOp(peer.rank, peer.op) +
         ": its process ended or its host cannot be reached");
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

/// A barrier is over when all have come to the same number. All are told alike
/// whether one of them was asked to end.
void TcpHub::meet() {
  size_t here = 0;
  int32_t endSignal = 0;
  for (const auto &peer : peers) {
    here += peer->rank >= 0 && int32_t(peer->barrier - met) > 0;
    endSignal = endSignal ? endSignal : peer->endSignal;
  }
  if (here < size_t(identity.world))
    return;
  ++met;
  std::string bytes;
  append(bytes, met);
  append(bytes, endSignal);
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

void TcpHub::handle(Peer &peer, Frame &frame) {
  FrameReader reader(frame.bytes);
  if (peer.rank < 0)
    return meetStranger(peer, frame);
  uint32_t number = 0;
  int32_t rank = 0;
  switch (frame.kind) {
  case FrameKind::Barrier:
    if (reader.read(number) && reader.read(peer.endSignal))
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
    return report(frame.text());
  case FrameKind::Result:
    return takeResult(peer, std::move(frame.bytes));
  default:
    return; // what a hub says
  }
}

/// Of each rank but 0 the first one.
void TcpHub::takeResult(Peer &peer, std::string bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  std::string &result = results[size_t(peer.rank)];
  if (peer.rank == 0 || bytes.empty() || !result.empty())
    return;
  result = std::move(bytes);
  ++arrivedResults;
  changed.notify_all();
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
