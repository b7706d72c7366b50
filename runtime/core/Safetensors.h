//===- Safetensors.h - Safetensors files ------------------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
#define AUTOPAR_RUNTIME_CORE_SAFETENSORS_H

#include "../files/FileReader.h"
#include "Npy.h"
#include "Status.h"
#include "TensorIndex.h"

namespace autopar::runtime {

/// True if the file begins like a safetensors file.
bool looksLikeSafetensors(FileReader &file);

/// Reads the header. Refuses holes, overlaps and sizes that do not agree.
Status readSafetensorsIndex(FileReader &file, TensorIndex &index);

/// As files have it: "F32".
const char *safetensorsTypeName(aprt_dtype dtype);

/// Writes a file with these arrays, complete or not at all.
Status writeSafetensors(const std::string &path, std::vector<ArrayView> arrays);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
