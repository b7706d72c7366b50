//===- Planted.h - A host that is not as it should be -----------*- C++ -*-===//
//
// AUTOPAR_EMULATED_PLANT=NAME=NUMBER,... gives the emulated host the driver,
// the libraries and the failures that real hosts were found to have.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_EMULATED_PLANTED_H
#define AUTOPAR_RUNTIME_EMULATED_PLANTED_H

#include "../core/Status.h"

#include <cstdint>

namespace autopar::runtime::emulated {

/// X(kind, name, what its number says).
#define APEMU_PLANTED(X)                                                       \
  X(driver, "driver", "the driver's CUDA version: 12040 is 12.4")              \
  X(image, "image", "the CUDA error that loading compiled kernels ends with")  \
  X(ptx, "ptx", "the CUDA error that loading PTX ends with")                   \
  X(ncclCuda, "nccl-cuda", "the CUDA version that NCCL is made for")           \
  X(cublasHeuristic, "cublaslt-heuristic",                                     \
    "the status of cuBLASLt's heuristics; 0: they return none")                \
  X(cublasFirst, "cublaslt-first",                                             \
    "the state of the first algorithm that the heuristics return")             \
  X(cublasStrided, "cublaslt-strided",                                         \
    "1: cuBLASLt knows strided batches alone, as older ones do; "              \
    "2: its heuristics refuse others")                                         \
  X(cudnnCreate, "cudnn-create", "the status of making a handle")              \
  X(cudnnGraph, "cudnn-graph", "the status of a convolution's graph")          \
  X(cudnnHeuristic, "cudnn-heuristic",                                         \
    "the status of a convolution's heuristics; 0: they return none")           \
  X(cudnnPlan, "cudnn-plan", "the status of a convolution's plans")            \
  X(cudnnFirstPlan, "cudnn-first-plan", "of its first candidate's alone")      \
  X(cudnnGrouped, "cudnn-grouped",                                             \
    "the status of graphs of grouped convolutions")                            \
  X(cudnnFused, "cudnn-fused",                                                 \
    "the status of plans that are compiled at run time: 3008, no NVRTC")       \
  X(cudnnExecute, "cudnn-execute", "the status of running a convolution")

enum class Planted {
#define APEMU_KIND(kind, name, what) kind,
  APEMU_PLANTED(APEMU_KIND)
#undef APEMU_KIND
      count
};

/// Whether it was asked for; its number.
bool isPlanted(Planted kind);
int64_t planted(Planted kind);

/// Asks for these in place of those before, as the environment variable does;
/// "": none.
Status plant(const std::string &text);
/// Why the environment's text is none.
const Status &plantedProblem();

} // namespace autopar::runtime::emulated

#endif // AUTOPAR_RUNTIME_EMULATED_PLANTED_H
