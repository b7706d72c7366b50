//===- NpzTest.cpp - Array files, good and hostile ------------------------===//

#include "TemporaryFolder.h"
#include "core/Npy.h"

#include <gtest/gtest.h>

#include <zlib.h>

using namespace autopar::runtime;

namespace {

std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8)
    text += char(value & 0xff);
  return text;
}

std::string npy(const std::string &dict, const std::string &data) {
  return std::string("\x93NUMPY\x01\x00", 8) + little(dict.size(), 2) + dict +
         data;
}

/// A zip of one member without any zip64 field, as small files have it.
struct ZipOfOne {
  std::string name = "x.npy", data;
  uint64_t method = 0, flags = 0, claimedBytes = 0, packedBytes = 0, crc = 0,
           offset = 0, count = 1;

  explicit ZipOfOne(const std::string &bytes) : data(bytes) {
    claimedBytes = packedBytes = bytes.size();
    crc = crc32(0, reinterpret_cast<const Bytef *>(bytes.data()),
                uInt(bytes.size()));
  }
  void deflate() {
    std::string packed(compressBound(data.size()) + 64, '\0');
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef *>(data.data());
    stream.avail_in = uInt(data.size());
    stream.next_out = reinterpret_cast<Bytef *>(packed.data());
    stream.avail_out = uInt(packed.size());
    ::deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    data = packed;
    packedBytes = packed.size();
    method = 8;
  }
  std::string bytes() const {
    std::string sizes = little(crc, 4) + little(packedBytes, 4) +
                        little(claimedBytes, 4) + little(name.size(), 2) +
                        little(0, 2);
    std::string common = little(20, 2) + little(flags, 2) + little(method, 2) +
                         little(0, 4) + sizes;
    std::string local = little(0x04034b50, 4) + common + name + data;
    std::string entry = little(0x02014b50, 4) + little(20, 2) + common +
                        little(0, 2 + 2 + 2 + 4) + little(offset, 4) + name;
    return local + entry + little(0x06054b50, 4) + little(0, 4) +
           little(count, 2) + little(count, 2) + little(entry.size(), 4) +
           little(local.size(), 4) + little(0, 2);
  }
};

const std::string goodDict =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
const std::string goodNpy = npy(goodDict, std::string(24, '\1'));

class NpzFiles : public ::testing::Test {
protected:
  /// The message for a file of these bytes; "" if it reads.
  std::string readMessage(const std::string &bytes) {
    arrays.clear();
    return readNpz(folder.write("in.npz", bytes), arrays).message();
  }
  void expectRefused(const std::string &bytes, const std::string &why) {
    std::string message = readMessage(bytes);
    EXPECT_NE(message.find(why), std::string::npos)
        << "expected '" << why << "', got '" << message << "'";
  }
  TemporaryFolder folder;
  NamedArrays arrays;
};

TEST_F(NpzFiles, RoundTripOfEveryType) {
  std::vector<ArrayView> views;
  std::vector<std::vector<char>> data;
  for (int dtype = APRT_BOOL; dtype <= APRT_F64; ++dtype) {
    data.emplace_back(size_t(6 * elementBytes(dtype)));
    for (size_t i = 0; i < data.back().size(); ++i)
      data.back()[i] = char(i % 2);
  }
  for (int dtype = APRT_BOOL; dtype <= APRT_F64; ++dtype)
    views.push_back({std::string("layer/") + dtypeName(dtype),
                     aprt_dtype(dtype),
                     {2, 3},
                     data[dtype].data()});
  views.push_back({"scalar", APRT_F32, {}, data[APRT_F32].data()});
  views.push_back({"vector", APRT_I64, {6}, data[APRT_I64].data()});
  views.push_back({"empty", APRT_F32, {0, 4}, nullptr});
  std::string path = folder.path("out.npz");
  ASSERT_TRUE(writeNpz(path, views).ok());
  ASSERT_EQ(readNpz(path, arrays).message(), "");
  ASSERT_EQ(arrays.size(), views.size());
  for (const ArrayView &view : views) {
    const Array &array = arrays.at(view.name);
    EXPECT_EQ(array.dtype, view.dtype) << view.name;
    EXPECT_EQ(array.shape, view.shape) << view.name;
    if (!array.data.empty()) {
      EXPECT_EQ(std::memcmp(array.data.data(), view.data, array.data.size()),
                0);
    }
  }
}

TEST_F(NpzFiles, RoundTripOfOneArray) {
  float values[4] = {1, 2, 3, 4};
  std::string path = folder.path("x.npy");
  ASSERT_TRUE(writeNpy(path, {"x", APRT_F32, {4, 1}, values}).ok());
  Array array;
  ASSERT_EQ(readNpy(path, array).message(), "");
  EXPECT_EQ(array.shape, (std::vector<int64_t>{4, 1}));
  EXPECT_EQ(std::memcmp(array.data.data(), values, sizeof(values)), 0);
}

TEST_F(NpzFiles, ReadsStoredAndDeflated) {
  EXPECT_EQ(readMessage(ZipOfOne(goodNpy).bytes()), "");
  ZipOfOne packed(goodNpy);
  packed.deflate();
  EXPECT_EQ(readMessage(packed.bytes()), "");
  EXPECT_EQ(arrays.at("x").data, ArrayBytes(24, '\1'));
}

