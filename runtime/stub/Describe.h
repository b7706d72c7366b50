//===- Describe.h - What an executable says about itself --------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_DESCRIBE_H
#define AUTOPAR_RUNTIME_STUB_DESCRIBE_H

#include "../session/Program.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// Returns the name that --describe writes: "cpu".
const char *targetName(Target target);

/// Returns the line of --version.
std::string versionText(const std::vector<Program> &programs);

/// Returns the text of --describe for a person: first what all entries share,
/// then each entry.
std::string describeText(const std::vector<Program> &programs);

/// Returns the same for programs to read, with complete plans.
std::string describeJson(const std::vector<Program> &programs);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_DESCRIBE_H
