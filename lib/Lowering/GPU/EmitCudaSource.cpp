//===- EmitCudaSource.cpp - The folder of a program in CUDA C++ -----------===//

#include "CudaSource.h"
#include "CudaText.h"
#include "autopar/Cost/TargetNames.h"
#include "autopar/Support/Output.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autopar::gpu {

static constexpr StringLiteral kData =
    R"cpp(//===- data.cpp - Files that are part of the program ---===//
//
// manifest.json says what the program is (autopar's docs/RuntimeABI.md);
// kernels.fatbin holds the kernels of kernels.cu for each architecture.
//
//===----------------------------------------------------------------------===//

#define EMBED(symbol, file)                                                    \
  asm(".section .rodata\n"                                                     \
      ".global " symbol "\n"                                                   \
      ".balign 64\n" symbol ":\n"                                              \
      ".incbin \"" file "\"\n"                                                 \
      ".byte 0\n"                                                              \
      ".previous\n")

EMBED("{0}", MANIFEST);
#ifdef FATBIN
EMBED("{1}", FATBIN);
#endif
)cpp";

static constexpr StringLiteral kCMake =
    R"cmake(# Builds the program: for GPUs with nvcc, or for the emulated device with a host
# compiler only.
#   cmake -S . -B build -DAUTOPAR_RUNTIME=FOLDER && cmake --build build
cmake_minimum_required(VERSION 3.20)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
project(program LANGUAGES C CXX)

set(AUTOPAR_RUNTIME "" CACHE PATH
  "The folder runtime/ of autopar's sources; empty: an installed autopar (CMAKE_PREFIX_PATH)")
set(AUTOPAR_DEVICE cuda CACHE STRING "cuda or emulated")
set(AUTOPAR_ARCHITECTURES 80 90 100 CACHE STRING
  "Compute capabilities that kernels are compiled for")

if(AUTOPAR_RUNTIME)
  set(AUTOPAR_RUNTIME_TESTS OFF CACHE BOOL "" FORCE)
  add_subdirectory("${AUTOPAR_RUNTIME}" runtime EXCLUDE_FROM_ALL)
else()
  find_package(autopar-runtime REQUIRED)
endif()

# The manifest names the device.
file(READ manifest.json manifest)
string(REPLACE "\"target\": \"cuda\"" "\"target\": \"${AUTOPAR_DEVICE}\"" manifest "${manifest}")
set(manifest_file ${CMAKE_CURRENT_BINARY_DIR}/manifest.json)
file(WRITE ${manifest_file}.new "${manifest}")
file(COPY_FILE ${manifest_file}.new ${manifest_file} ONLY_IF_DIFFERENT)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS manifest.json)

add_executable(program program.cpp data.cpp)
target_compile_features(program PRIVATE cxx_std_17)
target_compile_options(program PRIVATE -Wall)
target_link_libraries(program PRIVATE autopar::main)
set(embedded "MANIFEST=\"${manifest_file}\"")
set_property(SOURCE data.cpp PROPERTY OBJECT_DEPENDS ${manifest_file})

if(AUTOPAR_DEVICE STREQUAL "emulated")
  target_sources(program PRIVATE emulated.cpp)
  set_source_files_properties(emulated.cpp PROPERTIES OBJECT_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/kernels.cu)
  # Accesses are announced to the emulator through the sanitizer's hooks; a
  # barrier in the source stays one barrier in the code.
  set_source_files_properties(emulated.cpp PROPERTIES COMPILE_OPTIONS
    "-O1;-fsanitize=thread;-fno-exceptions;-ffp-contract=off")
else()
  find_program(NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
    PATH_SUFFIXES bin REQUIRED)
  set(architectures)
  foreach(architecture IN LISTS AUTOPAR_ARCHITECTURES)
    list(APPEND architectures
      -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET AUTOPAR_ARCHITECTURES -1 newest)
  list(APPEND architectures -gencode arch=compute_${newest},code=compute_${newest})
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/kernels.fatbin)
  add_custom_command(OUTPUT ${fatbin}
    COMMAND ${NVCC} -std=c++17 -O3 -Werror all-warnings ${architectures} -fatbin
            -o ${fatbin} ${CMAKE_CURRENT_SOURCE_DIR}/kernels.cu
    DEPENDS kernels.cu COMMENT "Compiling kernels.cu" VERBATIM)
  list(APPEND embedded "FATBIN=\"${fatbin}\"")
  set_property(SOURCE data.cpp APPEND PROPERTY OBJECT_DEPENDS ${fatbin})
endif()
set_property(SOURCE data.cpp PROPERTY COMPILE_DEFINITIONS ${embedded})
)cmake";

