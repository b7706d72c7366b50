//===- Program.h - The programs of an executable ----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_PROGRAM_H
#define AUTOPAR_RUNTIME_SESSION_PROGRAM_H

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
  int descriptor = -1; // of its bytes, while it is loaded
};

/// Finds the programs at the end of an executable file, checks them, and loads
/// them in the order in which they were compiled. There is at least one.
Status loadPrograms(const std::string &path, std::vector<Program> &programs);

/// Loads the programs of the running executable, or the one that is linked in.
Status loadOwnPrograms(std::vector<Program> &programs);

/// Checks that there are programs for `ranks` ranks. The failure lists the
/// available numbers of ranks.
Status checkRanks(const std::vector<Program> &programs, int64_t ranks);

/// Unloads a program. A program that is linked in stays.
void unloadProgram(Program &program);

/// Keeps these programs of the list, in the order of their numbers, and unloads
/// the others. It checks that this host can run the kept ones.
Status keepPrograms(std::vector<Program> &programs,
                    const std::vector<size_t> &numbers);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_SESSION_PROGRAM_H
