//===- Ports.h - Inputs and outputs of a run --------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_PORTS_H
#define AUTOPAR_RUNTIME_STUB_PORTS_H

#include "../core/Manifest.h"
#include "../core/Memory.h"
#include "../core/Npy.h"
#include "Options.h"
#include "Program.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// Reads the arrays that --inputs names, picks the entry that --entry names or
/// whose inputs have their shapes, and checks them against it. Without any
/// array, every input is zero and the first entry is picked. arrays[i] belongs
/// to inputs[i] of the chosen manifest.
Status loadInputs(const std::vector<Program> &programs, const Options &options,
                  size_t &chosen, std::vector<Array> &arrays);

/// Which outputs --outputs names.
std::vector<bool> wantedOutputs(const Manifest &manifest,
                                const std::vector<std::string> &arguments);

/// Checks --outputs before the run.
Status checkOutputs(const Manifest &manifest,
                    const std::vector<std::string> &arguments);

/// Writes the assembled outputs; buffers[i] belongs to manifest.outputs[i].
Status writeOutputs(const Manifest &manifest,
                    const std::vector<std::string> &arguments,
                    const std::vector<Buffer> &buffers);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_PORTS_H
