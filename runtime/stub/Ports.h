//===- Ports.h - Inputs and outputs of a run --------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_STUB_PORTS_H
#define AUTOPAR_RUNTIME_STUB_PORTS_H

#include "../core/Manifest.h"
#include "../core/Memory.h"
#include "../core/Npy.h"
#include "Options.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// Reads the arrays that --inputs names and checks them against the program.
/// Without any, every input is zero. arrays[i] belongs to manifest.inputs[i].
Status loadInputs(const Manifest &manifest,
                  const std::vector<std::string> &arguments,
                  std::vector<Array> &arrays);

/// Checks --outputs before the run.
Status checkOutputs(const Manifest &manifest,
                    const std::vector<std::string> &arguments);

/// Writes the assembled outputs; buffers[i] belongs to manifest.outputs[i].
Status writeOutputs(const Manifest &manifest,
                    const std::vector<std::string> &arguments,
                    const std::vector<Buffer> &buffers);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_STUB_PORTS_H
