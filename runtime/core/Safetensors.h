//===- Safetensors.h - Index of a safetensors file --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
#define AUTOPAR_RUNTIME_CORE_SAFETENSORS_H

#include "../files/FileReader.h"
#include "Status.h"
#include "TensorIndex.h"

namespace autopar::runtime {

/// True if the file begins like a safetensors file.
bool looksLikeSafetensors(FileReader &file);

/// Reads the header. Refuses holes, overlaps and sizes that do not agree.
Status readSafetensorsIndex(FileReader &file, TensorIndex &index);

} // namespace autopar::runtime

#endif // AUTOPAR_RUNTIME_CORE_SAFETENSORS_H
