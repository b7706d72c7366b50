//===- Manifest.cpp - What a program says about itself --------------------===//

#include "Manifest.h"

#include "ManifestParts.h"

#include <algorithm>

namespace autopar::runtime {

namespace {
constexpr int64_t maxRanks = APRT_MAX_RANKS;
} // namespace

bool Manifest::uses(const std::string &library) const {
  return std::find(libraries.begin(), libraries.end(), library) !=
         libraries.end();
}

std::optional<size_t> Manifest::outputOf(OutputRole role) const {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].role == role)
      return i;
  return std::nullopt;
}

const char *Manifest::opName(int op) const {
  return op >= 0 && size_t(op) < ops.size() ? ops[op].name.c_str() : "(start)";
}

const char *Manifest::opKind(int op) const {
  return op >= 0 && size_t(op) < ops.size() ? ops[op].kind.c_str() : "runtime";
}

std::vector<int64_t> Manifest::coordinates(int worldRank, int64_t time) const {
  std::vector<int64_t> result(mesh.size());
  int64_t index = worldRank % devicesPerStage;
  for (int axis = int(mesh.size()) - 1; axis >= 0; --axis) {
    if (axis == timeAxis) {
      result[axis] = time;
      continue;
    }
    result[axis] = index % mesh[axis].size;
    index /= mesh[axis].size;
  }
  return result;
}

static void parseMesh(const JsonReader &root, Manifest &manifest) {
  int64_t devices = 1;
  for (const JsonReader &axis : root.member("mesh").elements()) {
    std::vector<JsonReader> pair = axis.elements();
    if (pair.size() != 2)
      return axis.fail("must be [name, size]");
    MeshAxis entry{pair[0].string(), pair[1].integer(1, maxCount)};
    if (entry.name == "time") {
      if (manifest.timeAxis >= 0)
        return axis.fail("is a second axis 'time'");
      manifest.timeAxis = int(manifest.mesh.size());
    } else {
      devices *= entry.size;
    }
    if (devices > maxRanks)
      return axis.fail("makes more than " + std::to_string(maxRanks) +
                       " devices");
    manifest.mesh.push_back(std::move(entry));
  }
  manifest.devicesPerStage = int(devices);
  manifest.stages = int(root.member("stages").integer(1, maxRanks / devices));
  manifest.microBatches = root.member("micro_batches").integer(1, maxCount);
  if (manifest.timeAxis >= 0 &&
      manifest.mesh[manifest.timeAxis].size != manifest.microBatches)
    root.member("micro_batches").fail("differs from the size of axis 'time'");
}

static Target parseTarget(const JsonReader &json) {
  std::string name = json.isNull() ? "cpu" : json.string();
  if (name == "cuda")
    return Target::Cuda;
  if (name == "emulated")
    return Target::Emulated;
  if (name != "cpu")
    json.fail("must be \"cpu\", \"cuda\" or \"emulated\"");
  return Target::Cpu;
}

std::vector<JsonReader> perStage(const JsonReader &json, int stages) {
  std::vector<JsonReader> elements = json.elements();
  if (elements.size() == size_t(stages))
    return elements;
  json.fail("must have one element per stage");
  return {};
}

static std::vector<int64_t> perStageIntegers(const JsonReader &json, int stages,
                                             int64_t most) {
  std::vector<int64_t> result;
  for (const JsonReader &element : perStage(json, stages))
    result.push_back(element.integer(0, most));
  result.resize(stages);
  return result;
}

static void parsePlan(const JsonReader &root, Manifest &manifest) {
  if (JsonReader plan = root.member("plan", /*optional=*/true);
      !plan.isNull()) {
    if (JsonReader objective = plan.member("objective", /*optional=*/true);
        !objective.isNull())
      manifest.stepsOverlap =
          manifest.stages > 1 && objective.string() == "throughput";
    if (JsonReader strategy = plan.member("strategy", /*optional=*/true);
        !strategy.isNull())
      manifest.strategy = strategy.string();
  }
  JsonReader predicted = root.member("predicted", /*optional=*/true);
  if (predicted.isNull())
    return;
  manifest.predictedStepSeconds = predicted.member("step_seconds").number();
  JsonReader memory = predicted.member("peak_memory_bytes");
  if (memory.elements().empty()) // nothing was planned
    return;
  for (const JsonReader &element : perStage(memory, manifest.stages))
    manifest.predictedPeakMemoryBytes.push_back(element.number());
}

/// Parses the origin of the program and its requirements.
static void parseOrigin(const JsonReader &root, Manifest &manifest) {
  manifest.model = root.member("model").string();
  if (JsonReader entry = root.member("entry", /*optional=*/true);
      !entry.isNull())
    manifest.entry = entry.string();
  if (JsonReader compiler = root.member("compiler", /*optional=*/true);
      !compiler.isNull())
    manifest.compiler = compiler.string();
  manifest.target = parseTarget(root.member("target", /*optional=*/true));
  JsonReader tf32 = root.member("tf32", /*optional=*/true);
  manifest.tf32 = !tf32.isNull() && tf32.boolean();
  manifest.cpuFeatures = root.member("cpu_features").strings();
  manifest.libraries = root.member("libraries").strings();
  if (JsonReader steps = root.member("schedule_steps", /*optional=*/true);
      !steps.isNull())
    manifest.scheduleSteps = steps.integer(1, INT64_MAX);
}

static void parseRoot(const JsonReader &root, Manifest &manifest) {
  int64_t abi = root.member("abi").integer(0, INT32_MAX);
  if (abi != APRT_ABI_VERSION)
    return root.member("abi").fail(
        "is " + std::to_string(abi) + " but this runtime has version " +
        std::to_string(APRT_ABI_VERSION) + "; compile the model again");
  parseOrigin(root, manifest);
  parseMesh(root, manifest);
  parseTables(root, manifest);
  int stages = manifest.stages;
  manifest.arenaBytes =
      perStageIntegers(root.member("arena_bytes"), stages, maxBytes);
  manifest.setupArenaBytes =
      perStageIntegers(root.member("setup_arena_bytes"), stages, maxBytes);
  manifest.packedSlots =
      perStageIntegers(root.member("packed_slots"), stages, maxCount);
  parseTensors(root, manifest);
  parseEvaluation(root, manifest);
  parsePlan(root, manifest);
  parseRun(root, manifest);
}

Status parseManifest(const char *text, Manifest &manifest) {
  nlohmann::json document =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object())
    return Status::error("the program's manifest is not a JSON object");
  Status status;
  parseRoot(JsonReader(document, "", status), manifest);
  if (status.failed())
    return Status::error("the program's manifest is damaged: " +
                         status.message());
  return status;
}

} // namespace autopar::runtime
