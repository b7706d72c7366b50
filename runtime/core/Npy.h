//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_NPY_H
#define AUTOPAR_RUNTIME_CORE_NPY_H

#include "ArrayBytes.h"
#include "DataType.h"
#include "Status.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace autopar::runtime {

class FileReader;

/// A dense row-major array in memory.
struct Array {
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape;
  ArrayBytes data;
};

/// The header of a .npy file.
struct NpyHeader {
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape;
  int64_t dataOffset = 0;
  int64_t dataBytes = 0;
};

/// Parses the header at the start of a .npy file's bytes. `what` names the
/// array in messages. NumPy has no bf16: two bytes of void stand for it.
Status parseNpyHeader(const char *bytes, int64_t size, const std::string &what,
                      NpyHeader &header);

/// Reads the header of an open .npy file, whose size must agree with it.
Status readNpyHeader(FileReader &file, NpyHeader &header);

/// Returns the header bytes for an array of this type.
std::string formatNpyHeader(aprt_dtype dtype,
                            const std::vector<int64_t> &shape);

using NamedArrays = std::map<std::string, Array>;

/// Reads the arrays of a .npz file (stored or deflated) into `arrays`. `accept`
/// is asked about every name before any array is read; its first failure ends
/// the reading.
using AcceptArray = std::function<Status(const std::string &name)>;
Status readNpz(const std::string &path, NamedArrays &arrays,
               const AcceptArray &accept = nullptr);
/// An array of a .npz file; its header says where in that file its bytes are.
struct StoredNpy {
  std::string name;
  NpyHeader header;
};
/// Finds the arrays of an open .npz file, so that parts of them can be read.
/// Deflated arrays are rejected; checksums are not compared.
Status indexNpz(FileReader &file, std::vector<StoredNpy> &arrays);

/// Reads a .npy file.
Status readNpy(const std::string &path, Array &array);

/// One array to write. The caller owns the bytes.
struct ArrayView {
  std::string name;
  aprt_dtype dtype = APRT_F32;
  std::vector<int64_t> shape;
  const void *data = nullptr;
};

/// Writes a stored .npz completely or not at all.
Status writeNpz(const std::string &path, const std::vector<ArrayView> &arrays);
Status writeNpy(const std::string &path, const ArrayView &array);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_NPY_H
