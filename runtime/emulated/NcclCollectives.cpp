//===- NcclCollectives.cpp - Collectives and messages, emulated -----------===//

#include "../transport/Reduce.h"
#include "NcclOperation.h"

#include <cstring>

namespace autopar::runtime::emulated {

static aprt_dtype dtypeOf(int32_t type) {
  static const aprt_dtype dtypes[] = {APRT_I8,  APRT_U8,  APRT_I32, APRT_U32,
                                      APRT_I64, APRT_U64, APRT_F16, APRT_F32,
                                      APRT_F64, APRT_BF16};
  return dtypes[type];
}

static aprt_reduce reductionOf(int32_t reduction) {
  static const aprt_reduce kinds[] = {APRT_SUM, APRT_PROD, APRT_MAX, APRT_MIN};
  return kinds[reduction];
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

namespace {
class Collective : public NcclOperation {
public:
  Collective(ncclComm &comm, const Call &call)
      : NcclOperation(comm), mine(call) {}

  std::string name() const override { return describe(mine.record); }
  void addRanges(std::vector<Range> &ranges) const override {
    if (gives())
      ranges.push_back({mine.in, size_t(mine.inBytes), accessRead, "sendbuff"});
    if (takes())
      ranges.push_back(
          {mine.out, size_t(mine.outBytes), accessWrite, "recvbuff"});
  }

protected:
  void post() override;
  bool advance(std::vector<int> &waitsFor) override;
  const CallRecord &call() const override { return mine.record; }

private:
  bool isRoot() const { return mine.record.root == comm.rank; }
  bool gives() const {
    return mine.record.kind != CallKind::broadcast || isRoot();
  }
  bool takes() const {
    return mine.record.kind != CallKind::reduce || isRoot();
  }
  bool matches(int member);
  void finish();
  void reduce(int64_t offset);

  Call mine;
};
} // namespace

void Collective::post() {
  Seat &seat = comm.region.seat(comm.rank);
  if (gives())
    std::memcpy(comm.region.data(comm.rank), memory(mine.in),
                size_t(mine.inBytes));
  seat.call = mine.record;
  seat.posted.store(++comm.sequence);
}

bool Collective::matches(int member) {
  const CallRecord &theirs = comm.region.seat(member).call;
  const CallRecord &ours = mine.record;
  if (theirs.kind == ours.kind && theirs.type == ours.type &&
      theirs.reduction == ours.reduction && theirs.root == ours.root &&
      theirs.count == ours.count)
    return true;
  problem =
      "collective number " + std::to_string(comm.sequence) +
      " of a communicator: rank " + std::to_string(comm.worldRank(comm.rank)) +
      " calls " + describe(ours) + ", rank " +
      std::to_string(comm.worldRank(member)) + " calls " + describe(theirs);
  return false;
}

void Collective::reduce(int64_t offset) {
  std::vector<const void *> inputs;
  for (int m = 0; m < comm.size; ++m)
    inputs.push_back(comm.region.data(m) + offset);
  reduceMembers(reductionOf(mine.record.reduction), dtypeOf(mine.record.type),
                mine.outBytes / typeBytes(mine.record.type), inputs.data(),
                comm.size, memory(mine.out));
}

void Collective::finish() {
  char *out = takes() ? memory(mine.out) : nullptr;
  switch (mine.record.kind) {
  case CallKind::allGather:
    for (int m = 0; m < comm.size; ++m)
      std::memcpy(out + m * mine.inBytes, comm.region.data(m),
                  size_t(mine.inBytes));
    break;
  case CallKind::broadcast:
    std::memcpy(out, comm.region.data(mine.record.root), size_t(mine.outBytes));
    break;
  case CallKind::reduceScatter:
    reduce(comm.rank * mine.outBytes);
    break;
  case CallKind::allReduce:
    reduce(0);
    break;
  case CallKind::reduce:
    if (takes())
      reduce(0);
    break;
  case CallKind::send:
  case CallKind::receive:
    break; // Messages
  }
}

bool Collective::advance(std::vector<int> &waitsFor) {
  for (int m = 0; m < comm.size; ++m) {
    if (int32_t(comm.region.seat(m).posted.load() - comm.sequence) < 0)
      waitsFor.push_back(m);
    else if (!matches(m))
      return false;
  }
  if (!waitsFor.empty())
    return false;
  finish();
  comm.region.seat(comm.rank).consumed.store(comm.sequence);
  return true;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

namespace {
class Messages : public NcclOperation {
public:
  Messages(ncclComm &comm, std::vector<Call> calls)
      : NcclOperation(comm), calls(std::move(calls)) {}

  std::string name() const override {
    std::string text = describe(calls.front().record);
    if (calls.size() > 1)
      text += " and " + std::to_string(calls.size() - 1) + " more messages";
    return text;
  }
  void addRanges(std::vector<Range> &ranges) const override {
    for (const Call &call : calls)
      if (call.record.kind == CallKind::send)
        ranges.push_back(
            {call.in, size_t(call.inBytes), accessRead, "sendbuff"});
      else
        ranges.push_back(
            {call.out, size_t(call.outBytes), accessWrite, "recvbuff"});
  }

protected:
  void post() override;
  bool advance(std::vector<int> &waitsFor) override;
  const CallRecord &call() const override { return calls[shown].record; }

private:
  enum class Step { waiting, posted, done };
  bool send(size_t index);
  bool receive(size_t index);
  Mail &mailOf(const Call &call) const {
    int peer = call.record.root;
    return call.record.kind == CallKind::send
               ? comm.region.mail(comm.rank, peer)
               : comm.region.mail(peer, comm.rank);
  }

  std::vector<Call> calls;
  std::vector<Step> steps;
  std::vector<int64_t> offsets; // of sends, in this member's data
  size_t shown = 0;             // the first that is not done
};
} // namespace

void Messages::post() {
  steps.assign(calls.size(), Step::waiting);
  offsets.assign(calls.size(), 0);
  shown = 0;
  int64_t used = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].record.kind != CallKind::send)
      continue;
    offsets[i] = used;
    std::memcpy(comm.region.data(comm.rank) + used, memory(calls[i].in),
                size_t(calls[i].inBytes));
    used += (calls[i].inBytes + 63) / 64 * 64;
  }
}

