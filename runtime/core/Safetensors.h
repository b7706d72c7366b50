//===- Safetensors.h - Safetensors files ------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
#define AUTOPAR_RUNTIME_CORE_SAFETENSORS_H

#include "../files/FileReader.h"
#include "Npy.h"
#include "Status.h"
#include "TensorIndex.h"

#include <map>

namespace autopar::runtime {

/// The key of the header that is not a tensor.
inline constexpr const char *kSafetensorsMetadata = "__metadata__";

/// Returns whether the file begins like a safetensors file.
bool looksLikeSafetensors(FileReader &file);

/// Reads the header. Rejects holes, overlaps and inconsistent sizes. `metadata`
/// receives the texts of `__metadata__` unless it is null.
Status
readSafetensorsIndex(FileReader &file, TensorIndex &index,
                     std::map<std::string, std::string> *metadata = nullptr);

/// Returns the name of the type in files, such as "F32".
const char *safetensorsTypeName(aprt_dtype dtype);

/// Returns the name of a tensor in files. The header reserves `__metadata__`,
/// so a tensor of that name gets a prime; `__metadata__'` gets a second one,
/// and so on.
std::string safetensorsName(const std::string &tensor);

/// Returns the header of a file with these arrays, whose bytes follow in the
/// same order. `alignment` is that of the byte at which the first array begins.
std::string
safetensorsHeader(const std::vector<ArrayView> &arrays,
                  const std::map<std::string, std::string> &metadata,
                  int64_t alignment = 8);

/// Writes a file with these arrays completely or not at all. `metadata` has the
/// texts of the header's `__metadata__`. If `isDurable`, the file is on disk on
/// return.
Status writeSafetensors(const std::string &path, std::vector<ArrayView> arrays,
                        const std::map<std::string, std::string> &metadata = {},
                        bool isDurable = false);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
