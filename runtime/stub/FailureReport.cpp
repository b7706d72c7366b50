//===- FailureReport.cpp - How a program failed, for its driver -----------===//

#include "FailureReport.h"

#include "../files/OutputFile.h"
#include "Describe.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

namespace autopar::runtime {

void reportFailure(const Run &run, RunPhase phase, const std::string &message) {
  const char *path = std::getenv("AUTOPAR_FAILURE");
  if (!path || !run.place.isAlone())
    return;
  nlohmann::json told = {{"message", message}, {"rank", -1}, {"steps", 0}};
  told["has_ended"] = phase == RunPhase::Telling;
  if (phase != RunPhase::Preparing) {
    told["target"] = targetName(run.program.manifest.target);
    told["ranks"] = run.worldSize();
    told["rank"] = run.firstFailure().load();
    told["steps"] = run.stepsTaken();
  }
  // The driver does without it if it cannot be written.
  (void)writeWhole(path, told.dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace));
}

} // namespace autopar::runtime
