//===- Ports.h - Inputs and results of a run --------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_PORTS_H
#define AUTOPAR_RUNTIME_STUB_PORTS_H

#include "../core/Manifest.h"
#include "../core/Memory.h"
#include "../core/Npy.h"
#include "../session/Program.h"
#include "Options.h"
#include "Run.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// Returns a list such as `x float32[2,3], ...`, or "none".
std::string listPorts(const std::vector<Port> &ports);
/// Returns the port of that name, or null if there is none.
const Port *findPort(const std::vector<Port> &ports, const std::string &name);
/// Suggests the port with the most similar name, as the end of a sentence.
std::string meantPort(const std::vector<Port> &ports, const std::string &name);
/// Returns the shape of an array with the data of all steps, which has the
/// steps as its first dimension. If `steps` is 0, it is `shape` itself.
std::vector<int64_t> ofSteps(const std::vector<int64_t> &shape, int64_t steps);

/// Reads the arrays that --inputs names, picks the entry that --entry names or
/// whose inputs have their shapes, and checks them against it. Without any
/// array, every input is zero and the first entry is picked. arrays[i] belongs
/// to inputs[i] of the chosen manifest; where steps have data of their own it
/// has those of some steps one after the other. `states`: by name, as they
/// begin. `rows`: of a folder or a pattern; arrays of inputs whose rows it has
/// are empty.
Status loadInputs(const std::vector<Program> &programs, const Options &options,
                  size_t &chosen, std::vector<Array> &arrays,
                  NamedArrays &states, RowStream &rows);

/// Opens the rows that an evaluation reads: a file, a folder or a pattern, with
/// an array for each input.
Status loadEvaluationRows(const Manifest &manifest, const std::string &argument,
                          RowStream &rows);

/// Returns which of the manifest's outputs, gradients, trained parameters and
/// state outputs are requested. A state's output must be requested by its name,
/// because it may be large in each step, like a decoder's cache.
std::vector<bool> wantedResults(const Manifest &manifest,
                                const Options &options);

/// Checks the requested results before the run.
Status checkResults(const Manifest &manifest, const Options &options);

/// Writes the assembled results, and the parameters to `final` unless it is
/// empty. Returns the failures; the rest is written.
std::vector<std::string> writeResults(const Run &run, const std::string &final);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_PORTS_H
