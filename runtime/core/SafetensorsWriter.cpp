//===- SafetensorsWriter.cpp - Writing safetensors files ------------------===//

#include "../files/OutputFile.h"
#include "Safetensors.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace autopar::runtime {

/// The tensors by name, one after the other; data begin at a multiple of 8.
Status writeSafetensors(const std::string &path, std::vector<ArrayView> arrays,
                        const std::map<std::string, std::string> &metadata,
                        bool isDurable) {
  std::sort(
      arrays.begin(), arrays.end(),
      [](const ArrayView &a, const ArrayView &b) { return a.name < b.name; });
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty())
    header[kSafetensorsMetadata] = metadata;
  std::vector<int64_t> sizes;
  int64_t end = 0;
  for (const ArrayView &array : arrays) {
    int64_t bytes = 0;
    tensorBytes(array.dtype, array.shape, bytes);
    header[safetensorsName(array.name)] = {
        {"dtype", safetensorsTypeName(array.dtype)},
        {"shape", array.shape},
        {"data_offsets", {end, end + bytes}}};
    sizes.push_back(bytes);
    end += bytes;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(text.size() >> (8 * i) & 0xff);
  OutputFile file;
  APRT_TRY(file.open(path));
  APRT_TRY(file.write(length.data(), 8));
  APRT_TRY(file.write(text.data(), int64_t(text.size())));
  for (size_t i = 0; i < arrays.size(); ++i)
    APRT_TRY(file.write(arrays[i].data, sizes[i]));
  return file.commit(isDurable);
}

} // namespace autopar::runtime
