//===- ParametersTest.cpp - Weights from their files ----------------------===//

#include "TemporaryFolder.h"
#include "core/Safetensors.h"
#include "core/WeightFiles.h"

#include <gtest/gtest.h>

#include <ctime>

using namespace autopar::runtime;

namespace {

/// A parameter [7, 10] in blocks of 4 rows over an axis of 2, at byte 8 of a
/// file.
struct Fixture {
  Fixture() {
    manifest.mesh = {{"data", 2}};
    manifest.devicesPerStage = 2;
    manifest.weightFiles = {{"w.bin", 8 + 280}};
    entry.name = "w";
    entry.isParameter = true;
    entry.globalShape = {7, 10};
    entry.shape = {4, 10};
    entry.offset = 8;
    entry.dims = {{7, 4, 0, 4, {{0, 1, 2}}}, {10, 10, 0, 10, {}}};
    for (int i = 0; i < 70; ++i) {
      float value = float(i + 1);
      data.append(reinterpret_cast<const char *>(&value), sizeof(value));
    }
  }
  std::vector<float> read(WeightFiles &files, int rank) {
    std::vector<float> local(40);
    message =
        files
            .read(entry, intervalsOf(entry.dims, manifest.coordinates(rank, 0)),
                  local.data())
            .message();
    return local;
  }
  void expectSlices(WeightFiles &files) {
    std::vector<float> first = read(files, 0), second = read(files, 1);
    EXPECT_EQ(message, "");
    EXPECT_EQ(first[0], 1);
    EXPECT_EQ(first[39], 40);
    EXPECT_EQ(second[0], 41);
    EXPECT_EQ(second[29], 70);
    EXPECT_EQ(second[30], 0); // past the end
  }
  Manifest manifest;
  PersistentEntry entry;
  std::string data, message;
  TemporaryFolder folder;
};

std::string safetensors(const std::string &header, const std::string &data) {
  std::string length;
  for (int i = 0; i < 8; ++i)
    length += char(header.size() >> (8 * i) & 0xff);
  return length + header + data;
}

TEST(Parameters, ReadsOnlyTheSlice) {
  Fixture f;
  f.folder.write("w.bin", "12345678" + f.data);
  WeightFiles files;
  ASSERT_EQ(files.open(f.manifest, {f.folder.path("")}, "").message(), "");
  f.expectSlices(files);
}

TEST(Parameters, ReadsColumns) {
  Fixture f;
  f.folder.write("w.bin", "12345678" + f.data);
  f.entry.shape = {7, 4};
  f.entry.dims = {{7, 7, 0, 7, {}}, {10, 4, -1, 4, {{0, 1, 2}}}};
  WeightFiles files;
  ASSERT_TRUE(files.open(f.manifest, {f.folder.path("")}, "").ok());
  std::vector<float> first = f.read(files, 0), second = f.read(files, 1);
  EXPECT_EQ(first[0], 0);
  EXPECT_EQ(first[1], 1);
  EXPECT_EQ(first[5], 11);
  EXPECT_EQ(second[0], 4);
  EXPECT_EQ(second[27], 67);
}

TEST(Parameters, AnotherFileOrFolder) {
  Fixture f;
  std::string path = f.folder.write("other.bin", "12345678" + f.data);
  WeightFiles files;
  ASSERT_EQ(files.open(f.manifest, {"/nowhere"}, path).message(), "");
  f.expectSlices(files);
  f.folder.write("w.bin", "12345678" + f.data);
  WeightFiles beside;
  ASSERT_EQ(beside.open(f.manifest, {"/nowhere"}, f.folder.path("")).message(),
            "");
  f.expectSlices(beside);
}

TEST(Parameters, MissingOrShortFilesAreNamed) {
  Fixture f;
  WeightFiles files, shorter;
  std::string message =
      files.open(f.manifest, {f.folder.path("")}, "").message();
  EXPECT_NE(message.find("w.bin"), std::string::npos);
  EXPECT_NE(message.find("--weights"), std::string::npos);
  f.folder.write("w.bin", "1234");
  message = shorter.open(f.manifest, {f.folder.path("")}, "").message();
  EXPECT_NE(message.find("has 4 bytes"), std::string::npos);
}

TEST(Parameters, SafetensorsByName) {
  Fixture f;
  std::string path = f.folder.write(
      "m.safetensors",
      safetensors(R"({"__metadata__":{"format":"pt"},"pad":{"dtype":"U8",)"
                  R"("shape":[2],"data_offsets":[0,2]},"w":{"dtype":"F32",)"
                  R"("shape":[7,10],"data_offsets":[2,282]}})",
                  "ab" + f.data));
  WeightFiles files;
  ASSERT_EQ(files.open(f.manifest, {"/nowhere"}, path).message(), "");
  f.expectSlices(files);
  f.entry.name = "missing";
  f.read(files, 0);
  EXPECT_NE(f.message.find("no tensor 'missing'"), std::string::npos);
  f.entry.name = "pad";
  f.read(files, 0);
  EXPECT_NE(f.message.find("but the program expects f32[7,10]"),
            std::string::npos);
}

/// Seconds of this thread to read the header of so many tensors.
double secondsOfHeader(const TemporaryFolder &folder, int tensors) {
  std::string header;
  for (int i = 0; i < tensors; ++i)
    header += (i ? ",\"layer." : "{\"layer.") + std::to_string(i) +
              R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  std::string path =
      folder.write("many.safetensors", safetensors(header + "}", ""));
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  };
  double best = 1e9;
  for (int tries = 0; tries < 3; ++tries) {
    FileReader file;
    TensorIndex index;
    EXPECT_TRUE(file.open(path).ok());
    double begun = now();
    EXPECT_EQ(readSafetensorsIndex(file, index).message(), "");
    best = std::min(best, now() - begun);
    EXPECT_EQ(index.size(), size_t(tensors));
  }
  return best;
}

