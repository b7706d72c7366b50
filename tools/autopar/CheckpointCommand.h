//===- CheckpointCommand.h - What autopar checkpoint is about ---*- C++ -*-===//

#ifndef AUTOPAR_TOOLS_AUTOPAR_CHECKPOINTCOMMAND_H
#define AUTOPAR_TOOLS_AUTOPAR_CHECKPOINTCOMMAND_H

#include "Commands.h"
#include "checkpoint/Checkpoint.h"

namespace autopar::driver {

struct CheckpointOptions {
  std::string place; // a checkpoint, a folder of them, or a --final file
  std::string against, output, model;
  bool averages = false, allowLinkedWeights = false;
};

/// Opens a checkpoint, or the newest whole one of a folder; warns of newer ones
/// that are not whole, which `doubts` tells.
runtime::Status openWhole(const std::string &path,
                          runtime::Checkpoint &checkpoint,
                          std::vector<std::string> &doubts);

/// Reads all of a state, as many bytes as it has.
runtime::Status readWhole(const runtime::Checkpoint &checkpoint,
                          const runtime::StateBlock &state, char *to);

/// Writes parameters and running statistics by their names in the model, as
/// safetensors or into a copy of the model. Returns the exit code.
int exportTensors(const CheckpointOptions &options);

} // namespace autopar::driver

#endif // AUTOPAR_TOOLS_AUTOPAR_CHECKPOINTCOMMAND_H
