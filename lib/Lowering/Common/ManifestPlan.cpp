//===- ManifestPlan.cpp - The plan of a program, and what it is made of ---===//

#include "ManifestTables.h"
#include "autopar/Cluster/Cluster.h"
#include "autopar/Cost/KernelWork.h"
#include "autopar/Cost/PeakFlops.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Lowering/ProgramHashes.h"
#include <map>

using namespace mlir;
namespace json = llvm::json;

namespace autopar {

/// Adds the plan as it was chosen, and its predictions.
static void addPrediction(const HostProgram &program, json::Object &root) {
  root["predicted"] =
      json::Object{{"step_seconds", 0.0}, {"peak_memory_bytes", json::Array{}}};
  if (auto plan =
          program.module->getAttrOfType<DictionaryAttr>(AutoparDialect::kPlan))
    root["plan"] = toJSON(plan);
  if (auto *plan = root.getObject("plan")) {
    json::Object &predicted = *root.getObject("predicted");
    if (auto seconds = plan->getNumber("predicted_step_seconds"))
      predicted["step_seconds"] = *seconds;
    const json::Array *bytes = plan->getArray("predicted_stage_memory_bytes");
    if (bytes && static_cast<int64_t>(bytes->size()) == program.stages &&
        llvm::all_of(*bytes, [](const json::Value &each) {
          return each.getAsInteger().has_value();
        }))
      predicted["peak_memory_bytes"] = json::Array(*bytes);
  }
}

/// Returns the floating-point operations of a step, summed over one device of
/// each stage, by the peak that limits them.
static std::map<FlopsKind, double> flopsOfStep(const HostProgram &program) {
  std::map<FlopsKind, double> flops;
  for (int64_t stage = 0; stage < program.stages; ++stage)
    findStageFunction(program.module, "step", stage).walk([&](KernelOp kernel) {
      KernelWork work = workOf(kernel, allowsTf32(program.module));
      flops[work.kind] += work.flops * double(program.mesh.timeCount());
    });
  return flops;
}

/// Returns the slowest device of the cluster that the program was planned for,
/// or nullopt if there is no such cluster.
static std::optional<DeviceType> plannedDevice(const json::Object &root) {
  const json::Object *plan = root.getObject("plan");
  const json::Value *given = plan ? plan->get("cluster") : nullptr;
  if (!given)
    return std::nullopt;
  auto cluster = clusterFromJSON(*given, "the plan's cluster");
  if (cluster)
    return cluster->slowest();
  llvm::consumeError(cluster.takeError());
  return std::nullopt;
}

/// Adds the floating-point operations of a device in a step, and its peak rate.
static void addWork(const HostProgram &program, json::Object &root) {
  double all = 0, most = 0;
  FlopsKind kind = FlopsKind::Fp32;
  for (auto [each, flops] : flopsOfStep(program)) {
    all += flops;
    if (flops > most) {
      most = flops;
      kind = each;
    }
  }
  json::Object work{{"flops", all / double(program.stages)}};
  if (std::optional<DeviceType> device = plannedDevice(root))
    if (double peak = peakFlops(*device, kind); peak > 0)
      work["peak_flops"] = peak;
  root["work"] = std::move(work);
}

void addPlan(const HostProgram &program, json::Object &root) {
  addPrediction(program, root);
  addWork(program, root);
  if (Attribute hashes = program.module->getAttr(kHashes))
    root["hashes"] = toJSON(hashes);
}

} // namespace autopar
