//===- ManifestPlan.cpp - The plan of a program, and what it is made of ---===//

#include "ManifestTables.h"
#include "autopar/Cost/KernelWork.h"
#include "autopar/Cost/PeakFlops.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Dialect/Precision.h"
#include "autopar/Lowering/Attributes.h"
#include "autopar/Planning/PlannedModule.h"
#include <map>

using namespace mlir;
namespace json = llvm::json;

namespace autopar {

/// Adds the plan as it was chosen, and its predictions.
static void addPrediction(const PlannedModule &planned, json::Object &root) {
  if (planned.fields)
    root["plan"] = toJSON(planned.fields);
  root["predicted"] =
      json::Object{{"step_seconds", planned.stepSeconds},
                   {"peak_memory_bytes", json::Array(planned.stageBytes)}};
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

/// Adds the floating-point operations of a device in a step, and the peak rate
/// of the slowest device of the cluster that the program was planned for.
static void addWork(const HostProgram &program, const PlannedModule &planned,
                    json::Object &root) {
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
  if (planned.fields)
    if (double peak = peakFlops(planned.cluster.slowest(), kind); peak > 0)
      work["peak_flops"] = peak;
  root["work"] = std::move(work);
}

LogicalResult addPlan(const HostProgram &program, json::Object &root) {
  FailureOr<PlannedModule> planned = PlannedModule::read(program.module);
  if (failed(planned))
    return failure();
  addPrediction(*planned, root);
  addWork(program, *planned, root);
  if (Attribute hashes = program.module->getAttr(AutoparDialect::kHashes))
    root["hashes"] = toJSON(hashes);
  return success();
}

} // namespace autopar
