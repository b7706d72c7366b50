//===- CompiledFiles.h - The files a program was compiled from --*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_COMPILEDFILES_H
#define AUTOPAR_RUNTIME_CORE_COMPILEDFILES_H

#include "../files/FileReader.h"
#include "Manifest.h"

#include <string>

namespace autopar::runtime {

/// The bytes of weights that the compiler wrote itself. They are in the
/// executable, or in a file beside it that ends with the same hash.
struct MadeWeights {
  bool isKnown = false;
  int64_t offset = 0; // in the executable; 0: beside it
  int64_t size = 0;
  uint64_t content = 0;

  bool isEmbedded() const { return isKnown && offset > 0; }
};

/// The last bytes of a file of made weights, after `size` others.
struct MadeWeightsEnd {
  char magic[8]; // "AUTOPARW"
  uint64_t content;
};

/// The location of a program's own files.
struct WeightHome {
  std::string folder; // of the executable
  MadeWeights made = {};
  std::string program = "/proc/self/exe";
};

/// Returns the path of a file of the manifest.
std::string pathOf(const WeightFileEntry &entry, const WeightHome &home);

/// Opens a file of the manifest at `path`. The file must be large enough for
/// its parameters.
Status openWeightFile(const WeightFileEntry &entry, const WeightHome &home,
                      const std::string &path, FileReader &file);

/// Checks by size and structure that the file is the one that the program was
/// compiled with. The failure names the difference.
Status checkUnchanged(const Manifest &manifest, size_t index,
                      const WeightHome &home, const FileReader &file);

/// Checks the same by all bytes of the file.
Status checkContent(const WeightFileEntry &entry, const WeightHome &home,
                    const FileReader &file);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_COMPILEDFILES_H
