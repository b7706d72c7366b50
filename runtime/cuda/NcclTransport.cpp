//===- NcclTransport.cpp - Ranks that are GPUs: life, waits, messages -----===//

#include "NcclTransport.h"

#include "../core/Futex.h"
#include "NcclTransportCalls.h"

#include <algorithm>

namespace autopar::runtime {

/// How often a waiting host asks NCCL and the other ranks.
static constexpr double kLookSeconds = 0.002;
/// Rounds of collectives through staging are no larger.
static constexpr int64_t kMostStaging = int64_t(32) << 20;

NcclTransport::NcclTransport(NcclSetup setup)
    : nccl(setup.nccl), context(setup.context), manifest(context.manifest),
      rank(setup.rank), record(setup.record), fabric(std::move(setup.fabric)),
      timeoutSeconds(setup.timeoutSeconds),
      clique(nccl, manifest, rank, *fabric, timeoutSeconds), watch(context) {}

Status NcclTransport::create(NcclSetup setup,
                             std::unique_ptr<Transport> &result) {
  std::unique_ptr<NcclTransport> made(new NcclTransport(std::move(setup)));
  APRT_TRY(made->start());
  result = std::move(made);
  return Status::success();
}

/// After a failure the abort lets the device's work end. Other ranks have been
/// told before, and do not take it for the cause.
NcclTransport::~NcclTransport() {
  leaveContext();
  clique.abort();
  // What is left of the device's memory goes with its context.
}

Status NcclTransport::start() {
  APRT_TRY(watch.create());
  APRT_TRY(clique.create());
  APRT_TRY(allocateStaging());
  context.setWaitPoll([this](double seconds) { return poll(seconds); });
  context.setAgreement([this](bool mine, bool &all) {
    return fabric->agree(rank, manifest.worldSize(), mine, all);
  });
  clique.setPoll([this](double seconds) { return pollCall(seconds); });
  return Status::success();
}

void NcclTransport::leaveContext() {
  context.setWaitPoll(nullptr);
  context.setAgreement(nullptr);
  clique.setPoll(nullptr);
}

Status NcclTransport::allocateStaging() {
  int64_t most = 0;
  for (size_t i = 0; i < manifest.communicators.size(); ++i)
    if (clique.group(int(i)).members() > 1)
      most = std::max(most, manifest.communicators[i].bytes);
  for (const OpEntry &op : manifest.ops) {
    if (op.kind == "all_to_all")
      stagingBytes = std::max(stagingBytes, most);
    if (op.kind == "all_gather" || op.kind == "reduce_scatter" ||
        op.kind == "halo")
      stagingBytes = std::max(stagingBytes, std::min(most, kMostStaging));
  }
  if (stagingBytes == 0)
    return Status::success();
  for (char **staging : {&sendStaging, &receiveStaging}) {
    void *made = nullptr;
    APRT_TRY(context.allocate(stagingBytes, "the staging of collectives",
                              context.memory.communication, made));
    *staging = static_cast<char *>(made);
    clique.use(made, stagingBytes);
  }
  return Status::success();
}

int64_t NcclTransport::memberIndex(int comm) const {
  if (comm < 0 || size_t(comm) >= manifest.communicators.size())
    return -1;
  return clique.group(comm).index;
}

Status NcclTransport::find(int comm, const NcclGroup *&group) const {
  if (memberIndex(comm) < 0)
    return Status::error("this rank is in no group of communicator " +
                         std::to_string(comm));
  group = &clique.group(comm);
  if (group->members() > 1 && !group->comm)
    return Status::error("the program says that communicator " +
                         std::to_string(comm) + " moves nothing");
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Status NcclTransport::findPair(int channel, int64_t bytes, bool sends,
                               const NcclGroup *&pair) const {
  bool takesPart = channel >= 0 && size_t(channel) < manifest.channels.size();
  if (takesPart) {
    const Channel &ends = manifest.channels[size_t(channel)];
    int stage = sends ? ends.fromStage : ends.toStage;
    pair = &clique.pair(channel);
    takesPart =
        pair->index >= 0 &&
        pair->ranks[size_t(pair->index)] / manifest.devicesPerStage == stage;
  }
  if (!takesPart)
    return Status::error(std::string("this rank does not ") +
                         (sends ? "send" : "receive") + " on channel " +
                         std::to_string(channel));
  int64_t most = manifest.channels[size_t(channel)].bytes;
  if (bytes < 0 || bytes > most)
    return Status::error("a message of " + std::to_string(bytes) +
                         " bytes does not fit the channel's " +
                         std::to_string(most));
  return Status::success();
}

Status NcclTransport::send(int channel, const void *data, int64_t bytes) {
  const NcclGroup *pair = nullptr;
  APRT_TRY(findPair(channel, bytes, /*sends=*/true, pair));
  if (bytes == 0)
    return Status::success();
  return communicate(*pair, /*message=*/true, bytes, [&] {
    return check(nccl.ncclSend(data, size_t(bytes), ncclUint8, 1 - pair->index,
                               pair->comm, context.currentStream()),
                 "ncclSend", *pair);
  });
}

Status NcclTransport::receive(int channel, void *data, int64_t bytes) {
  const NcclGroup *pair = nullptr;
  APRT_TRY(findPair(channel, bytes, /*sends=*/false, pair));
  if (bytes == 0)
    return Status::success();
  return communicate(*pair, /*message=*/true, 0, [&] {
    return check(nccl.ncclRecv(data, size_t(bytes), ncclUint8, 1 - pair->index,
                               pair->comm, context.currentStream()),
                 "ncclRecv", *pair);
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status NcclTransport::barrier(bool withDeadline) {
  return fabric->barrier(withDeadline, counters.waitSeconds);
}

Status NcclTransport::beginStep() { return watch.beginStep(); }

Status NcclTransport::useMemory(void *memory, int64_t bytes) {
  clique.use(memory, bytes);
  return Status::success();
}

Status NcclTransport::close() {
  leaveContext();
  return clique.close();
}

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

Status NcclTransport::stuck(const CommunicationWatch::Operation &operation,
                            int stream, const RankProgress &mine) {
  std::vector<int> missing;
  for (int other : operation.ranks) {
    if (other == rank)
      continue;
    RankProgress theirs;
    APRT_TRY(fabric->progressOf(other, theirs));
    auto at = size_t(stream);
    bool there =
        theirs.step > mine.step ||
        (theirs.step == mine.step && theirs.begun[at] >= mine.begun[at]);
    if (operation.message || !there)
      missing.push_back(other);
  }
  std::string detail;
  if (!missing.empty())
    detail = missingRanks(missing, timeoutSeconds);
  else
    detail = "all ranks began it, but it did not end in time (--timeout sets "
             "the limit)";
  return Status::error(detail);
}

/// What stands against waiting on.
Status NcclTransport::judge(const RankProgress &progress) {
  if (fabric->aborted())
    return abortedStatus();
  int stream = 0;
  const CommunicationWatch::Operation *now = watch.current(progress, stream);
  Status status = clique.asyncError();
  if (status.ok() && watch.isStuck(progress, timeoutSeconds) && deadlines &&
      now)
    status = stuck(*now, stream, progress);
  if (status.ok() || !now)
    return status;
  return Status::error(std::string("op '") + manifest.opName(now->op) + "' (" +
                       manifest.opKind(now->op) + "): " + status.message());
}

/// The host is in a call of the current op, before its work is on the stream.
Status NcclTransport::pollCall(double waitedSeconds) {
  if (fabric->aborted())
    return abortedStatus();
  RankProgress progress = watch.progress();
  fabric->publish(progress);
  if (!deadlines || waitedSeconds < timeoutSeconds)
    return Status::success();
  int stream = 0;
  const CommunicationWatch::Operation *now = watch.newest(progress, stream);
  return now ? stuck(*now, stream, progress)
             : Status::error("it did not end in time (--timeout sets the "
                             "limit)");
}

Status NcclTransport::poll(double waitedSeconds) {
  if (waitedSeconds == 0) {
    watch.restart();
    nextLook = 0;
  }
  double now = monotonicSeconds();
  if (now < nextLook)
    return Status::success();
  nextLook = now + kLookSeconds;
  RankProgress progress = watch.progress();
  int stream = 0;
  if (const CommunicationWatch::Operation *running =
          watch.current(progress, stream))
    record.currentOp.store(running->op, std::memory_order_relaxed);
  fabric->publish(progress);
  return judge(progress);
}

} // namespace autopar::runtime
