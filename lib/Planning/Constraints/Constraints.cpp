//===- Constraints.cpp - Constraints from a file ----------------------===//

#include "autopar/Planning/Constraints/Constraints.h"
#include "autopar/Planning/Constraints/WrittenMesh.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Names.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace autopar {

static std::string describeConstraint(const Constraint &constraint) {
  std::string text = "constraint " + std::to_string(constraint.number);
  if (constraint.kind == Constraint::MeshOfPlan)
    return text + " (mesh)";
  return text +
         (constraint.kind == Constraint::Value ? " (value '" : " (node '") +
         constraint.name + "')";
}

Error Constraints::fail(const Constraint &constraint, const Twine &what) const {
  if (constraint.kind == Constraint::Kept)
    return createStringError("what is kept of plan file " + constraint.name +
                             " excludes itself here: " + what +
                             "; leave --from out");
  if (constraint.kind == Constraint::Stored)
    return createStringError("as entry " + constraint.name +
                             " stores its tensors: " + what);
  return createStringError("constraints file " + file + ": " +
                           describeConstraint(constraint) + ": " + what);
}

namespace {

/// Reads one file. Each error names the file and the constraint.
class Reader {
public:
  explicit Reader(StringRef name) { constraints.file = name.str(); }
  Expected<Constraints> read(const json::Value &value);

private:
  Error readOne(const json::Value &value);
  Error readName(const json::Object &object);
  Error readValue(const json::Object &object);
  Error readNode(const json::Object &object);
  Error readMesh(const json::Object &object);
  Error readSharding(const json::Array &dims);
  Expected<DimPattern> readDim(const json::Value &value);
  Error readPartial(const json::Value &value);
  Error readStrategy(const json::Value &value);
  Error checkKeys(const json::Object &object, ArrayRef<StringRef> known);
  Error fail(const Twine &what) const {
    return constraints.fail(current, what);
  }

  Constraints constraints;
  Constraint current;
};

} // namespace

Error Reader::checkKeys(const json::Object &object, ArrayRef<StringRef> known) {
  std::string unknown = unknownKey(object, known);
  return unknown.empty() ? Error::success() : fail(unknown);
}

Expected<DimPattern> Reader::readDim(const json::Value &value) {
  DimPattern dim;
  if (std::optional<StringRef> text = value.getAsString()) {
    dim.kind = *text == "..." ? DimPattern::Rest : DimPattern::Any;
    if (*text != "..." && *text != "*")
      return fail("'" + *text +
                  "' is no dimension: write a list of axes, \"*\" (anyhow) or "
                  "\"...\" (all other dimensions, anyhow)");
    return dim;
  }
  const json::Array *axes = value.getAsArray();
  if (!axes)
    return fail("each dimension of 'sharding' must be a list of axes, \"*\" or "
                "\"...\"");
  for (const json::Value &axis : *axes) {
    if (!axis.getAsString())
      return fail("an axis in 'sharding' must be a text");
    dim.axes.push_back(axis.getAsString()->str());
  }
  return dim;
}

Error Reader::readSharding(const json::Array &dims) {
  current.sharding.emplace();
  for (const json::Value &value : dims) {
    Expected<DimPattern> dim = readDim(value);
    if (!dim)
      return dim.takeError();
    current.sharding->dims.push_back(std::move(*dim));
  }
  auto isRest = [](const DimPattern &dim) {
    return dim.kind == DimPattern::Rest;
  };
  if (count_if(current.sharding->dims, isRest) > 1)
    return fail("'sharding' has \"...\" twice");
  return Error::success();
}

Error Reader::readPartial(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return fail("'partial' must be an object such as {\"tensor\": \"sum\"}");
  for (StringRef axis : sortedKeys(*object)) {
    std::optional<ReduceKind> kind =
        symbolizeReduceKind(object->getString(axis).value_or(""));
    if (!kind)
      return fail("'partial' takes sum, prod, max or min");
    current.sharding->partial.push_back({axis.str(), *kind});
  }
  return Error::success();
}

Error Reader::readValue(const json::Object &object) {
  if (Error error =
          checkKeys(object, {"value", "sharding", "partial", "forbid"}))
    return error;
  const json::Array *dims = object.getArray("sharding");
  if (!dims)
    return fail("needs 'sharding', one list of axes per dimension such as "
                "[[\"data\"], []]");
  if (Error error = readSharding(*dims))
    return error;
  const json::Value *partial = object.get("partial");
  return partial ? readPartial(*partial) : Error::success();
}

