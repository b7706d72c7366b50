//===- ManifestParts.h - The parts of a manifest ----------------*- C++ -*-===//
//
// Each reads a part of the JSON into the manifest; what is wrong is a failure
// of the reader.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CORE_MANIFESTPARTS_H
#define AUTOPAR_RUNTIME_CORE_MANIFESTPARTS_H

#include "JsonReader.h"
#include "Manifest.h"

namespace autopar::runtime {

// More than any program has; products of a few of them fit.
constexpr int64_t maxBytes = int64_t(1) << 50;
constexpr int64_t maxCount = int64_t(1) << 24;

/// Communicators, channels, ops, kernels and weight files. The manifest has its
/// mesh, stages and target.
void parseTables(const JsonReader &root, Manifest &manifest);

/// Inputs, outputs, checks, fixed inputs and persistent tensors. The manifest
/// has its tables and the sizes of its arenas, too.
void parseTensors(const JsonReader &root, Manifest &manifest);

/// The metrics; the manifest has its outputs.
void parseEvaluation(const JsonReader &root, Manifest &manifest);

/// Hashes of what the program is made of, and what a step computes.
void parseRun(const JsonReader &root, Manifest &manifest);

/// The rest of a state of that role.
void parseHyperparameter(const JsonReader &json, PersistentEntry &entry);

/// An array with one element per stage.
std::vector<JsonReader> perStage(const JsonReader &json, int stages);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_MANIFESTPARTS_H
