//===- Report.h - What a run measured ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_REPORT_H
#define AUTOPAR_RUNTIME_STUB_REPORT_H

#include "Run.h"

#include <string>

namespace autopar::runtime {

/// Returns the report of --json.
std::string reportJson(const Run &run);

/// Returns a summary of a few lines for a person.
std::string reportSummary(const Run &run);

/// Returns the Chrome trace of --trace, which has a process per rank and a
/// thread per stream.
std::string traceJson(const Run &run);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_REPORT_H
