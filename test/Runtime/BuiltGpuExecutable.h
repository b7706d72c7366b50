//===- BuiltGpuExecutable.h - Inputs/gpu.c as an executable -----*- C++ -*-===//

#ifndef AUTOPAR_TEST_RUNTIME_BUILTGPUEXECUTABLE_H
#define AUTOPAR_TEST_RUNTIME_BUILTGPUEXECUTABLE_H

#include "BuiltExecutable.h"

#include <array>

namespace autopar::runtime {

/// The manifest of Inputs/gpu.c on one rank.
inline const char gpuText[] = R"json({
  "abi": 6, "target": "emulated", "cpu_features": [], "model": "gpu.onnx",
  "libraries": ["cublaslt", "nccl"], "mesh": [["tensor", 1]], "stages": 1,
  "micro_batches": 1,
  "weights": {"files": [{"name": "weights.bin", "bytes": 140}]},
  "communicators": [{"axes": ["tensor"], "groups": [[0]], "bytes": 168}],
  "channels": [],
  "ops": [{"name": "/gather", "kind": "all_gather", "stream": 0},
          {"name": "/matmul", "kind": "gemm", "stream": 0},
          {"name": "/increment", "kind": "kernel", "stream": 0},
          {"name": "/sum", "kind": "all_reduce", "stream": 1},
          {"name": "/ready", "kind": "event", "stream": 0},
          {"name": "/wait", "kind": "event", "stream": 1},
          {"name": "/done", "kind": "event", "stream": 1},
          {"name": "/end", "kind": "event", "stream": 0}],
  "kernels": [{"name": "increment", "threads": 32, "shared_bytes": 0,
               "scalars": 1, "buffers": [{"bytes": 168, "access": "rw"}]}],
  "inputs": [
    {"name": "x", "dtype": "f32", "shape": [6, 5],
     "dims": [{"size": 6, "step": 6, "offset": 0, "length": 6, "split": []},
              {"size": 5, "step": 5, "offset": 0, "length": 5, "split": []}],
     "stages": [{"stage": 0, "offset": 0}]}],
  "outputs": [
    {"name": "y", "dtype": "f32", "shape": [6, 7],
     "dims": [{"size": 6, "step": 6, "offset": 0, "length": 6, "split": []},
              {"size": 7, "step": 7, "offset": 0, "length": 7, "split": []}],
     "stages": [{"stage": 0, "offset": 256}]}],
  "persistent": [[
    {"name": "w", "dtype": "f32", "shape": [5, 7], "kind": "parameter",
     "file": 0, "offset": 0, "global_shape": [5, 7],
     "dims": [{"size": 5, "step": 5, "offset": 0, "length": 5,
               "split": [[0, 1, 1]]},
              {"size": 7, "step": 7, "offset": 0, "length": 7, "split": []}]},
    {"name": "w/all", "dtype": "f32", "shape": [5, 7], "kind": "setup"}]],
  "arena_bytes": [512], "setup_arena_bytes": [0], "packed_slots": [0],
  "plan": {}})json";

inline nlohmann::json gpuManifest(int ranks) {
  return manifestOnRanks(gpuText, ranks);
}

class GpuExecutable : public BuiltExecutable {
protected:
  void buildGpu(const nlohmann::json &manifest, int ranks,
                const char *define = "") {
    std::string header = define[0] ? std::string("#define ") + define : "";
    folder.write("extra.h", header + "\n");
    build("gpu.c", manifest, ranks);
    std::array<float, 35> w;
    for (size_t i = 0; i < w.size(); ++i)
      w[i] = float(i % 9) - 4;
    folder.write("weights.bin",
                 std::string(reinterpret_cast<char *>(w.data()), sizeof(w)));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i % 5) - 2;
    ASSERT_TRUE(
        writeNpz(folder.path("in.npz"), {{"x", APRT_F32, {6, 5}, x.data()}})
            .ok());
  }
  void expectSum(int ranks) {
    NamedArrays arrays;
    ASSERT_EQ(readNpz(folder.path("out.npz"), arrays).message(), "");
    const auto *y = reinterpret_cast<const float *>(arrays.at("y").data.data());
    for (size_t row = 0; row < 6; ++row)
      for (size_t column = 0; column < 7; ++column) {
        float wanted = 1;
        for (size_t k = 0; k < 5; ++k)
          wanted += x[row * 5 + k] * (float((k * 7 + column) % 9) - 4);
        EXPECT_EQ(y[row * 7 + column], wanted * float(ranks));
      }
  }

  std::array<float, 30> x;
};

} // namespace autopar::runtime

#endif // AUTOPAR_TEST_RUNTIME_BUILTGPUEXECUTABLE_H
