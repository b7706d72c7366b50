//===- RankContext.cpp - One rank's state ---------------------------------===//

#include "RankContext.h"

#include <cstdio>

using namespace autopar::runtime;

Status aprt_rank::create(const Manifest &manifest, const RankOptions &options,
                         RankRecord &record,
                         std::unique_ptr<aprt_rank> &result) {
  result.reset(new aprt_rank(manifest, options, record));
  aprt_rank &rank = *result;
  if (manifest.uses("onednn"))
    APRT_TRY(rank.library.load());
  rank.library.useCallingThreads(rank.pool);
  size_t slots = size_t(manifest.packedSlots[rank.stage()]);
  rank.gemm = std::make_unique<Gemm>(rank.library, rank.pool, rank.workspace,
                                     rank.packedMemory, slots);
  rank.conv = std::make_unique<Conv>(rank.library, rank.pool, rank.workspace,
                                     rank.packedMemory, slots);
  for (const PersistentEntry &entry : rank.entries()) {
    rank.persistent.emplace_back();
    APRT_TRY(rank.persistent.back().reserve(entry.bytes, entry.name.c_str()));
  }
  return Status::success();
}

Status aprt_rank::checkIndex(int index) const {
  if (index >= 0 && size_t(index) < persistent.size() &&
      persistent[index].data())
    return Status::success();
  return Status::error("persistent tensor " + std::to_string(index) +
                       " does not exist or was released");
}

Status aprt_rank::load(int index) {
  APRT_TRY(checkIndex(index));
  Buffer &tensor = persistent[index];
  if (tensor.isHeld())
    return Status::success();
  tensor.hold(&persistentMemory);
  const PersistentEntry &entry = entries()[index];
  if (!entry.isParameter)
    return Status::success();
  return weights.read(entry, manifest.coordinates(worldRank, 0), tensor.data());
}

Status aprt_rank::release(int index) {
  APRT_TRY(checkIndex(index));
  persistent[index].release();
  return Status::success();
}

Status aprt_rank::loadOthers() {
  for (size_t i = 0; i < persistent.size(); ++i)
    if (entries()[i].isParameter && persistent[i].data())
      APRT_TRY(load(int(i)));
  return Status::success();
}

Status aprt_rank::makeArena(int64_t bytes) {
  arena.release();
  return arena.allocate(bytes, "the arena", &arenaMemory);
}

void aprt_rank::fail(int op, const std::string &cause) {
  if (record.failed.load())
    return;
  if (op < 0)
    std::snprintf(record.message, sizeof(record.message), "rank %d: %s",
                  worldRank, cause.c_str());
  else
    std::snprintf(record.message, sizeof(record.message),
                  "rank %d: op '%s' (%s): %s", worldRank, manifest.opName(op),
                  manifest.opKind(op), cause.c_str());
  record.failed.store(1);
}

void aprt_rank::addEvent(int op, double start, double seconds) {
  if (record.traceEvents < traceCapacity)
    trace[record.traceEvents++] = {op, start, seconds};
  else
    ++record.traceDropped;
}

void aprt_rank::resetStatistics() {
  communicationSeconds = 0;
  statisticsAtReset = transport->statistics();
}
