//===- Describe.cpp - What an executable says about itself ----------------===//

#include "Describe.h"

#include "../core/Hyperparameters.h"
#include "../files/Text.h"
#include "autopar/version.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace autopar::runtime {

using Json = nlohmann::ordered_json;

const char *targetName(Target target) {
  return target == Target::Cpu    ? "cpu"
         : target == Target::Cuda ? "cuda"
                                  : "emulated";
}

static std::string compilerOf(const Manifest &manifest) {
  return manifest.compiler.empty() ? "an unknown compiler" : manifest.compiler;
}

std::string versionText(const std::vector<Program> &programs) {
  const Manifest &manifest = programs.front().manifest;
  return manifest.model + ": compiled by " + compilerOf(manifest) +
         ", runtime " AUTOPAR_VERSION ", ABI " +
         std::to_string(APRT_ABI_VERSION) + "\n";
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The file's state is "unchanged" if its size and its structure are those that
/// were compiled.
static std::string stateOf(const Program &program, size_t index) {
  const WeightFileEntry &entry = program.manifest.weightFiles[index];
  std::string path = pathOf(entry, program.home);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return "missing";
  FileReader file;
  Status status = openWeightFile(entry, program.home, path, file);
  if (status.ok())
    status = checkUnchanged(program.manifest, index, program.home, file);
  return status.ok() ? "unchanged" : "changed";
}

static Json weightsJson(const Program &program) {
  Json list = Json::array();
  for (size_t i = 0; i < program.manifest.weightFiles.size(); ++i) {
    const WeightFileEntry &entry = program.manifest.weightFiles[i];
    const MadeWeights &made = program.home.made;
    bool isMade = entry.isMade && made.isKnown;
    Json file{{"file", entry.name},
              {"embedded", entry.isMade && made.isEmbedded()}};
    if (isMade || entry.size >= 0)
      file["bytes"] = isMade ? made.size : entry.size;
    if (entry.structure)
      file["structure"] = formatHash(*entry.structure);
    if (isMade || entry.content)
      file["content"] = formatHash(isMade ? made.content : *entry.content);
    file["state"] = stateOf(program, i);
    list.push_back(std::move(file));
  }
  return list;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static Json portsJson(const std::vector<Port> &ports) {
  Json list = Json::array();
  for (const Port &port : ports)
    list.push_back({{"name", port.name},
                    {"dtype", dtypeName(port.dtype)},
                    {"shape", port.shape}});
  return list;
}

static Json fixedInputsJson(const Manifest &manifest) {
  Json list = Json::array();
  for (const FixedInput &input : manifest.fixedInputs)
    list.push_back({{"name", input.name},
                    {"dtype", dtypeName(input.dtype)},
                    {"shape", input.shape},
                    {"value", input.text}});
  return list;
}

/// States are alike in all stages that hold them.
static std::vector<Port> statesOf(const Manifest &manifest) {
  std::vector<Port> states;
  for (const PersistentEntry &entry : manifest.persistent.front())
    if (entry.isState && entry.role != StateRole::Hyperparameter) {
      states.emplace_back();
      states.back().name = entry.name;
      states.back().dtype = entry.dtype;
      states.back().shape = entry.globalShape;
    }
  return states;
}

static Json hyperparametersJson(const Manifest &manifest) {
  Json list = Json::array();
  for (const PersistentEntry *entry : hyperparametersOf(manifest))
    list.push_back({{"name", entry->name},
                    {"value", fillOf(*entry)},
                    {"range", rangeText(entry->range)}});
  return list;
}

/// Lists the checks whose failure ends a run.
static Json checksJson(const Manifest &manifest) {
  Json list = Json::array();
  for (const Check &check : manifest.checks)
    list.push_back({{"name", check.port.name}, {"message", check.message}});
  return list;
}

static Json meshJson(const Manifest &manifest) {
  Json axes = Json::object();
  for (const MeshAxis &axis : manifest.mesh)
    axes[axis.name] = axis.size;
  return axes;
}

/// Null where the program has none.
static Json planOf(const Program &program) {
  Json whole = Json::parse(program.manifestText, nullptr, false);
  return whole.is_object() && whole.contains("plan") ? whole["plan"] : Json();
}

static Json entryJson(const Program &program) {
  const Manifest &manifest = program.manifest;
  Json entry;
  if (!manifest.entry.empty())
    entry["entry"] = manifest.entry;
  entry["program"] = formatHash(program.checksum);
  entry["inputs"] = portsJson(manifest.inputs);
  entry["fixed_inputs"] = fixedInputsJson(manifest);
  entry["states"] = portsJson(statesOf(manifest));
  entry["hyperparameters"] = hyperparametersJson(manifest);
  entry["outputs"] = portsJson(manifest.outputs);
  entry["state_outputs"] = portsJson(manifest.stateOutputs);
  entry["checks"] = checksJson(manifest);
  entry["ranks"] = manifest.worldSize();
  entry["mesh"] = meshJson(manifest);
  entry["stages"] = manifest.stages;
  entry["micro_batches"] = manifest.microBatches;
  entry["predicted_step_seconds"] = manifest.predictedStepSeconds;
  entry["predicted_peak_memory_bytes"] = manifest.predictedPeakMemoryBytes;
  entry["libraries"] = manifest.libraries;
  entry["weights"] = weightsJson(program);
  entry["plan"] = planOf(program);
  return entry;
}

/// Returns the hashes of the model and the recipe that a training was compiled
/// from.
static Json hashesJson(const Manifest &manifest) {
  Json hashes = Json::object();
  for (auto [name, hash] : {std::pair("model", &manifest.hashes.model),
                            std::pair("recipe", &manifest.hashes.recipe)})
    if (!hash->empty())
      hashes[name] = *hash;
  return hashes;
}

static Json describe(const std::vector<Program> &programs) {
  const Manifest &manifest = programs.front().manifest;
  Json root{{"model", manifest.model},
            {"compiler", compilerOf(manifest)},
            {"runtime", AUTOPAR_VERSION},
            {"abi", APRT_ABI_VERSION},
            {"target", targetName(manifest.target)},
            {"tf32", manifest.tf32},
            {"cpu_features", manifest.cpuFeatures}};
  if (Json hashes = hashesJson(manifest); !hashes.empty())
    root["hashes"] = std::move(hashes);
  for (const Program &program : programs)
    root["entries"].push_back(entryJson(program));
  return root;
}

std::string describeJson(const std::vector<Program> &programs) {
  return describe(programs).dump(2, ' ', false,
                                 Json::error_handler_t::replace) +
         "\n";
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string line(std::string title, const std::string &text) {
  title.resize(13, ' ');
  return text.empty() ? "" : title + text + "\n";
}

static std::string portsText(const char *title,
                             const std::vector<Port> &ports) {
  std::string text;
  for (const Port &port : ports)
    text += line(text.empty() ? title : "",
                 port.name + " " + describeTensor(port.dtype, port.shape));
  return text;
}

static std::string fixedInputsText(const Manifest &manifest) {
  std::string text;
  for (const FixedInput &input : manifest.fixedInputs)
    text += line(text.empty() ? "fixed" : "",
                 input.name + " = " + input.text + " of " +
                     describeTensor(input.dtype, input.shape));
  return text;
}

static std::string hyperparametersText(const Manifest &manifest) {
  std::string text;
  for (const PersistentEntry *entry : hyperparametersOf(manifest))
    text += line(text.empty() ? "at run time" : "",
                 entry->name + " = " + numberText(fillOf(*entry)) + ", " +
                     rangeText(entry->range));
  return text;
}

static std::string checksText(const Manifest &manifest) {
  std::string text;
  for (const Check &check : manifest.checks)
    text += line(text.empty() ? "checks" : "", check.message);
  return text;
}

static std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ", ") + word;
  return text;
}

static std::string meshText(const Manifest &manifest) {
  std::string text = std::to_string(manifest.worldSize());
  for (const MeshAxis &axis : manifest.mesh)
    text += (&axis == &manifest.mesh.front() ? ": " : ", ") + axis.name + "=" +
            std::to_string(axis.size);
  if (manifest.stages > 1)
    text += ", " + std::to_string(manifest.stages) + " stages";
  return text;
}

static std::string planText(const Program &program) {
  Json plan = planOf(program);
  if (!plan.is_object() || plan.empty())
    return "";
  auto text = [&](const char *key) -> std::string {
    return plan.contains(key) && plan[key].is_string()
               ? plan[key].get<std::string>()
               : "?";
  };
  return "strategy " + text("strategy") + ", of model " + text("model_hash");
}

static std::string predictedText(const Manifest &manifest) {
  char step[64];
  std::snprintf(step, sizeof(step), "%.3f ms a step%s",
                manifest.predictedStepSeconds * 1e3,
                manifest.stepsOverlap ? " of many that overlap" : "");
  double most = 0;
  for (double bytes : manifest.predictedPeakMemoryBytes)
    most = std::max(most, bytes);
  return std::string(step) +
         (most > 0 ? ", " + bytesText(most) + " on the fullest rank" : "");
}

static std::string weightsText(const Program &program) {
  std::string text;
  for (const Json &file : weightsJson(program)) {
    std::string what = file["embedded"].get<bool>()
                           ? "in this file"
                           : file["file"].get<std::string>();
    if (file.contains("bytes"))
      what += ", " + bytesText(file["bytes"].get<double>());
    if (file.contains("structure"))
      what += ", structure " + file["structure"].get<std::string>();
    what += ": " + file["state"].get<std::string>();
    if (file.contains("content"))
      what += "; compiled with content " + file["content"].get<std::string>() +
              ", which --verify-weights compares";
    text += line(text.empty() ? "weights" : "", what);
  }
  return text;
}

static std::string entryText(const Program &program) {
  const Manifest &manifest = program.manifest;
  return line("entry", manifest.entry) +
         line("program", formatHash(program.checksum)) +
         portsText("inputs", manifest.inputs) + fixedInputsText(manifest) +
         portsText("states", statesOf(manifest)) +
         hyperparametersText(manifest) +
         portsText("outputs", manifest.outputs) +
         portsText("next states", manifest.stateOutputs) +
         checksText(manifest) + line("ranks", meshText(manifest)) +
         line("plan", planText(program)) +
         line("predicted", predictedText(manifest)) +
         line("libraries", joined(manifest.libraries)) + weightsText(program);
}

static std::string hashesText(const Manifest &manifest) {
  std::string text;
  const Json hashes = hashesJson(manifest);
  for (const auto &[name, hash] : hashes.items())
    text += (text.empty() ? "" : ", ") + name + " " + hash.get<std::string>();
  return text;
}

std::string describeText(const std::vector<Program> &programs) {
  const Manifest &manifest = programs.front().manifest;
  std::string text =
      line("model", manifest.model) +
      line("versions", "compiled by " + compilerOf(manifest) +
                           ", runtime " AUTOPAR_VERSION ", ABI " +
                           std::to_string(APRT_ABI_VERSION)) +
      line("target",
           std::string(targetName(manifest.target)) +
               (manifest.tf32 ? ", matrix multiplications in tf32" : "")) +
      line("needs", joined(manifest.cpuFeatures)) +
      line("hashes", hashesText(manifest));
  for (const Program &program : programs)
    text += entryText(program);
  return text;
}

} // namespace autopar::runtime
