//===- Parameters.h - Reading a rank's weights ------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_PARAMETERS_H
#define AUTOPAR_RUNTIME_CORE_PARAMETERS_H

#include "File.h"
#include "Manifest.h"
#include "Safetensors.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// The files that hold a program's weights. Each rank opens its own.
class WeightFiles {
public:
  /// `folder` is the executable's. `override` is --weights (empty: none): a
  /// safetensors file, the file or folder that holds the manifest's files.
  Status open(const Manifest &manifest, const std::string &folder,
              const std::string &override);

  /// Reads these intervals of a parameter into `to`, densely, with zeros for
  /// positions outside it.
  Status read(const PersistentEntry &entry,
              const std::vector<Interval> &intervals, void *to);
  /// Nothing is read any more.
  void close() { *this = WeightFiles(); }

private:
  Status openFile(const WeightFileEntry &entry, const std::string &path);
  Status locate(const PersistentEntry &entry, FileReader *&file,
                int64_t &offset);

  std::vector<FileReader> files; // by index in the manifest
  bool isSafetensors = false;    // files has one element then
  SafetensorsIndex index;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_PARAMETERS_H
