//===- WeightFiles.h - Reading a rank's weights -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_WEIGHTFILES_H
#define AUTOPAR_RUNTIME_CORE_WEIGHTFILES_H

#include "../files/FileReader.h"
#include "CompiledFiles.h"
#include "NamedWeights.h"

#include <string>
#include <vector>

namespace autopar::runtime {

/// The files that hold a program's weights: those that it was compiled from, or
/// those of --weights. They are opened before the ranks are forked and shared
/// by them, so that all ranks read the same file even if its path changes.
class WeightFiles {
public:
  /// Opens the files. `given` is the value of --weights, a file or a folder, or
  /// empty. If it names tensors (ONNX, safetensors), parameters are found by
  /// name and must have the same type and shape. Copies of compiled files
  /// replace these. The compiled files must be unchanged in size and structure;
  /// the model's own may be missing if it holds no parameter.
  Status open(const Manifest &manifest, const WeightHome &home,
              const std::string &given);

  /// Checks all bytes of all files against those that were compiled.
  Status verify();

  /// Reads these intervals of a parameter into `to`, densely, with zeros for
  /// positions outside it.
  Status read(const PersistentEntry &entry,
              const std::vector<Interval> &intervals, void *to);
  /// Returns the stamps of the opened files. When every rank has read,
  /// FileStamp::check compares them to verify that all ranks read the same
  /// file.
  std::vector<FileStamp> stamps() const;
  /// Lists contents of --weights that are not read although they may be
  /// intended: tensors that no parameter has, and files beside the model's own.
  /// If an export folded a batch norm into the weights before it, the file has
  /// running statistics, and its weights do not fit a program without the norm.
  std::vector<std::string> doubts() const;
  /// Closes the files; nothing is read afterwards.
  void close() { *this = WeightFiles(); }

private:
  Status openGiven(const std::string &path);
  Status takeCopies(const std::string &path, bool isFolder);
  Status openCompiled(int file);
  Status locate(const PersistentEntry &entry, WeightBytes &where);

  const Manifest *manifest = nullptr;
  WeightHome home;
  std::string given, beside;     // a file that is not read
  std::vector<FileReader> files; // by index in the manifest, once opened
  std::vector<bool> isOpen;
  std::vector<bool> isCopy; // that was given
  NamedWeights named;
  std::vector<FileStamp> opened; // of `files`
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_WEIGHTFILES_H
