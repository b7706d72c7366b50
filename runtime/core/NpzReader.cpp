//===- NpzReader.cpp - Reading .npz files ---------------------------------===//
//
// A .npz is a zip of .npy files. Every offset and size comes from outside and
// is checked before it is used.
//
//===----------------------------------------------------------------------===//

#include "../files/FileReader.h"
#include "Npy.h"

#include <algorithm>
#include <zlib.h>

namespace autopar::runtime {

namespace {
constexpr uint32_t endSignature = 0x06054b50, end64Signature = 0x06064b50,
                   locatorSignature = 0x07064b50, entrySignature = 0x02014b50,
                   localSignature = 0x04034b50;

uint64_t little(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i)
    value = value << 8 | bytes[i];
  return value;
}

struct ZipEntry {
  std::string name;
  uint16_t method = 0;
  uint32_t crc = 0;
  int64_t packedBytes = 0;
  int64_t bytes = 0;
  int64_t localOffset = 0;
};

class ZipReader {
public:
  explicit ZipReader(FileReader &file) : file(file) {}

  Status readDirectory(std::vector<ZipEntry> &entries);
  Status readEntry(const ZipEntry &entry, ArrayBytes &data);

private:
  using Bytes = std::vector<unsigned char>;

  Status damaged(const std::string &why) const {
    return Status::error("'" + file.path() +
                         "' is not a usable .npz file: " + why);
  }
  Status read(int64_t offset, int64_t size, Bytes &bytes) {
    if (offset < 0 || size < 0 || offset > file.size() ||
        size > file.size() - offset)
      return damaged("it is cut off");
    bytes.resize(size_t(size));
    return file.read(offset, size, bytes.data());
  }
  Status findDirectory(int64_t &offset, int64_t &size, int64_t &count);
  Status findDirectory64(int64_t endOffset, int64_t &offset, int64_t &size,
                         int64_t &count);
  Status parseEntry(const Bytes &directory, size_t &at, ZipEntry &entry);
  Status inflateEntry(const ZipEntry &entry, const Bytes &packed,
                      ArrayBytes &data);

  FileReader &file;
};
} // namespace

Status ZipReader::findDirectory64(int64_t endOffset, int64_t &offset,
                                  int64_t &size, int64_t &count) {
  Bytes locator, record;
  APRT_TRY(read(endOffset - 20, 20, locator));
  if (little(locator.data(), 4) != locatorSignature)
    return damaged("the zip64 locator is missing");
  APRT_TRY(read(int64_t(little(locator.data() + 8, 8)), 56, record));
  if (little(record.data(), 4) != end64Signature)
    return damaged("the zip64 directory is missing");
  count = int64_t(little(record.data() + 32, 8));
  size = int64_t(little(record.data() + 40, 8));
  offset = int64_t(little(record.data() + 48, 8));
  return Status::success();
}

Status ZipReader::findDirectory(int64_t &offset, int64_t &size,
                                int64_t &count) {
  // The end record is 22 bytes and a comment of at most 65535.
  int64_t tail = std::min<int64_t>(file.size(), 22 + 65535);
  Bytes bytes;
  APRT_TRY(read(file.size() - tail, tail, bytes));
  for (int64_t at = tail - 22; at >= 0; --at) {
    const unsigned char *end = bytes.data() + at;
    if (little(end, 4) != endSignature)
      continue;
    count = int64_t(little(end + 10, 2));
    size = int64_t(little(end + 12, 4));
    offset = int64_t(little(end + 16, 4));
    if (count == 0xffff || size == 0xffffffff || offset == 0xffffffff)
      return findDirectory64(file.size() - tail + at, offset, size, count);
    return Status::success();
  }
  return damaged("it has no zip directory");
}

Status ZipReader::parseEntry(const Bytes &directory, size_t &at,
                             ZipEntry &entry) {
  const unsigned char *bytes = directory.data() + at;
  if (directory.size() - at < 46 || little(bytes, 4) != entrySignature)
    return damaged("its directory is damaged");
  size_t nameBytes = little(bytes + 28, 2), extraBytes = little(bytes + 30, 2),
         commentBytes = little(bytes + 32, 2);
  size_t total = 46 + nameBytes + extraBytes + commentBytes;
  if (directory.size() - at < total)
    return damaged("its directory is damaged");
  if (little(bytes + 8, 2) & 1)
    return damaged("it is encrypted");
  entry.method = uint16_t(little(bytes + 10, 2));
  entry.crc = uint32_t(little(bytes + 16, 4));
  entry.packedBytes = int64_t(little(bytes + 20, 4));
  entry.bytes = int64_t(little(bytes + 24, 4));
  entry.localOffset = int64_t(little(bytes + 42, 4));
  entry.name.assign(reinterpret_cast<const char *>(bytes + 46), nameBytes);
  // Zip64: the extra field 1 holds, in this order, what did not fit above.
  const unsigned char *extra = bytes + 46 + nameBytes;
  const unsigned char *extraEnd = extra + extraBytes;
  while (extraEnd - extra >= 4) {
    const unsigned char *field = extra + 4;
    const unsigned char *fieldEnd = field + little(extra + 2, 2);
    if (fieldEnd > extraEnd)
      return damaged("its directory is damaged");
    if (little(extra, 2) == 1)
      for (int64_t *value :
           {&entry.bytes, &entry.packedBytes, &entry.localOffset})
        if (*value == 0xffffffff && fieldEnd - field >= 8) {
          *value = int64_t(little(field, 8));
          field += 8;
        }
    extra = fieldEnd;
  }
  at += total;
  return Status::success();
}

