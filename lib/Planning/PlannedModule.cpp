//===- PlannedModule.cpp - What a module says of its plan -----------------===//

#include "autopar/Planning/PlannedModule.h"
#include "autopar/Dialect/JsonAttributes.h"

using namespace mlir;

namespace autopar {

ArrayAttr PlannedModule::axes(Builder &builder,
                              ArrayRef<unsigned> subAxes) const {
  SmallVector<Attribute> names;
  for (const std::string &name : mesh.spell(subAxes))
    names.push_back(builder.getStringAttr(name));
  return builder.getArrayAttr(names);
}

static FailureOr<MeshOp> onlyMesh(ModuleOp module) {
  auto meshes = module.getOps<MeshOp>();
  if (meshes.empty())
    return module.emitError("there is no autopar.mesh: plan the module first");
  MeshOp first = *meshes.begin();
  if (std::next(meshes.begin()) == meshes.end())
    return first;
  MeshOp second = *std::next(meshes.begin());
  auto error = second.emitError("a planned module has one mesh: remove this");
  error.attachNote(first.getLoc()) << "the first mesh is here";
  return error;
}

namespace {

/// Reads the fields of `autopar.plan`.
class PlanReader {
public:
  PlanReader(ModuleOp module, DictionaryAttr fields, PlannedModule &planned)
      : module(module), fields(fields), planned(planned) {}
  LogicalResult read();

private:
  InFlightDiagnostic fail(const Twine &why) {
    return module.emitError() << AutoparDialect::kPlan << ": " << why;
  }
  LogicalResult readPipeline();
  LogicalResult readCluster();
  LogicalResult readPredictions();

  ModuleOp module;
  DictionaryAttr fields;
  PlannedModule &planned;
};

} // namespace

LogicalResult PlanReader::readPipeline() {
  Pipeline &pipeline = planned.pipeline;
  auto stages = fields.getAs<IntegerAttr>("stages");
  if (!stages || stages.getInt() != pipeline.stages)
    return fail("its 'stages' are not " + Twine(pipeline.stages) + ", as " +
                AutoparDialect::kStages + " says");
  Attribute name = fields.get("objective");
  if (!name)
    return success();
  auto text = dyn_cast<StringAttr>(name);
  if (!text)
    return fail("its 'objective' is no string");
  llvm::Expected<Objective> objective = parseObjective(text);
  if (!objective)
    return fail(llvm::toString(objective.takeError()));
  pipeline.objective = *objective;
  return success();
}

LogicalResult PlanReader::readCluster() {
  Attribute given = fields.get("cluster");
  if (!given)
    return fail("it has no 'cluster'");
  llvm::Expected<Cluster> cluster =
      clusterFromJSON(toJSON(given), AutoparDialect::kPlan);
  if (!cluster)
    return module.emitError() << llvm::toString(cluster.takeError());
  planned.cluster = std::move(*cluster);
  int64_t devices = planned.mesh.deviceCount() * planned.pipeline.stages;
  if (planned.cluster.deviceCount() == devices)
    return success();
  return fail("its cluster has " + Twine(planned.cluster.deviceCount()) +
              " devices, but " + Twine(planned.pipeline.stages) +
              " stages of a mesh of " + Twine(planned.mesh.deviceCount()) +
              " need " + Twine(devices));
}

LogicalResult PlanReader::readPredictions() {
  if (Attribute seconds = fields.get("predicted_step_seconds")) {
    std::optional<double> number = toJSON(seconds).getAsNumber();
    if (!number)
      return fail("its 'predicted_step_seconds' are no number");
    planned.stepSeconds = *number;
  }
  auto bytes = fields.getAs<ArrayAttr>("predicted_stage_memory_bytes");
  if (!bytes)
    return success();
  for (Attribute each : bytes)
    if (auto integer = dyn_cast<IntegerAttr>(each))
      planned.stageBytes.push_back(integer.getInt());
  if (int64_t(bytes.size()) != planned.pipeline.stages ||
      planned.stageBytes.size() != bytes.size())
    return fail("its 'predicted_stage_memory_bytes' are not one integer for "
                "each of its stages");
  return success();
}

LogicalResult PlanReader::read() {
  planned.fields = fields;
  return failure(failed(readPipeline()) || failed(readCluster()) ||
                 failed(readPredictions()));
}

FailureOr<PlannedModule> PlannedModule::read(ModuleOp module) {
  FailureOr<MeshOp> mesh = onlyMesh(module);
  if (failed(mesh))
    return failure();
  PlannedModule planned;
  planned.mesh = mesh->getMesh().toMesh();
  planned.symbol = FlatSymbolRefAttr::get(mesh->getSymNameAttr());
  planned.pipeline.microBatches = planned.mesh.timeCount();
  if (auto stages = module->getAttrOfType<IntegerAttr>(AutoparDialect::kStages))
    planned.pipeline.stages = stages.getInt();
  if (planned.pipeline.stages < 1)
    return module.emitError()
           << AutoparDialect::kStages << " must be 1 or more";
  if (auto fields =
          module->getAttrOfType<DictionaryAttr>(AutoparDialect::kPlan)) {
    if (failed(PlanReader(module, fields, planned).read()))
      return failure();
    return planned;
  }
  llvm::Expected<Cluster> ranks =
      clusterOfRanks(planned.mesh.deviceCount() * planned.pipeline.stages);
  if (!ranks)
    return module.emitError() << llvm::toString(ranks.takeError());
  planned.cluster = std::move(*ranks);
  return planned;
}

} // namespace autopar
