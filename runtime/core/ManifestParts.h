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

// This is more than any program has, and products of a few of them fit.
constexpr int64_t maxBytes = int64_t(1) << 50;
constexpr int64_t maxCount = int64_t(1) << 24;

/// Parses communicators, channels, ops, kernels and weight files. The manifest
/// must have its mesh, stages and target.
void parseTables(const JsonReader &root, Manifest &manifest);

/// Parses inputs, outputs, checks, fixed inputs and persistent tensors. The
/// manifest must also have its tables and the sizes of its arenas.
void parseTensors(const JsonReader &root, Manifest &manifest);

/// Parses the metrics. The manifest must have its outputs.
void parseEvaluation(const JsonReader &root, Manifest &manifest);

/// Parses the hashes of the program's sources, and the work of a step.
void parseRun(const JsonReader &root, Manifest &manifest);

/// Parses the fields that only a hyperparameter has.
void parseHyperparameter(const JsonReader &json, PersistentEntry &entry);

/// Returns the elements of an array with one element per stage.
std::vector<JsonReader> perStage(const JsonReader &json, int stages);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_MANIFESTPARTS_H
