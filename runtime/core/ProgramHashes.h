//===- ProgramHashes.h - What a training is made of -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_PROGRAMHASHES_H
#define AUTOPAR_RUNTIME_CORE_PROGRAMHASHES_H

#include <string>

namespace autopar::runtime {

class JsonReader;

/// Hashes of what a training is made of, 16 digits each; empty: not known.
struct ProgramHashes {
  std::string model;  // its graph, without the values of weights
  std::string recipe; // what it says, without its layout
};

/// Reads an object of hashes by the names of what they are of. Null, or one
/// that is missing: it is not known.
void parseHashes(const JsonReader &json, ProgramHashes &hashes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_PROGRAMHASHES_H