/// Eight times the tensors take 8 times as long, and 64 times where each is
/// compared with all before it.
TEST(Parameters, ManySafetensorsTakeLinearTime) {
  TemporaryFolder folder;
  EXPECT_LT(secondsOfHeader(folder, 16000), 30 * secondsOfHeader(folder, 2000));
}

TEST(Parameters, TheNameOfTheHeaderItselfIsATensorsToo) {
  Fixture f;
  std::string path = f.folder.path("out.safetensors");
  std::vector<float> values = {1, 2, 3};
  std::vector<ArrayView> views;
  for (const char *name : {"__metadata__", "__metadata__'", "w"})
    views.push_back({name, APRT_F32, {1}, &values[views.size()]});
  ASSERT_TRUE(writeSafetensors(path, views, {{"step", "7"}}).ok());
  FileReader file;
  TensorIndex index;
  ASSERT_TRUE(file.open(path).ok());
  ASSERT_EQ(readSafetensorsIndex(file, index).message(), "");
  ASSERT_EQ(index.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    float value = 0;
    ASSERT_TRUE(
        file.read(index.at(views[i].name).offset, sizeof(value), &value).ok());
    EXPECT_EQ(value, values[i]);
  }
  EXPECT_EQ(safetensorsName("__metadata__"), "__metadata__'");
  EXPECT_EQ(safetensorsName("__metadata__x"), "__metadata__x");
  EXPECT_NE(
      f.folder.read("out.safetensors").find(R"("__metadata__":{"step":"7"})"),
      std::string::npos);
}

TEST(Parameters, HostileSafetensorsAreRefused) {
  Fixture f;
  auto message = [&](const std::string &bytes) {
    FileReader file;
    TensorIndex index;
    Status status = file.open(f.folder.write("h.safetensors", bytes));
    return status.ok() ? readSafetensorsIndex(file, index).message() : "open";
  };
  auto tensor = [](const std::string &shape, const std::string &range) {
    return R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" +
           range + "}";
  };
  auto one = [&](const std::string &shape, const std::string &range) {
    return message(safetensors("{\"a\":" + tensor(shape, range) + "}",
                               std::string(8, 'x')));
  };
  EXPECT_EQ(one("[2]", "[0,8]"), "");
  EXPECT_NE(one("[1]", "[0,4]").find("does not fill"), std::string::npos);
  EXPECT_NE(one("[1]", "[4,8]").find("hole"), std::string::npos);
  EXPECT_NE(one("[3]", "[0,8]").find("agree"), std::string::npos);
  EXPECT_NE(one("[2]", "[8,0]").find("bad data_offsets"), std::string::npos);
  EXPECT_NE(one("[2]", "[0,16]"), "");
  EXPECT_NE(one("[-2]", "[0,8]"), "");
  EXPECT_NE(one("[4611686018427387904,4]", "[0,8]"), "");
  EXPECT_NE(message(safetensors("{\"a\":" + tensor("[2]", "[0,8]") +
                                    ",\"a\":" + tensor("[2]", "[0,8]") + "}",
                                std::string(8, 'x'))),
            "");
  EXPECT_NE(message(safetensors("{\"a\":" + tensor("[2]", "[0,8]") +
                                    ",\"b\":" + tensor("[1]", "[4,8]") + "}",
                                std::string(8, 'x'))),
            "");
  EXPECT_NE(message(safetensors("not json", "")), "");
  EXPECT_NE(message("abc"), "");
  EXPECT_NE(message(std::string(8, '\xff')), "");
}

} // namespace
