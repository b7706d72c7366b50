//===- RankParts.cpp - Device and transport of a rank ---------------------===//

#include "RankParts.h"

#include "../cpu/CpuDevice.h"
#include "../cuda/CudaDevice.h"
#include "../cuda/NcclTransport.h"
#include "../emulated/EmulatedCublasLt.h"
#include "../emulated/EmulatedCudnn.h"
#include "../emulated/EmulatedDevice.h"
#include "../emulated/EmulatedNccl.h"
#include "../transport/SharedMemoryTransport.h"
#include "../transport/SharedRankFabric.h"

#include <cstdlib>

namespace autopar::runtime {

static Status makeCpuParts(World &world, RankCommon *common, aprt_rank &rank) {
  const Manifest &manifest = world.program.manifest;
  CpuOptions options;
  options.threads = world.threads;
  options.spin = world.spin;
  options.alone = world.worldSize() == 1;
  options.oneDnn = manifest.uses("onednn");
  options.packedSlots = manifest.packedSlots[rank.stage()];
  options.sharesWeights = common != nullptr;
  options.parts = common ? common->cpu.lock() : nullptr;
  std::unique_ptr<CpuDevice> device;
  APRT_TRY(CpuDevice::create(options, rank.memory, device));
  if (common)
    common->cpu = device->commonParts();
  Patience patience = world.spin ? Patience::ownCore() : Patience::sharedCore();
  rank.transport = std::make_unique<SharedMemoryTransport>(
      world.fabric, manifest, rank.worldRank, device->threads(),
      world.rankOptions.timeoutSeconds, patience);
  rank.memory.communication.add(world.fabric.bytesOf(manifest, rank.worldRank));
  rank.device = std::move(device);
  return Status::success();
}

/// Loads the driver and the libraries that the program uses.
static Status loadTables(const Manifest &manifest, CudaTables &tables) {
  if (manifest.target == Target::Emulated) {
    emulated::bindEmulated(tables.driver);
    emulated::bindEmulated(tables.cublasLt);
    emulated::bindEmulated(tables.cudnn);
    return Status::success();
  }
  APRT_TRY(tables.driver.load());
  int version = 0;
  APRT_CUDA(tables.driver, cuDriverGetVersion, &version);
  if (manifest.uses("cublaslt"))
    APRT_TRY(tables.cublasLt.load(version));
  if (manifest.uses("cudnn"))
    APRT_TRY(tables.cudnn.load(version));
  return Status::success();
}

static Status loadNccl(const Manifest &manifest, const DriverApi &driver,
                       NcclApi &nccl) {
  if (!manifest.uses("nccl"))
    return Status::success();
  int version = 0;
  APRT_CUDA(driver, cuDriverGetVersion, &version);
  if (manifest.target == Target::Cuda)
    return nccl.load(version);
  return emulated::bindEmulated(nccl, version);
}

static Status makeNcclTransport(World &world, aprt_rank &rank,
                                CudaContext &context) {
  Patience patience = world.spin ? Patience::ownCore() : Patience::sharedCore();
  double timeout = world.rankOptions.timeoutSeconds;
  std::shared_ptr<RankFabric> fabric = world.launched();
  if (!fabric)
    fabric = std::make_shared<SharedRankFabric>(world.fabric, rank.worldRank,
                                                timeout, patience);
  NcclSetup setup{{}, context, rank.worldRank, rank.record, fabric, timeout};
  APRT_TRY(loadNccl(world.program.manifest, context.driver, setup.nccl));
  return NcclTransport::create(std::move(setup), rank.transport);
}

static Status makeGpuParts(World &world, aprt_rank &rank) {
  const Manifest &manifest = world.program.manifest;
  CudaTables tables;
  APRT_TRY(loadTables(manifest, tables));
  CudaOptions options;
  options.device =
      world.place.isAlone() ? rank.worldRank : world.place.localRank;
  options.ownDevice = !world.place.isAlone();
  options.spin = world.spin;
  options.graphs = world.rankOptions.graphs;
  options.tf32 = manifest.tf32;
  // The emulated device makes plans at once: they are kept on demand.
  if (manifest.uses("cudnn") &&
      (manifest.target == Target::Cuda || std::getenv("AUTOPAR_CACHE")))
    options.planCache = planCacheFolder();
  std::unique_ptr<CudaDevice> device;
  APRT_TRY(
      CudaDevice::create(std::move(tables), manifest, rank.stage(),
                         {world.program.deviceCode, world.program.devicePtx},
                         options, rank.memory, device));
  CudaContext &place = device->place();
  std::snprintf(rank.record.device, sizeof(rank.record.device), "%s",
                place.description().c_str());
  std::snprintf(rank.record.imageRefusal, sizeof(rank.record.imageRefusal),
                "%s", device->imageRefusal().c_str());
  rank.device = std::move(device);
  return makeNcclTransport(world, rank, place);
}

Status makeRank(World &world, int worldRank, RankCommon *common,
                std::unique_ptr<aprt_rank> &rank) {
  const Manifest &manifest = world.program.manifest;
  rank =
      std::make_unique<aprt_rank>(manifest, worldRank, world.record(worldRank));
  if (common) {
    rank->common = &common->memory;
    rank->numbers = common->numbers[world.entry()];
  }
  switch (manifest.target) {
  case Target::Cpu:
    return makeCpuParts(world, common, *rank);
  case Target::Cuda:
  case Target::Emulated:
    return makeGpuParts(world, *rank);
  }
  return Status::error("unknown target");
}

} // namespace autopar::runtime
