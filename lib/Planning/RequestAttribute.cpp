//===- RequestAttribute.cpp - What is asked of a plan ---------------------===//

#include "autopar/Planning/RequestAttribute.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

mlir::DictionaryAttr toAttribute(const PlanRequest &request,
                                 mlir::MLIRContext *context) {
  json::Object object;
  if (!request.cluster.nodes.empty())
    object["cluster"] = toJSON(request.cluster);
  object["strategy"] = stringifyStrategies(request.strategies);
  if (!request.mesh.empty())
    object["mesh"] =
        join(map_range(request.mesh,
                       [](const MeshAxis &axis) {
                         return axis.name + "=" + std::to_string(axis.size);
                       }),
             ",");
  if (request.microBatches != 0)
    object["micro_batches"] = request.microBatches;
  if (request.memoryLimit != 0)
    object["memory_limit"] = request.memoryLimit;
  if (!request.constraints.empty())
    object["constraints"] = json::Object{{"file", request.constraints.file},
                                         {"text", request.constraints.text}};
  return cast<mlir::DictionaryAttr>(
      attributeFromJSON(context, std::move(object)));
}

static Error readConstraints(const json::Object &given, PlanRequest &request) {
  const json::Value *text = given.get("text");
  if (!text)
    return createStringError("autopar.request: constraints without text");
  Expected<Constraints> constraints =
      constraintsFromJSON(*text, given.getString("file").value_or("given"));
  if (!constraints)
    return constraints.takeError();
  request.constraints = std::move(*constraints);
  return Error::success();
}

Expected<PlanRequest> requestFromAttribute(mlir::Attribute given) {
  if (!isa<mlir::DictionaryAttr>(given))
    return createStringError(kRequest + " must be a dictionary");
  json::Value value = toJSON(given);
  const json::Object &object = *value.getAsObject();
  PlanRequest request;
  if (const json::Value *cluster = object.get("cluster")) {
    Expected<Cluster> read = clusterFromJSON(*cluster, "autopar.request");
    if (!read)
      return read.takeError();
    request.cluster = std::move(*read);
  }
  if (std::optional<StringRef> text = object.getString("strategy")) {
    auto strategies = parseStrategies(*text);
    if (!strategies)
      return strategies.takeError();
    request.strategies = std::move(*strategies);
  }
  if (std::optional<StringRef> text = object.getString("mesh")) {
    auto mesh = parseMesh(*text);
    if (!mesh)
      return mesh.takeError();
    request.mesh = std::move(*mesh);
  }
  request.microBatches = object.getInteger("micro_batches").value_or(0);
  request.memoryLimit = object.getInteger("memory_limit").value_or(0);
  if (const json::Object *constraints = object.getObject("constraints"))
    if (Error error = readConstraints(*constraints, request))
      return std::move(error);
  return request;
}

} // namespace autopar
