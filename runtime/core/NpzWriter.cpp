//===- NpzWriter.cpp - Writing .npz files ---------------------------------===//

#include "../files/OutputFile.h"
#include "Npy.h"

#include <zlib.h>

namespace autopar::runtime {

namespace {
/// Builds zip records.
class Record {
public:
  Record &add(uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i, value >>= 8)
      text += char(value & 0xff);
    return *this;
  }
  Record &add(const std::string &bytes) {
    text += bytes;
    return *this;
  }
  std::string text;
};

constexpr uint64_t dosDate = 0x21; // 1 January 1980: no time of day in files
constexpr uint32_t inExtra = 0xffffffff;

struct Member {
  std::string name;
  std::string header;
  uint32_t crc = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;
};
} // namespace

/// The fields that the local and the directory record share. Sizes are always
/// in the zip64 extra field, so that arrays of any size look the same.
static void addCommon(Record &record, const Member &member, int extraBytes) {
  record.add(45, 2).add(0x800, 2).add(0, 2); // version, UTF-8 names, stored
  record.add(0, 2).add(dosDate, 2).add(member.crc, 4);
  record.add(inExtra, 4).add(inExtra, 4);
  record.add(member.name.size(), 2).add(uint64_t(extraBytes), 2);
}

static std::string localRecord(const Member &member) {
  Record record;
  record.add(0x04034b50, 4);
  addCommon(record, member, 20);
  record.add(member.name);
  record.add(1, 2).add(16, 2).add(member.bytes, 8).add(member.bytes, 8);
  return record.text;
}

static std::string directoryRecord(const Member &member) {
  Record record;
  record.add(0x02014b50, 4).add(45, 2);
  addCommon(record, member, 28);
  record.add(0, 2).add(0, 2).add(0, 2).add(0, 4).add(inExtra, 4);
  record.add(member.name);
  record.add(1, 2).add(24, 2).add(member.bytes, 8).add(member.bytes, 8);
  record.add(member.offset, 8);
  return record.text;
}

static std::string endRecords(uint64_t count, uint64_t offset, uint64_t size) {
  Record record;
  record.add(0x06064b50, 4).add(44, 8).add(45, 2).add(45, 2).add(0, 8);
  record.add(count, 8).add(count, 8).add(size, 8).add(offset, 8);
  record.add(0x07064b50, 4).add(0, 4).add(offset + size, 8).add(1, 4);
  record.add(0x06054b50, 4).add(0, 4).add(0xffff, 2).add(0xffff, 2);
  record.add(inExtra, 4).add(inExtra, 4).add(0, 2);
  return record.text;
}

static Member describe(const ArrayView &array, int64_t dataBytes) {
  Member member;
  member.name = array.name + ".npy";
  member.header = formatNpyHeader(array.dtype, array.shape);
  member.bytes = member.header.size() + uint64_t(dataBytes);
  auto crc = [](uint32_t start, const void *data, size_t bytes) {
    return uint32_t(crc32_z(start, static_cast<const Bytef *>(data), bytes));
  };
  member.crc = crc(0, member.header.data(), member.header.size());
  if (dataBytes > 0)
    member.crc = crc(member.crc, array.data, size_t(dataBytes));
  return member;
}

Status writeNpz(const std::string &path, const std::vector<ArrayView> &arrays) {
  OutputFile writer;
  APRT_TRY(writer.open(path));
  auto write = [&](const std::string &text) {
    return writer.write(text.data(), int64_t(text.size()));
  };
  std::string directory;
  for (const ArrayView &array : arrays) {
    int64_t bytes = 0;
    tensorBytes(array.dtype, array.shape, bytes);
    Member member = describe(array, bytes);
    member.offset = uint64_t(writer.position());
    APRT_TRY(write(localRecord(member)));
    APRT_TRY(write(member.header));
    APRT_TRY(writer.write(array.data, bytes));
    directory += directoryRecord(member);
  }
  uint64_t offset = uint64_t(writer.position());
  APRT_TRY(write(directory));
  APRT_TRY(write(endRecords(arrays.size(), offset, directory.size())));
  return writer.commit();
}

} // namespace autopar::runtime
