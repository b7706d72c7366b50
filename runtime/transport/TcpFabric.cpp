//===- TcpFabric.cpp - Ranks that a launcher started ----------------------===//

#include "TcpFabric.h"

#include "../core/Futex.h"
#include "../core/QuietThread.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <unistd.h>

namespace autopar::runtime {

/// A rank has so long to end by itself after another one failed.
static constexpr double kGraceSeconds = 5;
static constexpr double kPublishSeconds = 0.01;

TcpFabric::~TcpFabric() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    leaving = true;
  }
  changed.notify_all();
  socket.shutDown();
  if (thread.joinable())
    thread.join();
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

Status TcpFabric::greet(const std::string &host, int port, bool &refused) {
  APRT_TRY(Socket::connect(host, port, 2, socket));
  APRT_TRY(socket.send(FrameKind::Hello, helloBytes(identity, rank)));
  Frame answer;
  APRT_TRY(socket.receive(answer, 5, kMostFrame));
  if (answer.kind == FrameKind::Welcome)
    return socket.send(FrameKind::Here);
  refused = answer.kind == FrameKind::Refused;
  bool known = refused || answer.kind == FrameKind::NotYours;
  return Status::error(known ? answer.text() : "something else answers there");
}

/// The hub may come later than this rank, and at any of its ports.
Status TcpFabric::findHub(const std::string &host, int port, double until) {
  Status last;
  for (;;) {
    for (int i = 0; i < kHubPorts; ++i) {
      bool refused = false;
      Status status = greet(host, port + i, refused);
      if (status.ok() || refused)
        return status;
      // What answers at the first port says most.
      if (i == 0)
        last = status;
      socket.close();
    }
    if (monotonicSeconds() > until)
      return Status::error(
          "rank " + std::to_string(rank) + " cannot reach rank 0 at " + host +
          ", ports " + std::to_string(port) + " to " +
          std::to_string(port + kHubPorts - 1) + ": " + last.message() +
          " (MASTER_ADDR and MASTER_PORT say where)");
    timespec pause = {0, 50000000};
    nanosleep(&pause, nullptr);
  }
}

Status TcpFabric::join(const std::string &host, int port) {
  double until = monotonicSeconds() + identity.timeoutSeconds;
  APRT_TRY(findHub(host, port, until));
  thread = startQuietThread([this] { readAll(); });
  // The hub says who is missing when the time is over, and who that is; it may
  // have begun to wait as late as now.
  bool late = false;
  auto hasJoined = [this] { return joined; };
  APRT_TRY(wait(hasJoined, /*withDeadline=*/true, late));
  if (late)
    APRT_TRY(wait(hasJoined, /*withDeadline=*/true, late, kGraceSeconds));
  if (!late)
    return Status::success();
  return Status::error("rank 0 at " + host +
                       " did not say within the time of --timeout that all "
                       "ranks are there; is it rank 0?");
}

