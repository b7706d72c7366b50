//===- Safetensors.cpp - Index of a safetensors file ----------------------===//

#include "Safetensors.h"

#include "DataType.h"
#include "JsonReader.h"

#include <algorithm>
#include <unordered_set>

namespace autopar::runtime {

static constexpr int64_t maxHeaderBytes = 100'000'000;

/// The names are in the order of aprt_dtype.
static constexpr const char *dtypeNames[] = {"BOOL", "I8",  "U8",  "I16", "U16",
                                             "I32",  "U32", "I64", "U64", "F16",
                                             "BF16", "F32", "F64"};

const char *safetensorsTypeName(aprt_dtype dtype) { return dtypeNames[dtype]; }

/// Returns whether the name is the header's reserved name followed by at least
/// `primes` primes and nothing else.
static bool isMetadata(const std::string &name, size_t primes) {
  size_t length = std::string(kSafetensorsMetadata).size();
  return name.compare(0, length, kSafetensorsMetadata) == 0 &&
         name.size() >= length + primes &&
         name.find_first_not_of('\'', length) == std::string::npos;
}

std::string safetensorsName(const std::string &tensor) {
  return isMetadata(tensor, 0) ? tensor + "'" : tensor;
}

/// Returns the tensor whose name in files is `name`.
static std::string tensorOf(const std::string &name) {
  return isMetadata(name, 1) ? name.substr(0, name.size() - 1) : name;
}

/// Reads the header length of 8 bytes. Returns -1 if it is not valid.
static int64_t headerLength(FileReader &file) {
  unsigned char bytes[8];
  if (file.size() < 8 || file.read(0, 8, bytes).failed())
    return -1;
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | bytes[i];
  bool fits = length >= 2 && length <= uint64_t(file.size() - 8);
  return fits ? int64_t(length) : -1;
}

bool looksLikeSafetensors(FileReader &file) {
  char first = 0;
  return headerLength(file) > 0 && file.read(8, 1, &first).ok() && first == '{';
}

static NamedTensor readEntry(const JsonReader &json, int64_t dataStart,
                             int64_t dataBytes) {
  NamedTensor entry;
  entry.dtype = json.member("dtype").string();
  entry.shape = json.member("shape").integers(0, INT64_MAX);
  std::vector<int64_t> range =
      json.member("data_offsets").integers(0, dataBytes);
  if (range.size() != 2 || range[0] > range[1]) {
    json.fail("has bad data_offsets");
    return entry;
  }
  entry.offset = dataStart + range[0];
  entry.bytes = range[1] - range[0];
  for (int dtype = APRT_BOOL; dtype <= APRT_F64; ++dtype) {
    int64_t bytes;
    if (entry.dtype != dtypeNames[dtype])
      continue;
    if (!tensorBytes(aprt_dtype(dtype), entry.shape, bytes) ||
        bytes != entry.bytes)
      json.fail("has data_offsets that do not agree with its shape");
    entry.dtype = dtypeName(dtype);
    break;
  }
  return entry;
}

/// Checks that every byte of the data belongs to exactly one tensor.
static Status checkCoverage(const TensorIndex &index, int64_t dataStart,
                            int64_t fileBytes, const std::string &path) {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (const auto &[name, entry] : index)
    ranges.emplace_back(entry.offset, entry.offset + entry.bytes);
  std::sort(ranges.begin(), ranges.end());
  int64_t end = dataStart;
  for (auto [begin, next] : ranges) {
    if (begin != end)
      return Status::error("'" + path +
                           "': its tensors overlap or leave a hole");
    end = next;
  }
  if (end != fileBytes)
    return Status::error("'" + path + "': its data does not fill the file");
  return Status::success();
}

namespace {
/// Checks a header without building it. Stops at a repeated name or at values
/// that are nested too deeply for a header.
class HeaderCheck : public nlohmann::json::json_sax_t {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return true; }
  bool start_object(size_t) override { return ++depth <= maxDepth; }
  bool end_object() override { return depth-- > 0; }
  bool start_array(size_t) override { return ++depth <= maxDepth; }
  bool end_array() override { return depth-- > 0; }
  bool key(string_t &name) override {
    return depth > 1 || names.insert(name).second;
  }
  bool parse_error(size_t, const std::string &,
                   const nlohmann::json::exception &) override {
    return false;
  }

private:
  static constexpr int maxDepth = 3; // {"w": {"shape": [1]}}
  int depth = 0;
  std::unordered_set<std::string> names;
};
} // namespace

/// The header, or a value that is no object where it is damaged. In linear
/// time, which a parser with a callback does not take.
static nlohmann::json parseHeader(const std::string &text) {
  HeaderCheck check;
  if (!nlohmann::json::sax_parse(text, &check))
    return nullptr;
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

static void readMetadata(const nlohmann::json &header,
                         std::map<std::string, std::string> &metadata) {
  auto found = header.find(kSafetensorsMetadata);
  if (found == header.end() || !found->is_object())
    return;
  for (const auto &[key, value] : found->items())
    if (value.is_string())
      metadata[key] = value.get<std::string>();
}

Status readSafetensorsIndex(FileReader &file, TensorIndex &index,
                            std::map<std::string, std::string> *metadata) {
  int64_t length = headerLength(file);
  if (length < 0 || length > maxHeaderBytes)
    return Status::error("'" + file.path() +
                         "': bad length of the safetensors header");
  std::string text(size_t(length), ' ');
  APRT_TRY(file.read(8, length, text.data()));
  nlohmann::json header = parseHeader(text);
  if (!header.is_object())
    return Status::error("'" + file.path() +
                         "': the safetensors header is damaged");
  if (metadata)
    readMetadata(header, *metadata);
  Status status;
  for (const auto &[name, value] : header.items())
    if (name != kSafetensorsMetadata)
      index[tensorOf(name)] = readEntry(JsonReader(value, name, status),
                                        8 + length, file.size() - 8 - length);
  if (status.failed())
    return Status::error("'" + file.path() + "': " + status.message());
  return checkCoverage(index, 8 + length, file.size(), file.path());
}

} // namespace autopar::runtime
