//===- OutputFile.h - Where results are written -----------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_FILES_OUTPUTFILE_H
#define AUTOPAR_RUNTIME_FILES_OUTPUTFILE_H

#include "../core/Status.h"

#include <cstdint>
#include <string>

namespace autopar::runtime {

/// What stands, or will stand, where a path leads.
struct OutputPlace {
  enum Kind {
    Regular,   // a file, or nothing yet: written beside, then renamed
    Device,    // a device, pipe or socket: written through
    Descriptor // this process's own, as stdout: written through
  };
  Kind kind = Regular;
  std::string path;    // after links; of Regular and Device
  int descriptor = -1; // of Descriptor
  bool isStdout() const { return kind == Descriptor && descriptor == 1; }
};

/// Follows links. `-` and /dev/stdout are this process's stdout. A folder is a
/// failure.
Status findOutput(const std::string &path, OutputPlace &place);

/// Whether `path` is written to stdout, whose other text belongs on stderr
/// then.
bool goesToStdout(const std::string &path);

/// A file that appears under its name only when it is complete, with the
/// permissions of the one that it replaces; or a device, pipe or descriptor,
/// which is written through and stays what it is.
class OutputFile {
public:
  OutputFile() = default;
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;
  ~OutputFile();

  /// A program may be executed by all who may read it.
  Status open(const std::string &path, bool isProgram = false);
  Status write(const void *data, int64_t bytes);
  /// Moves the finished file into place. `isDurable`: once its bytes are on the
  /// disk; its name is there once its folder is synchronized.
  Status commit(bool isDurable = false);

  int64_t position() const { return written; }

private:
  Status openBeside(bool isProgram);

  int descriptor = -1;
  int64_t written = 0;
  std::string givenPath;
  OutputPlace place;
  std::string temporaryPath; // of a regular file
};

/// Writes `text` as the whole of `path`.
Status writeWhole(const std::string &path, const std::string &text,
                  bool isDurable = false);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_FILES_OUTPUTFILE_H