Error Reader::readStrategy(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  if (!object || object->empty())
    return fail("'strategy' must be an object such as {\"tensor\": "
                "\"column\"}");
  for (StringRef axis : sortedKeys(*object)) {
    std::optional<StringRef> text = object->getString(axis);
    if (!text)
      return fail("'strategy' of axis '" + axis + "' must be a text");
    current.strategy.push_back({axis.str(), text->str()});
  }
  return Error::success();
}

Error Reader::readNode(const json::Object &object) {
  if (Error error = checkKeys(object, {"node", "strategy", "stage", "forbid"}))
    return error;
  const json::Value *strategy = object.get("strategy");
  const json::Value *stage = object.get("stage");
  if (!strategy && !stage)
    return fail("needs 'strategy' or 'stage'");
  if (strategy)
    if (Error error = readStrategy(*strategy))
      return error;
  if (!stage)
    return Error::success();
  current.stage = stage->getAsInteger();
  if (!current.stage || *current.stage < 0)
    return fail("'stage' must be an integer of 0 or more");
  return Error::success();
}

Error Reader::readMesh(const json::Object &object) {
  if (Error error = checkKeys(object, {"mesh", "forbid"}))
    return error;
  std::optional<StringRef> text = object.getString("mesh");
  if (!text)
    return fail("'mesh' must be a text such as \"data=2,tensor=2\"");
  Expected<SmallVector<MeshAxis>> axes = parseMesh(*text);
  if (!axes)
    return fail(toString(axes.takeError()));
  current.mesh = std::move(*axes);
  return Error::success();
}

Error Reader::readName(const json::Object &object) {
  StringRef key = current.kind == Constraint::Value ? "value" : "node";
  std::optional<StringRef> text = object.getString(key);
  if (!text || text->empty())
    return fail("'" + key +
                "' must be a name; * and ? stand for any text and "
                "any character");
  current.name = text->str();
  return Error::success();
}

Error Reader::readOne(const json::Value &value) {
  const json::Object *object = value.getAsObject();
  SmallVector<Constraint::Kind> kinds;
  for (auto [key, kind] : {std::pair("value", Constraint::Value),
                           {"node", Constraint::Node},
                           {"mesh", Constraint::MeshOfPlan}})
    if (object && object->get(key))
      kinds.push_back(kind);
  unsigned number = constraints.list.size() + 1;
  if (kinds.size() != 1)
    return createStringError(
        "constraints file " + constraints.file + ": constraint " +
        Twine(number) +
        " must be an object with one of 'value', 'node' and 'mesh'");
  current = Constraint();
  current.number = number;
  current.kind = kinds.front();
  if (current.kind != Constraint::MeshOfPlan)
    if (Error error = readName(*object))
      return error;
  if (const json::Value *forbid = object->get("forbid")) {
    if (!forbid->getAsBoolean())
      return fail("'forbid' must be true or false");
    current.forbid = *forbid->getAsBoolean();
  }
  if (Error error = current.kind == Constraint::Value  ? readValue(*object)
                    : current.kind == Constraint::Node ? readNode(*object)
                                                       : readMesh(*object))
    return error;
  constraints.list.push_back(std::move(current));
  return Error::success();
}

Expected<Constraints> Reader::read(const json::Value &value) {
  auto wrong = [&](const Twine &what) {
    return createStringError("constraints file " + constraints.file + ": " +
                             what);
  };
  const json::Object *object = value.getAsObject();
  std::string unknown = object ? unknownKey(*object, {"constraints"}) : "";
  if (!unknown.empty())
    return wrong(unknown);
  const json::Array *list = object ? object->getArray("constraints") : nullptr;
  if (!list)
    return wrong("must be an object {\"constraints\": [...]}");
  for (const json::Value &item : *list)
    if (Error error = readOne(item))
      return std::move(error);
  constraints.text = value;
  return std::move(constraints);
}

Expected<Constraints> constraintsFromJSON(const json::Value &value,
                                          StringRef name) {
  return Reader(name).read(value);
}

Expected<Constraints> readConstraintsFile(StringRef path) {
  Expected<json::Value> value = readJsonFile("constraints file", path);
  if (!value)
    return value.takeError();
  return constraintsFromJSON(*value, path);
}

} // namespace autopar
