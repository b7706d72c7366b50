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

/// `x float32[2,3], ...`, or "none".
std::string listPorts(const std::vector<Port> &ports);
/// Null if none has the name.
const Port *findPort(const std::vector<Port> &ports, const std::string &name);
/// The nearest of the ports' names, as the end of a sentence.
std::string meantPort(const std::vector<Port> &ports, const std::string &name);
/// With data of their own the arrays of all steps are one.
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

/// Which of the manifest's outputs, gradients, trained parameters and state
/// outputs are asked for. A state's output only by its name: there may be as
/// much of it in each step as a decoder's cache holds.
std::vector<bool> wantedResults(const Manifest &manifest,
                                const Options &options);

/// Checks what is asked for before the run.
Status checkResults(const Manifest &manifest, const Options &options);

/// Writes the assembled results, the parameters to `final` unless it is empty.
/// What failed; the rest is written.
std::vector<std::string> writeResults(const Run &run, const std::string &final);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_PORTS_H
