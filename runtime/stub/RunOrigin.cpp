//===- RunOrigin.cpp - What ran -------------------------------------------===//

#include "RunOrigin.h"

#include "Describe.h"
#include "autopar/version.h"

namespace autopar::runtime {

/// Returns the number of hosts. Every host is assumed to have as many ranks as
/// this one.
static int hostsOf(const Run &run) {
  int onThis = std::max(run.place.localSize, 1);
  return run.sharesMemory ? 1 : (run.worldSize() + onThis - 1) / onThis;
}

nlohmann::ordered_json originOf(const Run &run) {
  const Manifest &manifest = run.program.manifest;
  nlohmann::ordered_json origin = {{"compiler", manifest.compiler},
                                   {"runtime", AUTOPAR_VERSION},
                                   {"model", manifest.model}};
  auto add = [&](const char *key, const std::string &text) {
    if (!text.empty())
      origin[key] = text;
  };
  add("model_hash", manifest.hashes.model);
  add("recipe_hash", manifest.hashes.recipe);
  add("target", targetName(manifest.target));
  origin["ranks"] = run.worldSize();
  origin["hosts"] = hostsOf(run);
  add("strategy", manifest.strategy);
  origin["mesh"] = nlohmann::ordered_json::object();
  for (const MeshAxis &axis : manifest.mesh)
    origin["mesh"][axis.name] = axis.size;
  origin["stages"] = manifest.stages;
  origin["micro_batches"] = manifest.microBatches;
  return origin;
}

} // namespace autopar::runtime
