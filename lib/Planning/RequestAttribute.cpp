//===- RequestAttribute.cpp - What is asked of a plan ---------------------===//

#include "autopar/Planning/RequestAttribute.h"
#include "autopar/Dialect/Dialect.h"
#include "autopar/Dialect/JsonAttributes.h"
#include "autopar/Support/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace autopar {

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

/// Adds an option under its key unless it was not asked for.
static void addOption(const RequestOption &option, const PlanRequest &request,
                      json::Object &object) {
  if (std::optional<json::Value> value = optionToJSON(option, request))
    object[jsonKey(option)] = std::move(*value);
}

/// Adds how the graph was shaped when it was imported.
static void addShapes(const PlanRequest &request, json::Object &object) {
  addTexts("bindings", request.bindings, object);
  addTexts("states", request.states, object);
}

json::Object requestOfPlan(const PlanRequest &request) {
  json::Object object;
  for (const RequestOption &option : kRequestOptions)
    if (!option.isPlanField &&
        !std::holds_alternative<ConstraintsOption>(option.kind))
      addOption(option, request, object);
  addShapes(request, object);
  std::string constraints;
  raw_string_ostream(constraints) << request.constraints.text;
  if (!request.constraints.empty())
    object["constraints_hash"] =
        utohexstr(xxh3_64bits(constraints), /*LowerCase=*/true, 16);
  return object;
}

mlir::DictionaryAttr toAttribute(const PlanRequest &request,
                                 mlir::MLIRContext *context) {
  json::Object object;
  if (!request.cluster.nodes.empty())
    object["cluster"] = toJSON(request.cluster);
  for (const RequestOption &option : kRequestOptions)
    addOption(option, request, object);
  addShapes(request, object);
  return cast<mlir::DictionaryAttr>(
      attributeFromJSON(context, std::move(object)));
}

/// Reads a dictionary of texts; the key may be absent.
static Error readTexts(const json::Object &object, StringRef key,
                       std::map<std::string, std::string> &texts) {
  const json::Value *value = object.get(key);
  if (!value)
    return Error::success();
  auto wrong = [&] {
    return createStringError("'" + key + "' must be a dictionary of strings");
  };
  const json::Object *given = value->getAsObject();
  if (!given)
    return wrong();
  for (StringRef name : sortedKeys(*given)) {
    std::optional<StringRef> text = given->getString(name);
    if (!text)
      return wrong();
    texts[name.str()] = text->str();
  }
  return Error::success();
}

static Error readOptions(const json::Object &object, PlanRequest &request) {
  for (const RequestOption &option : kRequestOptions)
    if (const json::Value *value = object.get(jsonKey(option)))
      if (Error error = optionFromJSON(option, *value, request))
        return error;
  if (Error error = readTexts(object, "bindings", request.bindings))
    return error;
  return readTexts(object, "states", request.states);
}

/// Returns a message about the first key that no request has; "" if there is
/// none.
static std::string unknownKeyOf(const json::Object &object) {
  std::vector<std::string> keys = {"bindings", "cluster", "states"};
  for (const RequestOption &option : kRequestOptions)
    keys.push_back(jsonKey(option));
  return unknownKey(object, std::vector<StringRef>(keys.begin(), keys.end()));
}

Expected<PlanRequest> requestFromAttribute(mlir::DictionaryAttr given) {
  json::Value value = toJSON(given);
  const json::Object &object = *value.getAsObject();
  if (std::string unknown = unknownKeyOf(object); !unknown.empty())
    return createStringError(AutoparDialect::kRequest + ": " + unknown);
  PlanRequest request;
  if (const json::Value *cluster = object.get("cluster")) {
    Expected<Cluster> read =
        clusterFromJSON(*cluster, AutoparDialect::kRequest);
    if (!read)
      return read.takeError();
    request.cluster = std::move(*read);
  }
  if (Error error = readOptions(object, request))
    return createStringError(AutoparDialect::kRequest + ": " +
                             toString(std::move(error)));
  return request;
}

} // namespace autopar
