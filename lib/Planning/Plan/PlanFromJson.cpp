//===- PlanFromJson.cpp - From JSON to a plan -----------------------------===//

#include "autopar/Planning/Plan/PlanFromJson.h"
#include "autopar/Planning/Plan/WritePlanFile.h"
#include "autopar/Support/Json.h"
#include "autopar/Support/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace autopar {

namespace {

/// Reads one plan; every complaint names the file and the place in it.
class Reader {
public:
  explicit Reader(StringRef name) : name(name) {}
  Expected<Plan> read(const json::Value &value);

private:
  Error fail(const Twine &what) const {
    return createStringError("plan file " + name + ": " + what);
  }
  Expected<const json::Object *> object(const json::Object &in, StringRef key);
  Error checkKeys(const json::Object &in, ArrayRef<StringRef> known,
                  const Twine &where);
  Expected<int64_t> integer(const json::Object &in, StringRef key,
                            int64_t least);
  Error readMesh(const json::Object &in);
  Error readHeader(const json::Object &in);
  Error readNumbers(const json::Object &in);
  Error readCollectives(const json::Object &in);
  Error readValue(StringRef tensor, const json::Value &value);
  Error readRegathers(const json::Value &value, const Twine &where,
                      PlannedOp &op);
  Error readOp(StringRef op, const json::Value &value);
  Expected<SmallVector<unsigned>> axis(StringRef text, const Twine &where);
  Expected<Choice> choice(StringRef text, const Twine &where);

  StringRef name;
  Plan plan;
};

} // namespace

Expected<const json::Object *> Reader::object(const json::Object &in,
                                              StringRef key) {
  const json::Object *found = in.getObject(key);
  if (!found)
    return fail("needs an object '" + key + "'");
  return found;
}

Error Reader::checkKeys(const json::Object &in, ArrayRef<StringRef> known,
                        const Twine &where) {
  std::string unknown = unknownKey(in, known);
  return unknown.empty() ? Error::success() : fail(where + unknown);
}

Expected<int64_t> Reader::integer(const json::Object &in, StringRef key,
                                  int64_t least) {
  std::optional<int64_t> value = in.getInteger(key);
  if (!value || *value < least || *value > (1 << 20))
    return fail("'" + key + "' must be an integer of " + Twine(least) +
                " or more, at most 1048576");
  return *value;
}

Error Reader::readMesh(const json::Object &in) {
  const json::Array *axes = in.getArray("mesh");
  if (!axes)
    return fail("needs 'mesh', a list such as [{\"axis\": \"data\", \"size\": "
                "2}]");
  SmallVector<MeshAxis> list;
  for (const json::Value &value : *axes) {
    const json::Object *axis = value.getAsObject();
    std::optional<StringRef> axisName;
    if (axis)
      axisName = axis->getString("axis");
    if (!axisName || axisName->empty())
      return fail("each of 'mesh' needs an 'axis' and a 'size'");
    Expected<int64_t> size = integer(*axis, "size", 1);
    if (!size)
      return size.takeError();
    if (*axisName == kTimeAxis && !list.empty())
      return fail("the axis 'time' must be the first of 'mesh'");
    if (any_of(list, [&](const MeshAxis &a) { return a.name == *axisName; }))
      return fail("two axes of 'mesh' are called '" + *axisName + "'");
    list.push_back({axisName->str(), *size});
  }
  plan.mesh = Mesh(list);
  return Error::success();
}

Error Reader::readHeader(const json::Object &in) {
  int64_t format = in.getInteger("format").value_or(0);
  if (format < 1 || format > kPlanFormat)
    return fail("'format' must be 1 to " + Twine(kPlanFormat) +
                ": plan again with this version of autopar");
  plan.model = in.getString("model").value_or("").str();
  if (in.getString("model_hash").value_or("").getAsInteger(16, plan.modelHash))
    return fail("needs 'model_hash', 16 hexadecimal digits");
  if (in.get("structure_hash") && in.getString("structure_hash")
                                      .value_or("")
                                      .getAsInteger(16, plan.structureHash))
    return fail("'structure_hash' must be 16 hexadecimal digits");
  if (in.get("request") && !in.getObject("request"))
    return fail("'request' must be an object");
  if (const json::Object *request = in.getObject("request"))
    plan.request = *request;
  if (std::optional<StringRef> precision = in.getString("precision"))
    plan.precision = precision->str();
  if (in.get("check_numerics") && !in.getBoolean("check_numerics"))
    return fail("'check_numerics' must be true or false");
  plan.checksNumerics = in.getBoolean("check_numerics").value_or(false);
  if (in.get("objective") && !in.getString("objective"))
    return fail("'objective' must be a string");
  if (in.get("objective")) {
    Expected<Objective> objective =
        parseObjective(in.getString("objective").value_or(""));
    if (!objective)
      return fail("'objective': " + toString(objective.takeError()));
    plan.objective = *objective;
  }
  const json::Value *cluster = in.get("cluster");
  if (!cluster)
    return fail("needs 'cluster'");
  Expected<Cluster> parsed = clusterFromJSON(*cluster, name);
  if (!parsed)
    return parsed.takeError();
  plan.cluster = *parsed;
  plan.strategy = in.getString("strategy").value_or("auto").str();
  return Error::success();
}

