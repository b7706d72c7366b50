//===- RankParts.cpp - Device and transport of a rank ---------------------===//

#include "RankParts.h"

#include "../cpu/CpuDevice.h"
#include "../transport/SharedMemoryTransport.h"

namespace autopar::runtime {

static Status makeCpuParts(Run &run, aprt_rank &rank) {
  const Manifest &manifest = run.program.manifest;
  CpuOptions options;
  options.threads = run.threads;
  options.spin = run.spin;
  options.oneDnn = manifest.uses("onednn");
  options.packedSlots = manifest.packedSlots[rank.stage()];
  std::unique_ptr<CpuDevice> device;
  APRT_TRY(CpuDevice::create(options, rank.memory, device));
  Patience patience = run.spin ? Patience::ownCore() : Patience::sharedCore();
  rank.transport = std::make_unique<SharedMemoryTransport>(
      run.fabric, manifest, rank.worldRank, device->threads(),
      run.options.timeoutSeconds, patience);
  rank.memory.communication.add(run.fabric.bytesOf(manifest, rank.worldRank));
  rank.device = std::move(device);
  return Status::success();
}

Status makeRank(Run &run, int worldRank, std::unique_ptr<aprt_rank> &rank) {
  const Manifest &manifest = run.program.manifest;
  rank =
      std::make_unique<aprt_rank>(manifest, worldRank, run.record(worldRank));
  switch (manifest.target) {
  case Target::Cpu:
    return makeCpuParts(run, *rank);
  case Target::Cuda:
  case Target::Emulated:
    return Status::error("programs for GPUs cannot be run yet");
  }
  return Status::error("unknown target");
}

} // namespace autopar::runtime
