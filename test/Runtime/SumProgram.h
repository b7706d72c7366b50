//===- SumProgram.h - The program of Inputs/program.c -----------*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_SUMPROGRAM_H
#define AUTOPAR_TEST_RUNTIME_SUMPROGRAM_H

#include "BuiltExecutable.h"

#include <array>

namespace autopar::runtime {

/// The manifest of Inputs/program.c on one rank.
inline const char sumProgramText[] = R"json({
  "abi": 6, "cpu_features": ["sse2"], "model": "program.onnx",
  "libraries": ["onednn"], "mesh": [["data", 1]], "stages": 1,
  "micro_batches": 1,
  "weights": {"files": [{"name": "weights.bin", "bytes": 140}]},
  "communicators": [{"axes": ["data"], "groups": [[0]], "bytes": 168}],
  "channels": [],
  "ops": [{"name": "/gather", "kind": "all_gather", "stream": 0},
          {"name": "/scale", "kind": "kernel", "stream": 0},
          {"name": "/matmul", "kind": "gemm", "stream": 0},
          {"name": "/sum", "kind": "all_reduce", "stream": 0}],
  "inputs": [
    {"name": "x", "dtype": "f32", "shape": [6, 5],
     "dims": [{"size": 6, "step": 6, "offset": 0, "length": 6, "split": []},
              {"size": 5, "step": 5, "offset": 0, "length": 5, "split": []}],
     "stages": [{"stage": 0, "offset": 0}]},
    {"name": "mode", "dtype": "i32", "shape": [1],
     "dims": [{"size": 1, "step": 1, "offset": 0, "length": 1, "split": []}],
     "stages": [{"stage": 0, "offset": 128}]}],
  "outputs": [
    {"name": "y", "dtype": "f32", "shape": [6, 7],
     "dims": [{"size": 6, "step": 6, "offset": 0, "length": 6, "split": []},
              {"size": 7, "step": 7, "offset": 0, "length": 7, "split": []}],
     "stages": [{"stage": 0, "offset": 192}]}],
  "persistent": [[
    {"name": "w", "dtype": "f32", "shape": [5, 7], "kind": "parameter",
     "file": 0, "offset": 0, "global_shape": [5, 7],
     "dims": [{"size": 5, "step": 5, "offset": 0, "length": 5,
               "split": [[0, 1, 1]]},
              {"size": 7, "step": 7, "offset": 0, "length": 7, "split": []}]},
    {"name": "w/all", "dtype": "f32", "shape": [5, 7], "kind": "setup"}]],
  "arena_bytes": [512], "setup_arena_bytes": [0], "packed_slots": [1],
  "predicted": {"step_seconds": 0.25, "peak_memory_bytes": [99]},
  "plan": {}})json";

inline nlohmann::json programManifest(int ranks) {
  return manifestOnRanks(sumProgramText, ranks);
}

/// The program as an executable, with its weights and inputs.
class SumProgram : public BuiltExecutable {
protected:
  void writeWeights() {
    std::string bytes;
    for (int i = 0; i < 35; ++i) {
      float value = float(i % 9) - 4;
      bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    }
    folder.write("weights.bin", bytes);
  }
  void writeInputs(int mode) {
    for (int i = 0; i < 30; ++i)
      x[i] = float(i % 5) - 2;
    int32_t modeValue = mode;
    ASSERT_TRUE(
        writeNpz(folder.path("in.npz"), {{"x", APRT_F32, {6, 5}, x.data()},
                                         {"mode", APRT_I32, {1}, &modeValue}})
            .ok());
  }
  void buildProgram(int ranks) {
    build("program.c", programManifest(ranks), ranks);
    writeWeights();
    writeInputs(0);
  }

  std::array<float, 30> x;
};

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_SUMPROGRAM_H
