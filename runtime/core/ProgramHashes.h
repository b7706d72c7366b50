//===- ProgramHashes.h - What a training is made of -------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_PROGRAMHASHES_H
#define AUTOPAR_RUNTIME_CORE_PROGRAMHASHES_H

#include <string>

namespace autopar::runtime {

class JsonReader;

/// The hashes of the model and recipe of a training, 16 digits each. A hash is
/// empty if it is not known.
struct ProgramHashes {
  std::string model;  // its graph, without the values of weights
  std::string recipe; // what it says, without its layout
};

/// Reads an object of hashes by name. A hash that is null or missing is not
/// known.
void parseHashes(const JsonReader &json, ProgramHashes &hashes);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_PROGRAMHASHES_H