/// Names are asked about before bytes are looked at.
TEST_F(NpzFiles, WhatIsNotWantedIsNotRead) {
  ZipOfOne zip(goodNpy);
  zip.crc ^= 1; // reading it would fail
  std::string path = folder.write("in.npz", zip.bytes());
  auto message = [&](const AcceptArray &accept) {
    arrays.clear();
    return readNpz(path, arrays, accept).message();
  };
  EXPECT_EQ(message([](const std::string &name) {
              return Status::error("no input is called " + name);
            }),
            "no input is called x");
  EXPECT_NE(message([](const std::string &) {
              return Status::success();
            }).find("checksum"),
            std::string::npos);
}

TEST_F(NpzFiles, LargeArraysAreInflatedPieceByPiece) {
  std::string noise(8 << 20, '\0');
  uint32_t state = 1;
  for (char &byte : noise)
    byte = char((state = state * 1664525u + 1013904223u) >> 24);
  ZipOfOne packed(npy("{'descr': '|u1', 'fortran_order': False, 'shape': "
                      "(8388608,), }\n",
                      noise));
  packed.deflate();
  EXPECT_EQ(readMessage(packed.bytes()), "");
  EXPECT_TRUE(
      std::equal(noise.begin(), noise.end(), arrays.at("x").data.begin()));
}

TEST_F(NpzFiles, EveryTruncationIsRefused) {
  std::string bytes = ZipOfOne(goodNpy).bytes();
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(readMessage(bytes.substr(0, length)), "") << length;
}

/// Any damaged byte gives an array or a message, never more.
TEST_F(NpzFiles, DamagedBytesNeverCrash) {
  ZipOfOne packed(goodNpy);
  packed.deflate();
  for (const std::string &bytes : {ZipOfOne(goodNpy).bytes(), packed.bytes()})
    for (size_t i = 0; i < bytes.size(); ++i)
      for (char damage : {'\x00', '\x7f', '\xff'}) {
        std::string damaged = bytes;
        damaged[i] = damage;
        readMessage(damaged);
      }
}

TEST_F(NpzFiles, HostileArchivesAreRefused) {
  expectRefused("", "no zip directory");
  expectRefused("not a zip at all, but longer than an end record", "no zip");
  ZipOfOne zip(goodNpy);
  zip.crc ^= 1;
  expectRefused(zip.bytes(), "checksum");
  zip = ZipOfOne(goodNpy);
  zip.flags = 1;
  expectRefused(zip.bytes(), "encrypted");
  zip = ZipOfOne(goodNpy);
  zip.method = 12;
  expectRefused(zip.bytes(), "neither stored nor deflated");
  zip = ZipOfOne(goodNpy);
  zip.offset = 1 << 30;
  expectRefused(zip.bytes(), "cut off");
  zip = ZipOfOne(goodNpy);
  zip.count = 5000;
  expectRefused(zip.bytes(), "directory is damaged");
  zip = ZipOfOne(goodNpy);
  zip.claimedBytes = zip.packedBytes = 0xfffffff0;
  expectRefused(zip.bytes(), "cut off");
  zip = ZipOfOne(goodNpy);
  zip.deflate();
  zip.claimedBytes = 0xfffffff0;
  expectRefused(zip.bytes(), "impossible size");
  zip.claimedBytes = goodNpy.size() + 1;
  expectRefused(zip.bytes(), "does not inflate");
}

TEST_F(NpzFiles, HostileArraysAreRefused) {
  auto refuse = [&](const std::string &dict, const std::string &why) {
    expectRefused(ZipOfOne(npy(dict, std::string(24, '\1'))).bytes(), why);
  };
  auto dict = [](const std::string &descr, const std::string &fortran,
                 const std::string &shape) {
    return "{'descr': '" + descr + "', 'fortran_order': " + fortran +
           ", 'shape': " + shape + ", }";
  };
  refuse(dict("<f4", "True", "(2, 3)"), "Fortran order");
  refuse(dict(">f4", "False", "(2, 3)"), "big-endian");
  refuse(dict("|O", "False", "(2, 3)"), "'|O' is not supported");
  refuse(dict("<f4", "False", "(2, 4)"), "does not agree with its size");
  refuse(dict("<f4", "False", "(4611686018427387904, 4)"), "too large");
  refuse(dict("<f4", "False", "(99999999999999999999,)"), "damaged");
  refuse(dict("<f4", "False", "(-1, 3)"), "damaged");
  refuse(dict("<f4", "Maybe", "(2, 3)"), "damaged");
  refuse("{}", "damaged");
  refuse("", "damaged");
  refuse("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
         "plain dtype");
  expectRefused(ZipOfOne("short").bytes(), "not a .npy");
}

TEST_F(NpzFiles, NothingIsLeftHalfWritten) {
  std::string path = folder.path("none/out.npz");
  EXPECT_NE(writeNpz(path, {}).message().find("cannot write"),
            std::string::npos);
  float value = 1;
  ASSERT_TRUE(
      writeNpz(folder.path("out.npz"), {{"x", APRT_F32, {}, &value}}).ok());
  int files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder.path("")))
    files += entry.is_regular_file();
  EXPECT_EQ(files, 1);
}

} // namespace
