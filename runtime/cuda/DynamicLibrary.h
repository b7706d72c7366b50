//===- DynamicLibrary.h - Finding a CUDA library at run time ----*- C++ -*-===//
//
// cuBLASLt, cuDNN and NCCL are opened only by programs for a GPU. They are
// looked for where AUTOPAR_CUDA_PATH says (folders separated by ':': a toolkit,
// a folder of libraries, or the site-packages of PyPI wheels), then where the
// system looks (LD_LIBRARY_PATH, ld.so.conf), then in /usr/local/cuda.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CUDA_DYNAMICLIBRARY_H
#define AUTOPAR_RUNTIME_CUDA_DYNAMICLIBRARY_H

#include "../core/Status.h"

#include <string>
#include <string_view>
#include <vector>

namespace autopar::runtime {

/// A library that a program needs, in the words of its error messages.
struct LibraryRequest {
  const char *name;                 // "cuBLASLt"
  std::vector<const char *> files;  // "libcublasLt.so.13", ..., best first
  std::vector<const char *> wheels; // folders of wheels: "cublas"
  const char *wanted;               // "12.0 or newer"
  const char *install;              // "pip install nvidia-cublas, or ..."
};

/// Fails for a library of a CUDA release whose major version is newer than the
/// driver's; both as cuDriverGetVersion counts, 0: not known.
Status checkLibraryDriver(const std::string &library,
                          const std::string &install, int libraryVersion,
                          int driverVersion);

/// An open library; it stays loaded, as CUDA libraries must.
class DynamicLibrary {
public:
  /// Opens the first file that is found. A failure names the library, what is
  /// wanted, what was tried and how to install it.
  Status open(const LibraryRequest &request);
  /// The address of a function, null if the library lacks it.
  void *find(const char *function) const;
  /// A failure about what was found: "cuBLASLt 11.2 of PATH ...: WHAT".
  Status refuse(const std::string &what) const;
  /// checkLibraryDriver of this one.
  Status checkDriver(int libraryVersion, int driverVersion) const;
  /// The read-only memory that holds the library's `function`, and its texts
  /// near it; empty if it is not found.
  static std::string_view imageOf(const void *function);
  /// The file that was opened, with its folder where that is known.
  const std::string &file() const { return path; }

private:
  LibraryRequest request;
  void *handle = nullptr;
  std::string path;
};

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CUDA_DYNAMICLIBRARY_H
