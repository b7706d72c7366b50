//===- Program.h - The program appended to the stub -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_PROGRAM_H
#define AUTOPAR_RUNTIME_STUB_PROGRAM_H

#include "../core/CompiledFiles.h"
#include "../core/Manifest.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// A loaded program: one entry of the executable.
struct Program {
  Manifest manifest;
  const char *manifestText = nullptr;
  const aprt_stage_functions *stages = nullptr;
  const void *deviceCode = nullptr; // kernels of a GPU; null: none
  const void *devicePtx = nullptr;  // for a driver that refuses that
  uint64_t checksum = 0;
  WeightHome home;
  void *handle = nullptr;
  int descriptor = -1; // while programs are loaded
};

/// Finds the programs at the end of this executable, checks and loads them, in
/// the order in which they were compiled; or the one that is linked in. There
/// is one at least.
Status loadPrograms(std::vector<Program> &programs);

/// Unloads all but `chosen`, which stays until the process ends, and checks
/// that this host can run it.
Status keepProgram(std::vector<Program> &programs, size_t chosen);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_PROGRAM_H