Status ZipReader::readDirectory(std::vector<ZipEntry> &entries) {
  int64_t offset = 0, size = 0, count = 0;
  APRT_TRY(findDirectory(offset, size, count));
  Bytes directory;
  APRT_TRY(read(offset, size, directory));
  if (count < 0 || count > size / 46)
    return damaged("its directory is damaged");
  size_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    entries.emplace_back();
    APRT_TRY(parseEntry(directory, at, entries.back()));
  }
  return Status::success();
}

Status ZipReader::inflateEntry(const ZipEntry &entry, const Bytes &packed,
                               ArrayBytes &data) {
  // Deflate never shrinks more than 1032 times: a claim of more is a trap.
  if (entry.bytes > (int64_t(packed.size()) + 16) * 1032)
    return damaged("'" + entry.name + "' claims an impossible size");
  data.resize(size_t(entry.bytes));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return damaged("zlib cannot start");
  stream.next_in = const_cast<Bytef *>(packed.data());
  stream.next_out = reinterpret_cast<Bytef *>(data.data());
  uint64_t inLeft = packed.size(), outLeft = data.size();
  int result = Z_OK;
  while (result == Z_OK) {
    uInt in = uInt(std::min<uint64_t>(inLeft, 1 << 30));
    uInt out = uInt(std::min<uint64_t>(outLeft, 1 << 30));
    stream.avail_in = in;
    stream.avail_out = out;
    result = inflate(&stream, Z_NO_FLUSH);
    inLeft -= in - stream.avail_in;
    outLeft -= out - stream.avail_out;
  }
  inflateEnd(&stream);
  if (result != Z_STREAM_END || outLeft != 0)
    return damaged("'" + entry.name + "' does not inflate to its size");
  return Status::success();
}

Status ZipReader::readEntry(const ZipEntry &entry, ArrayBytes &data) {
  Bytes local, packed;
  APRT_TRY(read(entry.localOffset, 30, local));
  if (little(local.data(), 4) != localSignature)
    return damaged("'" + entry.name + "' is not where the directory says");
  int64_t start = entry.localOffset + 30 +
                  int64_t(little(local.data() + 26, 2)) +
                  int64_t(little(local.data() + 28, 2));
  if (entry.method == 0) {
    if (entry.bytes != entry.packedBytes || entry.bytes < 0 ||
        entry.bytes > file.size() - start)
      return damaged("'" + entry.name + "' is cut off");
    data.resize(size_t(entry.bytes));
    APRT_TRY(file.read(start, entry.bytes, data.data()));
  } else if (entry.method == Z_DEFLATED) {
    APRT_TRY(read(start, entry.packedBytes, packed));
    if (entry.bytes < 0)
      return damaged("'" + entry.name + "' has a negative size");
    APRT_TRY(inflateEntry(entry, packed, data));
  } else {
    return damaged("'" + entry.name + "' is neither stored nor deflated");
  }
  uint32_t crc = uint32_t(
      crc32_z(0, reinterpret_cast<const Bytef *>(data.data()), data.size()));
  if (crc != entry.crc)
    return damaged("the checksum of '" + entry.name + "' is wrong");
  return Status::success();
}

Status readNpz(const std::string &path, NamedArrays &arrays) {
  FileReader file;
  APRT_TRY(file.open(path));
  ZipReader zip(file);
  std::vector<ZipEntry> entries;
  APRT_TRY(zip.readDirectory(entries));
  for (const ZipEntry &entry : entries) {
    std::string name = entry.name;
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0)
      name.resize(name.size() - 4);
    ArrayBytes bytes;
    APRT_TRY(zip.readEntry(entry, bytes));
    NpyHeader header;
    std::string what = "array '" + name + "' of '" + path + "'";
    APRT_TRY(parseNpyHeader(bytes.data(), int64_t(bytes.size()), what, header));
    if (header.dataBytes != int64_t(bytes.size()) - header.dataOffset)
      return Status::error(what + ": " +
                           describeTensor(header.dtype, header.shape) +
                           " does not agree with its size in the file");
    bytes.erase(bytes.begin(), bytes.begin() + header.dataOffset);
    Array array{header.dtype, header.shape, std::move(bytes)};
    if (!arrays.emplace(name, std::move(array)).second)
      return Status::error(what + " is there twice");
  }
  return Status::success();
}

} // namespace autopar::runtime
