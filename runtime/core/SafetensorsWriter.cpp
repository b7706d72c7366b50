//===- SafetensorsWriter.cpp - Writing safetensors files ------------------===//

#include "../files/OutputFile.h"
#include "Safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace autopar::runtime {

std::string
safetensorsHeader(const std::vector<ArrayView> &arrays,
                  const std::map<std::string, std::string> &metadata,
                  int64_t alignment) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty())
    header[kSafetensorsMetadata] = metadata;
  int64_t end = 0;
  for (const ArrayView &array : arrays) {
    int64_t bytes = 0;
    tensorBytes(array.dtype, array.shape, bytes);
    header[safetensorsName(array.name)] = {
        {"dtype", safetensorsTypeName(array.dtype)},
        {"shape", array.shape},
        {"data_offsets", {end, end + bytes}}};
    end += bytes;
  }
  std::string text = std::string(8, '\0') + header.dump();
  size_t rounded = text.size() + size_t(alignment) - 1;
  text.resize(rounded - rounded % size_t(alignment), ' ');
  for (int i = 0; i < 8; ++i)
    text[size_t(i)] = char((text.size() - 8) >> (8 * i) & 0xff);
  return text;
}

/// The tensors are written in the order of their names.
Status writeSafetensors(const std::string &path, std::vector<ArrayView> arrays,
                        const std::map<std::string, std::string> &metadata,
                        bool isDurable) {
  std::sort(
      arrays.begin(), arrays.end(),
      [](const ArrayView &a, const ArrayView &b) { return a.name < b.name; });
  std::string header = safetensorsHeader(arrays, metadata);
  OutputFile file;
  APRT_TRY(file.open(path));
  APRT_TRY(file.write(header.data(), int64_t(header.size())));
  for (const ArrayView &array : arrays) {
    int64_t bytes = 0;
    tensorBytes(array.dtype, array.shape, bytes);
    APRT_TRY(file.write(array.data, bytes));
  }
  return file.commit(isDurable);
}

} // namespace autopar::runtime
