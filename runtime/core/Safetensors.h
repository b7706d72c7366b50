//===- Safetensors.h - Index of a safetensors file --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
#define AUTOPAR_RUNTIME_CORE_SAFETENSORS_H

#include "DataType.h"
#include "File.h"
#include "Status.h"

#include <map>
#include <string>
#include <vector>

namespace autopar::runtime {

struct SafetensorsEntry {
  std::string dtype; // as the file writes it
  std::vector<int64_t> shape;
  int64_t offset = 0; // in the file
  int64_t bytes = 0;
};

using SafetensorsIndex = std::map<std::string, SafetensorsEntry>;

/// True if the file begins like a safetensors file.
bool looksLikeSafetensors(FileReader &file);

/// Reads the header. Refuses holes, overlaps and sizes that do not agree.
Status readSafetensorsIndex(FileReader &file, SafetensorsIndex &index);

/// "F32" and so on.
const char *safetensorsDtype(aprt_dtype dtype);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
