//===- NpzReader.cpp - Reading .npz files ---------------------------------===//
//
// A .npz is a zip of .npy files. Every offset and size comes from outside and
// is checked before it is used.
//
//===----------------------------------------------------------------------===//

#include "../files/FileReader.h"
#include "Npy.h"

#include <algorithm>
#include <memory>
#include <zlib.h>

namespace autopar::runtime {

namespace {
constexpr uint32_t endSignature = 0x06054b50, end64Signature = 0x06064b50,
                   locatorSignature = 0x07064b50, entrySignature = 0x02014b50,
                   localSignature = 0x04034b50;
constexpr int64_t kPieceBytes = 1 << 20;

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
  /// Finds the first byte of an entry in the file. A stored entry's bytes must
  /// all exist.
  Status findStart(const ZipEntry &entry, int64_t &start);

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
  Status inflateEntry(const ZipEntry &entry, int64_t start, ArrayBytes &data);

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

/// Inflates `packedBytes` of the file from `start` on, piece by piece.
Status ZipReader::inflateEntry(const ZipEntry &entry, int64_t start,
                               ArrayBytes &data) {
  int64_t inLeft = entry.packedBytes, outLeft = entry.bytes;
  if (inLeft < 0 || start > file.size() || inLeft > file.size() - start)
    return damaged("'" + entry.name + "' is cut off");
  // Deflate never shrinks data more than 1032 times; a larger claim is an
  // attack.
  if (outLeft < 0 || outLeft / 1032 > inLeft + 16)
    return damaged("'" + entry.name + "' claims an impossible size");
  data.resize(size_t(outLeft));
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    return damaged("zlib cannot start");
  std::unique_ptr<z_stream, int (*)(z_stream *)> end(&stream, inflateEnd);
  stream.next_out = reinterpret_cast<Bytef *>(data.data());
  Bytes piece;
  int result = Z_OK;
  while (result == Z_OK) {
    if (stream.avail_in == 0 && inLeft > 0) {
      piece.resize(size_t(std::min(inLeft, kPieceBytes)));
      APRT_TRY(file.read(start, int64_t(piece.size()), piece.data()));
      start += int64_t(piece.size());
      inLeft -= int64_t(piece.size());
      stream.next_in = piece.data();
      stream.avail_in = uInt(piece.size());
    }
    uInt out = uInt(std::min<int64_t>(outLeft, 1 << 30));
    stream.avail_out = out;
    result = inflate(&stream, Z_NO_FLUSH);
    outLeft -= out - stream.avail_out;
  }
  if (result != Z_STREAM_END || outLeft != 0)
    return damaged("'" + entry.name + "' does not inflate to its size");
  return Status::success();
}

Status ZipReader::findStart(const ZipEntry &entry, int64_t &start) {
  Bytes local;
  APRT_TRY(read(entry.localOffset, 30, local));
  if (little(local.data(), 4) != localSignature)
    return damaged("'" + entry.name + "' is not where the directory says");
  start = entry.localOffset + 30 + int64_t(little(local.data() + 26, 2)) +
          int64_t(little(local.data() + 28, 2));
  if (entry.method == 0 &&
      (entry.bytes != entry.packedBytes || entry.bytes < 0 ||
       start > file.size() || entry.bytes > file.size() - start))
    return damaged("'" + entry.name + "' is cut off");
  return Status::success();
}

Status ZipReader::readEntry(const ZipEntry &entry, ArrayBytes &data) {
  int64_t start = 0;
  APRT_TRY(findStart(entry, start));
  if (entry.method == 0) {
    data.resize(size_t(entry.bytes));
    APRT_TRY(file.read(start, entry.bytes, data.data()));
  } else if (entry.method == Z_DEFLATED) {
    APRT_TRY(inflateEntry(entry, start, data));
  } else {
    return damaged("'" + entry.name + "' is neither stored nor deflated");
  }
  uint32_t crc = uint32_t(
      crc32_z(0, reinterpret_cast<const Bytef *>(data.data()), data.size()));
  if (crc != entry.crc)
    return damaged("the checksum of '" + entry.name + "' is wrong");
  return Status::success();
}

/// Returns the name of an array: "layer/w.npy" -> "layer/w".
static std::string arrayName(const ZipEntry &entry) {
  std::string name = entry.name;
  if (name.size() > 4 && name.compare(name.size() - 4, 4, ".npy") == 0)
    name.resize(name.size() - 4);
  return name;
}

static Status otherSize(const std::string &what, const NpyHeader &header) {
  return Status::error(what + ": " +
                       describeTensor(header.dtype, header.shape) +
                       " does not agree with its size in the file");
}

static Status readArray(ZipReader &zip, const ZipEntry &entry,
                        const std::string &what, Array &array) {
  ArrayBytes bytes;
  APRT_TRY(zip.readEntry(entry, bytes));
  NpyHeader header;
  APRT_TRY(parseNpyHeader(bytes.data(), int64_t(bytes.size()), what, header));
  if (header.dataBytes != int64_t(bytes.size()) - header.dataOffset)
    return otherSize(what, header);
  bytes.erase(bytes.begin(), bytes.begin() + header.dataOffset);
  array = {header.dtype, header.shape, std::move(bytes)};
  return Status::success();
}

/// Reads the header of a stored array. Only the first bytes are read; of the
/// others only the number is checked.
static Status readHeader(FileReader &file, ZipReader &zip,
                         const ZipEntry &entry, const std::string &what,
                         NpyHeader &header) {
  if (entry.method != 0)
    return Status::error(
        what +
        " is deflated, so that no row can be read alone: write it again "
        "with numpy.savez, python -c \"import numpy; "
        "numpy.savez('" +
        file.path() + "', **numpy.load('" + file.path() + "'))\"");
  int64_t start = 0;
  APRT_TRY(zip.findStart(entry, start));
  std::vector<char> head(size_t(std::min<int64_t>(entry.bytes, 1 << 16)));
  APRT_TRY(file.read(start, int64_t(head.size()), head.data()));
  APRT_TRY(parseNpyHeader(head.data(), int64_t(head.size()), what, header));
  if (header.dataBytes != entry.bytes - header.dataOffset)
    return otherSize(what, header);
  header.dataOffset += start;
  return Status::success();
}

static std::string describe(const FileReader &file, const ZipEntry &entry) {
  return "array '" + arrayName(entry) + "' of '" + file.path() + "'";
}

Status indexNpz(FileReader &file, std::vector<StoredNpy> &arrays) {
  ZipReader zip(file);
  std::vector<ZipEntry> entries;
  APRT_TRY(zip.readDirectory(entries));
  for (const ZipEntry &entry : entries) {
    StoredNpy &array = arrays.emplace_back();
    array.name = arrayName(entry);
    APRT_TRY(readHeader(file, zip, entry, describe(file, entry), array.header));
  }
  return Status::success();
}

Status readNpz(const std::string &path, NamedArrays &arrays,
               const AcceptArray &accept) {
  FileReader file;
  APRT_TRY(file.open(path));
  ZipReader zip(file);
  std::vector<ZipEntry> entries;
  APRT_TRY(zip.readDirectory(entries));
  for (const ZipEntry &entry : entries) {
    if (accept)
      APRT_TRY(accept(arrayName(entry)));
    if (!arrays.try_emplace(arrayName(entry)).second)
      return Status::error(describe(file, entry) + " is there twice");
  }
  for (const ZipEntry &entry : entries)
    APRT_TRY(
        readArray(zip, entry, describe(file, entry), arrays[arrayName(entry)]));
  return Status::success();
}

} // namespace autopar::runtime
