//===- Safetensors.h - Safetensors files ------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
#define AUTOPAR_RUNTIME_CORE_SAFETENSORS_H

#include "../files/FileReader.h"
#include "Npy.h"
#include "Status.h"
#include "TensorIndex.h"

#include <map>

namespace autopar::runtime {

/// The key of the header that is no tensor.
inline constexpr const char *kSafetensorsMetadata = "__metadata__";

/// True if the file begins like a safetensors file.
bool looksLikeSafetensors(FileReader &file);

/// Reads the header. Refuses holes, overlaps and sizes that do not agree.
/// `metadata`, unless it is null, gets the texts of its `__metadata__`.
Status
readSafetensorsIndex(FileReader &file, TensorIndex &index,
                     std::map<std::string, std::string> *metadata = nullptr);

/// Returns the name of the type in files, such as "F32".
const char *safetensorsTypeName(aprt_dtype dtype);

/// Returns the name of a tensor in files. The header reserves `__metadata__`,
/// so a tensor of that name gets a prime; `__metadata__'` gets a second one,
/// and so on.
std::string safetensorsName(const std::string &tensor);

/// Returns the header of a file with these arrays; their bytes follow in the
/// same order. `alignment`: of the byte at which the first one begins.
std::string
safetensorsHeader(const std::vector<ArrayView> &arrays,
                  const std::map<std::string, std::string> &metadata,
                  int64_t alignment = 8);

/// Writes a file with these arrays, complete or not at all. `metadata` are
/// texts of the header's `__metadata__`. `isDurable`: it is on the disk then.
Status writeSafetensors(const std::string &path, std::vector<ArrayView> arrays,
                        const std::map<std::string, std::string> &metadata = {},
                        bool isDurable = false);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
