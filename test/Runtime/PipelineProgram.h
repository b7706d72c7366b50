//===- PipelineProgram.h - A program of two stages --------------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_PIPELINEPROGRAM_H
#define AUTOPAR_TEST_RUNTIME_PIPELINEPROGRAM_H

namespace autopar::runtime {

/// The manifest of Inputs/pipeline.c: x [3*4] in blocks of 4 over time.
inline const char pipelineProgramText[] = R"json({
  "abi": 6, "cpu_features": [], "model": "pipeline.onnx", "libraries": [],
  "mesh": [["time", 3]], "stages": 2, "micro_batches": 3,
  "weights": {"files": []}, "communicators": [],
  "channels": [{"from_stage": 0, "to_stage": 1, "bytes": 16, "slots": 2}],
  "ops": [{"name": "/send", "kind": "send", "stream": 0},
          {"name": "/recv", "kind": "recv", "stream": 0}],
  "inputs": [{"name": "x", "dtype": "f32", "shape": [12],
    "dims": [{"size": 12, "step": 4, "offset": 0, "length": 4,
              "split": [[0, 1, 3]]}],
    "stages": [{"stage": 0, "offset": 0}]}],
  "outputs": [{"name": "y", "dtype": "f32", "shape": [12],
    "dims": [{"size": 12, "step": 4, "offset": 0, "length": 4,
              "split": [[0, 1, 3]]}],
    "stages": [{"stage": 1, "offset": 0}]}],
  "persistent": [[], []], "arena_bytes": [64, 64],
  "setup_arena_bytes": [0, 0], "packed_slots": [0, 0],
  "predicted": {"step_seconds": 0, "peak_memory_bytes": [64, 64]},
  "plan": {}})json";

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_PIPELINEPROGRAM_H