Error Reader::readNumbers(const json::Object &in) {
  Expected<int64_t> stages = integer(in, "stages", 1);
  if (!stages)
    return stages.takeError();
  plan.stages = *stages;
  if (std::optional<StringRef> schedule = in.getString("schedule"))
    if (*schedule != plan.schedule())
      return fail("'schedule' of " +
                  (plan.stages > 1 ? std::to_string(plan.stages) + " stages"
                                   : std::string("one stage")) +
                  " is '" + plan.schedule() + "', not '" + *schedule + "'");
  Expected<int64_t> microBatches = integer(in, "micro_batches", 1);
  if (!microBatches)
    return microBatches.takeError();
  plan.microBatches = *microBatches;
  auto number = [&](StringRef key) { return in.getNumber(key).value_or(0); };
  plan.predictedStepSeconds = number("predicted_step_seconds");
  plan.predictedPeakMemoryBytes =
      in.getInteger("predicted_peak_memory_bytes").value_or(0);
  if (const json::Array *stages = in.getArray("predicted_stage_memory_bytes"))
    for (const json::Value &bytes : *stages)
      plan.predictedStageMemoryBytes.push_back(
          bytes.getAsInteger().value_or(0));
  plan.lowerBoundSeconds = number("lower_bound_seconds");
  plan.gap = number("gap");
  return Error::success();
}

Expected<SmallVector<unsigned>> Reader::axis(StringRef text,
                                             const Twine &where) {
  std::optional<SmallVector<unsigned>> subAxes = plan.mesh.lookup(text);
  if (!subAxes)
    return fail(where + " names axis '" + text + "', which 'mesh' has not");
  return *subAxes;
}

/// Reads the predicted collectives, which a plan written by hand may leave out.
Error Reader::readCollectives(const json::Object &in) {
  const json::Array *list = in.getArray("collectives");
  if (!list)
    return Error::success();
  for (const json::Value &value : *list) {
    const json::Object *object = value.getAsObject();
    const json::Array *axes = object ? object->getArray("axis") : nullptr;
    if (!axes || !object->getString("kind"))
      return fail("each of 'collectives' needs a 'kind' and an 'axis'");
    PlannedCollective collective;
    collective.kind = object->getString("kind")->str();
    for (const json::Value &item : *axes) {
      Expected<SmallVector<unsigned>> subAxes =
          axis(item.getAsString().value_or(""), "'collectives'");
      if (!subAxes)
        return subAxes.takeError();
      append_range(collective.subAxes, *subAxes);
    }
    collective.bytes = object->getInteger("bytes").value_or(0);
    collective.count = object->getInteger("count").value_or(0);
    collective.seconds = object->getNumber("seconds").value_or(0);
    plan.collectives.push_back(std::move(collective));
  }
  return Error::success();
}

Error Reader::readValue(StringRef tensor, const json::Value &value) {
  std::string where = ("tensor '" + tensor + "'").str();
  const json::Object *object = value.getAsObject();
  const json::Array *dims = object ? object->getArray("dims") : nullptr;
  if (!dims)
    return fail(where + " needs 'dims', one list of axes per dimension");
  if (Error error = checkKeys(*object, {"dims", "partial"}, where + ": "))
    return error;
  PlannedValue planned{tensor.str(), {}};
  for (const json::Value &dimValue : *dims) {
    const json::Array *axes = dimValue.getAsArray();
    if (!axes)
      return fail(where + ": each of 'dims' must be a list of axes");
    DimSharding &dim = planned.sharding.dims.emplace_back();
    for (const json::Value &item : *axes) {
      Expected<SmallVector<unsigned>> subAxes =
          axis(item.getAsString().value_or(""), where);
      if (!subAxes)
        return subAxes.takeError();
      append_range(dim.subAxes, *subAxes);
    }
  }
  const json::Object *partial = object->getObject("partial");
  if (object->get("partial") && !partial)
    return fail(where + ": 'partial' must be an object such as {\"data\": "
                        "\"sum\"}");
  if (partial)
    for (StringRef name : sortedKeys(*partial)) {
      Expected<SmallVector<unsigned>> subAxes = axis(name, where);
      if (!subAxes)
        return subAxes.takeError();
      std::optional<ReduceKind> kind =
          symbolizeReduceKind(partial->getString(name).value_or(""));
      if (!kind)
        return fail(where + ": 'partial' takes sum, prod, max or min");
      for (unsigned subAxis : *subAxes)
        planned.sharding.partial.push_back({subAxis, *kind});
    }
  llvm::sort(planned.sharding.partial, [](const Partial &a, const Partial &b) {
    return a.subAxis < b.subAxis;
  });
  plan.values.push_back(std::move(planned));
  return Error::success();
}