void TcpFabric::watch(const std::atomic<int32_t> &op,
                      std::function<void()> whenEnded) {
  currentOp = &op;
  std::lock_guard<std::mutex> lock(mutex);
  endWaits = std::move(whenEnded);
  if (ended.load())
    endWaits();
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void TcpFabric::take(const Frame &frame) {
  FrameReader reader(frame.bytes);
  std::lock_guard<std::mutex> lock(mutex);
  int32_t number = 0;
  switch (frame.kind) {
  case FrameKind::Joined:
    joined = true;
    break;
  case FrameKind::Barrier:
    (void)(reader.read(met) && reader.read(metSignal));
    break;
  case FrameKind::Share:
    shared.push_back(frame.bytes);
    break;
  case FrameKind::Missing:
    missing.clear();
    while (reader.read(number))
      missing.push_back(number);
    missingKnown = true;
    break;
  case FrameKind::ProgressOf:
    if (RankProgress progress; reader.read(number) && reader.read(progress))
      answers[number] = progress;
    break;
  case FrameKind::Done:
    over = true;
    break;
  default:
    break;
  }
  changed.notify_all();
}

void TcpFabric::end(const std::string &why, bool lost) {
  std::lock_guard<std::mutex> lock(mutex);
  if (over || leaving)
    return;
  text = why;
  hubLost = lost;
  ended.store(true);
  if (endWaits)
    endWaits();
  changed.notify_all();
}

/// The main thread may be stuck in a call of the driver.
void TcpFabric::guardEnd() {
  std::unique_lock<std::mutex> lock(mutex);
  auto limit = std::chrono::duration<double>(kGraceSeconds);
  if (!ended.load() ||
      changed.wait_for(lock, limit, [this] { return leaving; }))
    return;
  std::fprintf(stderr,
               "error: rank %d: ended because another rank failed: %s\n", rank,
               text.c_str());
  _exit(1);
}

void TcpFabric::readAll() {
  for (;;) {
    Frame frame;
    Status status = socket.receive(frame, -1, kMostFrame);
    if (status.failed()) {
      end("rank 0 died: its process ended or its host cannot be reached",
          /*lost=*/true);
      break;
    }
    if (frame.kind == FrameKind::Abort) {
      end(frame.text(), /*lost=*/false);
      break;
    }
    take(frame);
  }
  guardEnd();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Status TcpFabric::tell(FrameKind kind, const std::string &bytes) {
  std::lock_guard<std::mutex> lock(sending);
  Status status = socket.send(kind, bytes);
  if (status.failed()) // perhaps half a frame went: nothing may follow it
    socket.shutDown();
  return status;
}

template <typename Done>
Status TcpFabric::wait(const Done &done, bool withDeadline, bool &late,
                       double seconds) {
  double until =
      monotonicSeconds() + (seconds < 0 ? identity.timeoutSeconds : seconds);
  std::unique_lock<std::mutex> lock(mutex);
  while (!done()) {
    if (ended.load())
      return text.empty() ? abortedStatus() : Status::error(text);
    late = withDeadline && monotonicSeconds() > until;
    if (late)
      return Status::success();
    changed.wait_for(lock, std::chrono::milliseconds(100));
  }
  return Status::success();
}

Status TcpFabric::lateAtBarrier() {
  std::string bytes;
  append(bytes, barriers);
  APRT_TRY(tell(FrameKind::AskMissing, bytes));
  bool late = false;
  APRT_TRY(wait([this] { return missingKnown; }, /*withDeadline=*/true, late));
  return Status::error(missingRanks(missing, identity.timeoutSeconds));
}

Status TcpFabric::barrier(bool withDeadline, double &waitedSeconds) {
  double start = monotonicSeconds();
  ++barriers;
  std::string bytes;
  append(bytes, barriers);
  append(bytes, ownSignal);
  APRT_TRY(tell(FrameKind::Barrier, bytes));
  bool late = false;
  Status status =
      wait([this] { return int32_t(met - barriers) >= 0; }, withDeadline, late);
  waitedSeconds += monotonicSeconds() - start;
  APRT_TRY(std::move(status));
  return late ? lateAtBarrier() : Status::success();
}

int TcpFabric::agreedSignal() {
  std::lock_guard<std::mutex> lock(mutex);
  return metSignal;
}

Status TcpFabric::share(int root, void *data, int64_t bytes) {
  if (bytes > maxShared)
    return Status::error("too much to share: " + std::to_string(bytes) +
                         " bytes");
  double waited = 0;
  if (rank == root)
    APRT_TRY(tell(FrameKind::Share,
                  std::string(static_cast<char *>(data), size_t(bytes))));
  bool late = false;
  if (rank != root) {
    APRT_TRY(
        wait([this] { return !shared.empty(); }, /*withDeadline=*/true, late));
    if (late)
      return Status::error(missingRanks({root}, identity.timeoutSeconds));
    std::lock_guard<std::mutex> lock(mutex);
    std::string given = std::move(shared.front());
    shared.erase(shared.begin());
    if (given.size() != size_t(bytes))
      return Status::error("rank " + std::to_string(root) + " shared " +
                           std::to_string(given.size()) + " bytes, not " +
                           std::to_string(bytes) +
                           ": it does not run this program");
    std::memcpy(data, given.data(), given.size());
  }
  return barrier(/*withDeadline=*/true, waited);
}

void TcpFabric::publish(const RankProgress &progress) {
  bool same = progress.step == last.step && progress.begun == last.begun &&
              progress.done == last.done;
  if (same || monotonicSeconds() - published < kPublishSeconds)
    return;
  published = monotonicSeconds();
  last = progress;
  std::string bytes;
  append(bytes, currentOp ? currentOp->load() : -1);
  append(bytes, progress);
  (void)tell(FrameKind::Progress, bytes);
}

Status TcpFabric::progressOf(int other, RankProgress &progress) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    answers.erase(other);
  }
  std::string bytes;
  append(bytes, int32_t(other));
  APRT_TRY(tell(FrameKind::AskProgress, bytes));
  bool late = false;
  APRT_TRY(wait([&] { return answers.count(other) > 0; },
                /*withDeadline=*/true, late));
  std::lock_guard<std::mutex> lock(mutex);
  if (!late)
    progress = answers[other];
  return Status::success();
}

void TcpFabric::fail(const std::string &why) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (ended.load() || !own.empty())
      return;
    own = Frame{FrameKind::Failed, why}.text();
  }
  if (socket.isOpen())
    (void)tell(FrameKind::Failed, why.substr(0, kMostText));
  // The hub tells everyone, this rank too: then it has it.
  bool late = false;
  if (thread.joinable())
    (void)wait([] { return false; }, /*withDeadline=*/true, late,
               kGraceSeconds);
}

Status TcpFabric::deliver(const std::string &result) {
  if (rank != 0)
    APRT_TRY(tell(FrameKind::Result, result));
  bool late = false;
  return wait([this] { return over; }, /*withDeadline=*/false, late);
}

std::string TcpFabric::failure(bool &tellsIt) {
  std::lock_guard<std::mutex> lock(mutex);
  tellsIt = rank == 0 || hubLost || text == own;
  return text;
}

} // namespace autopar::runtime
