//===- RunOrigin.h - What ran -----------------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_RUNORIGIN_H
#define AUTOPAR_RUNTIME_STUB_RUNORIGIN_H

#include "Run.h"

#include <nlohmann/json.hpp>

namespace autopar::runtime {

/// Returns versions, hashes of model and recipe, and the plan. They are the
/// same for the same program and ranks, regardless of time and place.
nlohmann::ordered_json originOf(const Run &run);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_RUNORIGIN_H
