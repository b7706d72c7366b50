//===- Program.h - The program appended to the stub -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_PROGRAM_H
#define AUTOPAR_RUNTIME_STUB_PROGRAM_H

#include "../core/Manifest.h"

#include <string>

namespace autopar::runtime {

/// A loaded program. It stays loaded until the process ends.
struct Program {
  Manifest manifest;
  const aprt_stage_functions *stages = nullptr;
  std::string folder; // of the executable
};

/// Finds the program at the end of this executable, checks it and loads it.
Status loadProgram(Program &program);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_PROGRAM_H
