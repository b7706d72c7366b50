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
  rank.gemm =
      std::make_unique<Gemm>(rank.library, rank.pool, rank.memory, slots);
  rank.conv =
      std::make_unique<Conv>(rank.library, rank.pool, rank.memory, slots);
  APRT_TRY(rank.arena.allocate(manifest.arenaBytes[rank.stage()], "the arena",
                               &rank.memory));
  for (const PersistentEntry &entry : rank.entries()) {
    rank.persistent.emplace_back();
    APRT_TRY(rank.persistent.back().allocate(entry.bytes, entry.name.c_str(),
                                             &rank.memory));
  }
  return Status::success();
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
