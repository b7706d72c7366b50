//===- TcpJoining.cpp - Who may join the ranks of a run -------------------===//
//
// Anybody can connect. Only a rank of this very run takes a seat; everyone else
// is turned away with a message and without any harm to the run, and a seat
// whose connection ends before all have met is free again.
//
//===----------------------------------------------------------------------===//

#include "../core/Futex.h"
#include "TcpHub.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace autopar::runtime {

std::string helloBytes(const TcpIdentity &identity, int rank) {
  std::string bytes;
  append(bytes, int32_t(rank));
  append(bytes, int32_t(identity.world));
  append(bytes, identity.program);
  return bytes + identity.run;
}

std::string TcpHub::host() const {
  if (where.empty() || where == "0.0.0.0")
    return "127.0.0.1";
  return where == "::" ? "::1" : where;
}

//===----------------------------------------------------------------------===//
// Strangers
//===----------------------------------------------------------------------===//

bool TcpHub::canAccept() const { return monotonicSeconds() >= acceptsAgain; }

/// Takes all connections that wait: a rank's may be behind a stranger's.
void TcpHub::acceptPeers() {
  int code = 0;
  for (size_t i = 0; i < kMostStrangers && code == 0; ++i) {
    auto peer = std::make_unique<Peer>();
    peer->socket = listener.accept();
    code = peer->socket.isOpen() ? 0 : errno;
    if (code != 0)
      break;
    peer->since = monotonicSeconds();
    peers.push_back(std::move(peer));
    dropFirstStranger();
    readFrom(*peers.back()); // a rank says hello at once
  }
  if (code != EMFILE && code != ENFILE && code != ENOBUFS && code != ENOMEM)
    return; // none waits any more
  // The connection waits, and would wake the thread at once.
  trouble = std::string("; connections could not be accepted: ") +
            std::strerror(code);
  acceptsAgain = monotonicSeconds() + 0.5;
}

void TcpHub::dropStrangers(double before) {
  for (const auto &peer : peers)
    if (peer->claimed < 0 && peer->since < before)
      peer->socket.close();
}

/// Of too many strangers the one that came first.
void TcpHub::dropFirstStranger() {
  size_t strangers = 0;
  Peer *first = nullptr;
  for (const auto &peer : peers) {
    if (peer->claimed >= 0 || !peer->socket.isOpen())
      continue;
    ++strangers;
    first = first ? first : peer.get();
  }
  if (strangers > kMostStrangers)
    first->socket.close();
}

void TcpHub::turnAway(Peer &peer, const std::string &why) {
  std::string text = "a connection from " + peer.socket.address(true) +
                     " was turned away: " + why;
  peer.socket.close();
  trouble = "; " + text;
  if (warnings == kMostWarnings)
    text = "further connections are turned away without a word";
  if (warnings++ <= kMostWarnings)
    std::fprintf(stderr, "warning: %s\n", text.c_str());
}

//===----------------------------------------------------------------------===//
// Seats
//===----------------------------------------------------------------------===//

void TcpHub::meetStranger(Peer &peer, const Frame &frame) {
  if (frame.kind == FrameKind::Hello && peer.claimed < 0)
    return greet(peer, frame);
  if (frame.kind == FrameKind::Here && peer.claimed >= 0)
    return takeSeat(peer);
  turnAway(peer, "it does not say hello as ranks do");
}

/// A rank that waited long for this may have connected anew.
void TcpHub::greet(Peer &peer, const Frame &frame) {
  if (peer.socket.hasEnded())
    return peer.socket.close();
  FrameReader reader(frame.bytes);
  int32_t rank = -1, world = 0;
  uint64_t theirs = 0;
  bool whole = reader.read(rank) && reader.read(world) && reader.read(theirs);
  if (!whole || reader.rest() != identity.run)
    return turnAway(peer, "it is of another run");
  std::string who = "rank " + std::to_string(rank), text;
  FrameKind kind = FrameKind::NotYours;
  if (world != identity.world || rank < 0 || rank >= world) {
    text = who + " says that there are " + std::to_string(world) +
           " ranks, rank 0 says " + std::to_string(identity.world);
  } else if (peerOf(rank)) {
    text = "two processes say that they are " + who;
  } else if (theirs != identity.program) {
    kind = identity.isNamed ? FrameKind::Refused : kind;
    text = who + " runs another program, or with other options, than rank 0";
  }
  if (text.empty()) {
    peer.claimed = rank;
    return tell(peer, FrameKind::Welcome);
  }
  tell(peer, kind, text);
  turnAway(peer, text);
}

void TcpHub::takeSeat(Peer &peer) {
  if (peerOf(peer.claimed)) {
    std::string text =
        "two processes say that they are rank " + std::to_string(peer.claimed);
    tell(peer, FrameKind::Abort, text);
    return turnAway(peer, text);
  }
  peer.rank = peer.claimed;
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
  for (const auto &other : peers)
    if (other->rank < 0)
      other->socket.close();
  tellAll(FrameKind::Joined, "");
}

/// Its rank may come again.
void TcpHub::leaveSeat(Peer &peer) {
  if (peer.rank >= 0)
    trouble = "; the connection of rank " + std::to_string(peer.rank) +
              " ended before all had met";
  peer.rank = peer.claimed = -1;
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

} // namespace autopar::runtime