/// True when the peer has taken the message.
bool Messages::send(size_t index) {
  Mail &mail = mailOf(calls[index]);
  bool taken = mail.taken.load() == mail.posted.load();
  if (steps[index] == Step::posted)
    return taken;
  if (!taken)
    return false;
  mail.call = calls[index].record;
  mail.offset = offsets[index];
  steps[index] = Step::posted;
  mail.posted.fetch_add(1);
  return false;
}

bool Messages::receive(size_t index) {
  Mail &mail = mailOf(calls[index]);
  if (mail.taken.load() == mail.posted.load())
    return false;
  const CallRecord &mine = calls[index].record;
  if (mail.call.count * typeBytes(mail.call.type) != calls[index].outBytes ||
      mail.call.type != mine.type) {
    problem = "rank " + std::to_string(comm.worldRank(mine.root)) +
              " sends what rank " + std::to_string(comm.worldRank(comm.rank)) +
              " does not expect: " + describe(mail.call) + ", but " +
              describe(mine);
    return false;
  }
  std::memcpy(memory(calls[index].out),
              comm.region.data(mine.root) + mail.offset,
              size_t(calls[index].outBytes));
  mail.taken.fetch_add(1);
  return true;
}

/// Messages of one pair and direction go one after the other.
bool Messages::advance(std::vector<int> &waitsFor) {
  std::vector<bool> blocked(2 * size_t(comm.size));
  bool all = true;
  for (size_t i = 0; i < calls.size() && problem.empty(); ++i) {
    bool isSend = calls[i].record.kind == CallKind::send;
    size_t lane = 2 * size_t(calls[i].record.root) + isSend;
    if (steps[i] == Step::done || blocked[lane])
      continue;
    if (isSend ? send(i) : receive(i)) {
      steps[i] = Step::done;
      continue;
    }
    if (all)
      shown = i;
    all = false;
    blocked[lane] = true;
    waitsFor.push_back(calls[i].record.root);
  }
  return all && problem.empty();
}

//===----------------------------------------------------------------------===//

std::unique_ptr<NcclOperation> makeCollective(ncclComm &comm,
                                              const Call &call) {
  return std::make_unique<Collective>(comm, call);
}

std::unique_ptr<NcclOperation> makeMessages(ncclComm &comm,
                                            std::vector<Call> calls) {
  return std::make_unique<Messages>(comm, std::move(calls));
}

} // namespace autopar::runtime::emulated
