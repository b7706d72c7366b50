//===- RequestAttribute.cpp - What is asked of a plan ---------------------===//

#include "autopar/Planning/RequestAttribute.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "autopar/Support/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace autopar {

/// Moves a value that was read to its place, or returns the error.
template <typename T> static Error moveOr(Expected<T> read, T &into) {
  if (!read)
    return read.takeError();
  into = std::move(*read);
  return Error::success();
}

/// Adds a field such as `{"batch": "8"}` under the key unless there are no
/// texts.
static void addTexts(StringRef key,
                     const std::map<std::string, std::string> &texts,
                     json::Object &object) {
  json::Object values;
  for (const auto &[name, text] : texts)
    values[name] = text;
  if (!values.empty())
    object[key] = std::move(values);
}

/// Returns all fields but the constraints.
static json::Object requestToJSON(const PlanRequest &request) {
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
  if (request.objective)
    object["objective"] = stringifyObjective(*request.objective);
  if (request.fewestDevices)
    object["fewest_devices"] = true;
  addTexts("bindings", request.bindings, object);
  addTexts("states", request.states, object);
  return object;
}

json::Object requestOfPlan(const PlanRequest &request) {
  json::Object object = requestToJSON(request);
  object.erase("cluster");
  object.erase("strategy");
  object.erase("objective");
  std::string constraints;
  raw_string_ostream(constraints) << request.constraints.text;
  if (!request.constraints.empty())
    object["constraints_hash"] =
        utohexstr(xxh3_64bits(constraints), /*LowerCase=*/true, 16);
  return object;
}

mlir::DictionaryAttr toAttribute(const PlanRequest &request,
                                 mlir::MLIRContext *context) {
  json::Object object = requestToJSON(request);
  if (!request.constraints.empty())
    object["constraints"] = json::Object{{"file", request.constraints.file},
                                         {"text", request.constraints.text}};
  return cast<mlir::DictionaryAttr>(
      attributeFromJSON(context, std::move(object)));
}

namespace {

/// Reads the fields of one request and checks the type of each.
class Reader {
public:
  explicit Reader(const json::Object &object) : object(object) {}
  Expected<PlanRequest> read();

private:
  Error fail(StringRef key, StringRef kind) const {
    return createStringError(kRequest + ": '" + key + "' must be " + kind);
  }
  Error readText(StringRef key, function_ref<Error(StringRef)> take) const;
  Error readCount(StringRef key, int64_t &count) const;
  Error readCluster();
  Error readConstraints();
  Error readTexts(StringRef key, std::map<std::string, std::string> &texts);

  const json::Object &object;
  PlanRequest request;
};

} // namespace

Error Reader::readText(StringRef key,
                       function_ref<Error(StringRef)> take) const {
  const json::Value *value = object.get(key);
  if (!value)
    return Error::success();
  std::optional<StringRef> text = value->getAsString();
  return text ? take(*text) : fail(key, "a string");
}

Error Reader::readCount(StringRef key, int64_t &count) const {
  const json::Value *value = object.get(key);
  if (!value)
    return Error::success();
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < 0)
    return fail(key, "an integer of 0 or more");
  count = *number;
  return Error::success();
}

Error Reader::readCluster() {
  const json::Value *value = object.get("cluster");
  if (!value)
    return Error::success();
  return moveOr(clusterFromJSON(*value, kRequest), request.cluster);
}

Error Reader::readConstraints() {
  const json::Value *value = object.get("constraints");
  if (!value)
    return Error::success();
  const json::Object *given = value->getAsObject();
  const json::Value *text = given ? given->get("text") : nullptr;
  std::optional<StringRef> file =
      given ? given->getString("file") : std::nullopt;
  if (!text || !file)
    return fail("constraints", "a dictionary of file and text");
  return moveOr(constraintsFromJSON(*text, *file), request.constraints);
}

Error Reader::readTexts(StringRef key,
                        std::map<std::string, std::string> &texts) {
  const json::Value *value = object.get(key);
  if (!value)
    return Error::success();
  const json::Object *given = value->getAsObject();
  if (!given)
    return fail(key, "a dictionary of strings");
  for (StringRef name : sortedKeys(*given)) {
    std::optional<StringRef> text = given->getString(name);
    if (!text)
      return fail(key, "a dictionary of strings");
    texts[name.str()] = text->str();
  }
  return Error::success();
}

Expected<PlanRequest> Reader::read() {
  std::string unknown =
      unknownKey(object, {"cluster", "strategy", "mesh", "micro_batches",
                          "memory_limit", "objective", "fewest_devices",
                          "constraints", "bindings", "states"});
  if (!unknown.empty())
    return createStringError(kRequest + ": " + unknown);
  auto strategies = [&](StringRef text) {
    return moveOr(parseStrategies(text), request.strategies);
  };
  auto mesh = [&](StringRef text) {
    return moveOr(parseMesh(text), request.mesh);
  };
  if (Error error = readCluster())
    return std::move(error);
  auto objective = [&](StringRef text) {
    return moveOr(parseObjective(text), request.objective.emplace());
  };
  if (Error error = readText("objective", objective))
    return std::move(error);
  if (Error error = readText("strategy", strategies))
    return std::move(error);
  if (Error error = readText("mesh", mesh))
    return std::move(error);
  if (Error error = readCount("micro_batches", request.microBatches))
    return std::move(error);
  if (Error error = readCount("memory_limit", request.memoryLimit))
    return std::move(error);
  if (const json::Value *fewest = object.get("fewest_devices")) {
    if (!fewest->getAsBoolean())
      return fail("fewest_devices", "true or false");
    request.fewestDevices = *fewest->getAsBoolean();
  }
  if (Error error = readConstraints())
    return std::move(error);
  if (Error error = readTexts("bindings", request.bindings))
    return std::move(error);
  if (Error error = readTexts("states", request.states))
    return std::move(error);
  return std::move(request);
}

Expected<PlanRequest> requestFromAttribute(mlir::Attribute given) {
  if (!isa<mlir::DictionaryAttr>(given))
    return createStringError(kRequest + " must be a dictionary");
  json::Value value = toJSON(given);
  return Reader(*value.getAsObject()).read();
}

} // namespace autopar