/// `files`: what --weights has to find.
static std::string readme(StringRef model, ArrayRef<std::string> files) {
  std::string text = "# " + commentText(model) + R"( in CUDA C++

Written by `autopar compile --emit cuda-source`: to read, and to adapt.

| file | what it is |
|---|---|
| kernels.cu | the kernels, one function for each group of ONNX nodes that is computed together |
| program.cpp | what the host does: calls of the runtime, with the ONNX node of each |
| manifest.json | inputs, outputs, weights, communicators, sizes of memory, the plan |
| data.cpp | puts manifest and compiled kernels into the executable |
| emulated.cpp | the kernels for the emulated device |

## Build
The runtime (files, ranks, streams, cuBLASLt, cuDNN, NCCL) is autopar's: its folder `runtime/`,
or an installed autopar (`-DCMAKE_PREFIX_PATH=...` in place of `AUTOPAR_RUNTIME`).

    cmake -S . -B build -DAUTOPAR_RUNTIME=.../autopar/runtime
    cmake --build build

needs nvcc. Without a GPU and without nvcc the same sources run on the emulated device, which checks
every access of every thread:

    cmake -S . -B build-emulated -DAUTOPAR_RUNTIME=.../autopar/runtime -DAUTOPAR_DEVICE=emulated
    cmake --build build-emulated

## Run
`build/program --help` tells the options.

    build/program --weights FOLDER --inputs in.npz --outputs out.npz
)";
  if (!files.empty()) {
    text += "\nFOLDER holds ";
    text += llvm::join(files, ", ") + ".\n";
  }
  text += R"(
A kernel that you change keeps its name and parameters; program.cpp launches it with the number of blocks
written there, and manifest.json has its threads per block and the bytes behind each pointer.
)";
  return text;
}

static LogicalResult write(Operation *at, StringRef folder, StringRef name,
                           StringRef text) {
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  llvm::Error error = writeFile(path, text);
  if (!error)
    return success();
  return at->emitError() << llvm::toString(std::move(error));
}

/// The manifest for a GPU, a line per key. Any host can compile the program.
static std::string readable(llvm::json::Object manifest) {
  manifest["target"] = kTargetCuda;
  manifest["cpu_features"] = llvm::json::Array();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::formatv("{0:2}", llvm::json::Value(std::move(manifest))) << "\n";
  return text;
}

static std::vector<std::string>
weightFiles(const llvm::json::Object &manifest) {
  std::vector<std::string> names;
  const llvm::json::Object *weights = manifest.getObject("weights");
  const llvm::json::Array *files =
      weights ? weights->getArray("files") : nullptr;
  if (files)
    for (const llvm::json::Value &file : *files)
      if (auto name = file.getAsObject()->getString("name"))
        names.push_back("`" + commentText(llvm::sys::path::filename(*name)) +
                        "`");
  return names;
}

LogicalResult emitCudaSource(HostProgram &program,
                             mlir::gpu::GPUModuleOp kernels,
                             ArrayRef<ProgramKernel> rows,
                             ArrayRef<std::string> functions,
                             StringRef manifest, StringRef folder) {
  Operation *at = program.module;
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return at->emitError("cannot make the folder '")
           << folder << "': " << code.message();
  auto parsed = llvm::json::parse(manifest);
  if (!parsed)
    return at->emitError("the manifest does not parse: ")
           << llvm::toString(parsed.takeError());
  llvm::json::Object &object = *parsed->getAsObject();
  std::string kernelText, hostText, emulatedText;
  llvm::raw_string_ostream kernelStream(kernelText), hostStream(hostText),
      emulatedStream(emulatedText);
  if (failed(printKernels(kernels, rows, kernelStream)))
    return failure();
  printHostProgram(program, functions, manifest, hostStream);
  printEmulatedTable(kernels, rows, emulatedStream);
  std::string dataText =
      llvm::formatv(kData.data(), abi::nameOf<aprt_program_manifest>,
                    abi::nameOf<aprt_program_device_code>);
  std::string readmeText = readme(object.getString("model").value_or("A model"),
                                  weightFiles(object));
  const std::pair<StringRef, std::string> files[] = {
      {"kernels.cu", kernelText},
      {"program.cpp", hostText},
      {"emulated.cpp", emulatedText},
      {"data.cpp", dataText},
      {"CMakeLists.txt", kCMake.str()},
      {"README.md", readmeText},
      {"manifest.json", readable(std::move(object))}};
  for (const auto &[name, text] : files)
    if (failed(write(at, folder, name, text)))
      return failure();
  return success();
}

} // namespace autopar::gpu