Expected<Choice> Reader::choice(StringRef text, const Twine &where) {
  auto [kind, number] = text.split(' ');
  Choice result;
  result.kind = kind == "split"  ? Choice::Split
                : kind == "pass" ? Choice::Pass
                                 : Choice::None;
  if (result.kind == Choice::None || number.getAsInteger(10, result.index))
    return fail(where + ": '" + text + "' is neither 'split N' nor 'pass N'");
  return result;
}

/// Reads the numbers of operands whose reshard an op makes again.
Error Reader::readRegathers(const json::Value &value, const Twine &where,
                            PlannedOp &op) {
  const json::Array *numbers = value.getAsArray();
  for (const json::Value &number : numbers ? *numbers : json::Array()) {
    std::optional<int64_t> operand = number.getAsInteger();
    if (!operand || !isUInt<32>(*operand)) {
      numbers = nullptr;
      break;
    }
    op.regathers.push_back(*operand);
  }
  if (!numbers || op.regathers.empty())
    return fail(where + ": 'regathers' takes numbers of operands such as [1]");
  return Error::success();
}

Error Reader::readOp(StringRef op, const json::Value &value) {
  std::string where = ("op '" + op + "'").str();
  const json::Object *object = value.getAsObject();
  const json::Object *strategy =
      object ? object->getObject("strategy") : nullptr;
  if (!strategy)
    return fail(where + " needs an object 'strategy'");
  if (Error error = checkKeys(
          *object, {"strategy", "stage", "rule", "regathers"}, where + ": "))
    return error;
  PlannedOp planned{op.str(), Assignment(plan.mesh.subAxes().size()), 0, ""};
  for (StringRef name : sortedKeys(*strategy)) {
    Expected<SmallVector<unsigned>> subAxes = axis(name, where);
    if (!subAxes)
      return subAxes.takeError();
    Expected<Choice> parsed =
        choice(strategy->getString(name).value_or(""), where);
    if (!parsed)
      return parsed.takeError();
    for (unsigned subAxis : *subAxes) {
      if (planned.assignment[subAxis].kind != Choice::None)
        return fail(where + " gives axis '" + name + "' two things to do");
      planned.assignment[subAxis] = *parsed;
    }
  }
  if (object->get("stage")) {
    Expected<int64_t> stage = integer(*object, "stage", 0);
    if (!stage)
      return stage.takeError();
    planned.stage = *stage;
  }
  planned.rule = object->getString("rule").value_or("").str();
  if (const json::Value *regathers = object->get("regathers"))
    if (Error error = readRegathers(*regathers, where, planned))
      return error;
  plan.ops.push_back(std::move(planned));
  return Error::success();
}

static constexpr StringRef kKeys[] = {"format",
                                      "model",
                                      "model_hash",
                                      "structure_hash",
                                      "precision",
                                      "check_numerics",
                                      "cluster",
                                      "strategy",
                                      "request",
                                      "mesh",
                                      "stages",
                                      "micro_batches",
                                      "schedule",
                                      "objective",
                                      "predicted_step_seconds",
                                      "predicted_peak_memory_bytes",
                                      "predicted_stage_memory_bytes",
                                      "lower_bound_seconds",
                                      "gap",
                                      "collectives",
                                      "program",
                                      "tensors",
                                      "ops"};

Expected<Plan> Reader::read(const json::Value &value) {
  const json::Object *in = value.getAsObject();
  if (!in)
    return fail("must be a JSON object");
  if (Error error = checkKeys(*in, kKeys, ""))
    return std::move(error);
  if (Error error = readHeader(*in))
    return std::move(error);
  if (Error error = readMesh(*in))
    return std::move(error);
  if (Error error = readNumbers(*in))
    return std::move(error);
  if (Error error = readCollectives(*in))
    return std::move(error);
  Expected<const json::Object *> tensors = object(*in, "tensors");
  if (!tensors)
    return tensors.takeError();
  for (StringRef key : sortedKeys(**tensors))
    if (Error error = readValue(key, *(*tensors)->get(key)))
      return std::move(error);
  Expected<const json::Object *> ops = object(*in, "ops");
  if (!ops)
    return ops.takeError();
  for (StringRef key : sortedKeys(**ops))
    if (Error error = readOp(key, *(*ops)->get(key)))
      return std::move(error);
  return std::move(plan);
}

Expected<Plan> planFromJSON(const json::Value &value, StringRef name) {
  return Reader(name).read(value);
}

} // namespace autopar
