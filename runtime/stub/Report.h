//===- Report.h - What a run measured ---------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_REPORT_H
#define AUTOPAR_RUNTIME_STUB_REPORT_H

#include "Run.h"

#include <string>

namespace autopar::runtime {

/// The report of --json.
std::string reportJson(const Run &run);

/// A few lines for a person.
std::string reportSummary(const Run &run);

/// The Chrome trace of --trace: a process per rank, a thread per stream.
std::string traceJson(const Run &run);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_REPORT_H
