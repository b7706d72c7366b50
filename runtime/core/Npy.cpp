//===- Npy.cpp - NumPy's array files --------------------------------------===//

#include "Npy.h"

#include "../files/FileReader.h"
#include "../files/OutputFile.h"

#include <algorithm>
#include <cctype>

namespace autopar::runtime {

namespace {
struct DescrRow {
  const char *descr;
  aprt_dtype dtype;
};
/// The first row of a dtype is the one that is written.
constexpr DescrRow descrTable[] = {
    {"|b1", APRT_BOOL}, {"|i1", APRT_I8},   {"|u1", APRT_U8},
    {"<i2", APRT_I16},  {"<u2", APRT_U16},  {"<i4", APRT_I32},
    {"<u4", APRT_U32},  {"<i8", APRT_I64},  {"<u8", APRT_U64},
    {"<f2", APRT_F16},  {"|V2", APRT_BF16}, {"<f4", APRT_F32},
    {"<f8", APRT_F64},  {"<V2", APRT_BF16}, {"<i1", APRT_I8},
    {"<u1", APRT_U8},   {"<b1", APRT_BOOL},
};

/// Reads the few forms that NumPy writes of {'descr': '<f4',
/// 'fortran_order': False, 'shape': (2, 3), }.
class HeaderParser {
public:
  explicit HeaderParser(std::string text) : text(std::move(text)) {}

  bool parse(std::string &descr, bool &fortran, std::vector<int64_t> &shape) {
    if (!take('{'))
      return false;
    int seen = 0;
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':'))
        return false;
      bool good = key == "descr"           ? string(descr)
                  : key == "fortran_order" ? boolean(fortran)
                  : key == "shape"         ? tuple(shape)
                                           : false;
      if (!good)
        return false;
      ++seen;
      take(',');
    }
    return seen == 3;
  }

private:
  void skipSpace() {
    while (at < text.size() &&
           std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
  }
  bool take(char expected) {
    skipSpace();
    if (at >= text.size() || text[at] != expected)
      return false;
    ++at;
    return true;
  }
  bool string(std::string &result) {
    skipSpace();
    if (at >= text.size() || (text[at] != '\'' && text[at] != '"'))
      return false;
    size_t end = text.find(text[at], at + 1);
    if (end == std::string::npos)
      return false;
    result = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  bool boolean(bool &result) {
    skipSpace();
    for (const char *word : {"True", "False"}) {
      std::string name = word;
      if (text.compare(at, name.size(), name) != 0)
        continue;
      result = name == "True";
      at += name.size();
      return true;
    }
    return false;
  }
  bool tuple(std::vector<int64_t> &result) {
    if (!take('('))
      return false;
    while (!take(')')) {
      skipSpace();
      int64_t value = 0;
      size_t digits = 0;
      for (; at < text.size() &&
             std::isdigit(static_cast<unsigned char>(text[at]));
           ++at, ++digits)
        if (__builtin_mul_overflow(value, int64_t(10), &value) ||
            __builtin_add_overflow(value, int64_t(text[at] - '0'), &value))
          return false;
      if (digits == 0)
        return false;
      take('L'); // Python 2
      result.push_back(value);
      take(',');
    }
    return true;
  }

  std::string text;
  size_t at = 0;
};
} // namespace

static Status findDescr(const std::string &descr, const std::string &what,
                        aprt_dtype &dtype) {
  for (const DescrRow &row : descrTable) {
    if (descr != row.descr)
      continue;
    dtype = row.dtype;
    return Status::success();
  }
  std::string why = descr.size() > 1 && descr[0] == '>'
                        ? "is big-endian; save it in native byte order"
                        : "is not supported";
  return Status::error(what + ": dtype '" + descr + "' " + why);
}

Status parseNpyHeader(const char *bytes, int64_t size, const std::string &what,
                      NpyHeader &header) {
  const auto *raw = reinterpret_cast<const unsigned char *>(bytes);
  if (size < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    return Status::error(what + ": not a .npy array");
  int64_t lengthBytes = raw[6] == 1 ? 2 : 4;
  if (raw[6] < 1 || raw[6] > 3 || size < 8 + lengthBytes)
    return Status::error(what + ": unknown version of the .npy format");
  int64_t length = 0;
  for (int64_t i = lengthBytes - 1; i >= 0; --i)
    length = length << 8 | raw[8 + i];
  header.dataOffset = 8 + lengthBytes + length;
  if (length > (1 << 20) || header.dataOffset > size)
    return Status::error(what + ": the .npy header is cut off");
  std::string descr;
  bool fortran = false;
  header.shape.clear();
  if (!HeaderParser(std::string(bytes + 8 + lengthBytes, size_t(length)))
           .parse(descr, fortran, header.shape))
    return Status::error(what + ": the .npy header is damaged, or the array is "
                                "not of a plain dtype");
  APRT_TRY(findDescr(descr, what, header.dtype));
  if (fortran && header.shape.size() > 1)
    return Status::error(what + ": the array is in Fortran order; save "
                                "numpy.ascontiguousarray(array)");
  if (header.shape.size() > 32 ||
      !tensorBytes(header.dtype, header.shape, header.dataBytes))
    return Status::error(what + ": the array is too large");
  return Status::success();
}

std::string formatNpyHeader(aprt_dtype dtype,
                            const std::vector<int64_t> &shape) {
  const DescrRow *row = std::find_if(
      std::begin(descrTable), std::end(descrTable),
      [&](const DescrRow &candidate) { return candidate.dtype == dtype; });
  std::string dict = std::string("{'descr': '") + row->descr +
                     "', 'fortran_order': False, 'shape': (";
  for (size_t i = 0; i < shape.size(); ++i)
    dict += std::to_string(shape[i]) + (shape.size() == 1      ? ","
                                        : i + 1 < shape.size() ? ", "
                                                               : "");
  dict += "), }";
  size_t unpadded = 10 + dict.size() + 1;
  dict.append((64 - unpadded % 64) % 64, ' ');
  dict += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += char(dict.size() & 0xff);
  header += char(dict.size() >> 8);
  return header + dict;
}

Status readNpyHeader(FileReader &file, NpyHeader &header) {
  std::string what = "'" + file.path() + "'";
  std::vector<char> head(size_t(std::min<int64_t>(file.size(), 1 << 16)));
  APRT_TRY(file.read(0, int64_t(head.size()), head.data()));
  APRT_TRY(parseNpyHeader(head.data(), int64_t(head.size()), what, header));
  if (header.dataBytes != file.size() - header.dataOffset)
    return Status::error(what + ": " +
                         describeTensor(header.dtype, header.shape) +
                         " does not agree with the file's size");
  return Status::success();
}

Status readNpy(const std::string &path, Array &array) {
  FileReader file;
  APRT_TRY(file.open(path));
  NpyHeader header;
  APRT_TRY(readNpyHeader(file, header));
  array.dtype = header.dtype;
  array.shape = header.shape;
  array.data.resize(size_t(header.dataBytes));
  return file.read(header.dataOffset, header.dataBytes, array.data.data());
}

Status writeNpy(const std::string &path, const ArrayView &array) {
  OutputFile writer;
  APRT_TRY(writer.open(path));
  std::string header = formatNpyHeader(array.dtype, array.shape);
  APRT_TRY(writer.write(header.data(), int64_t(header.size())));
  int64_t bytes = 0;
  tensorBytes(array.dtype, array.shape, bytes);
  APRT_TRY(writer.write(array.data, bytes));
  return writer.commit();
}

} // namespace autopar::runtime
