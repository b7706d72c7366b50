//===- WeightFilesTest.cpp - Weights by name, and unchanged files ---------===//

#include "core/WeightFiles.h"
#include "TemporaryFolder.h"
#include "files/FileIdentity.h"

#include <gtest/gtest.h>

using namespace autopar::runtime;
namespace fs = std::filesystem;

namespace {

//===----------------------------------------------------------------------===//
// ONNX messages
//===----------------------------------------------------------------------===//

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += char(value | 0x80);
  return bytes + char(value);
}
std::string number(uint64_t field, uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string text(uint64_t field, const std::string &payload) {
  return varint(field << 3 | 2) + varint(payload.size()) + payload;
}
template <typename Element> std::string bytesOf(std::vector<Element> values) {
  return {reinterpret_cast<const char *>(values.data()),
          values.size() * sizeof(Element)};
}

/// A TensorProto of these two elements.
std::string tensor(const std::string &name, int type, const std::string &data) {
  return number(1, 2) + number(2, uint64_t(type)) + text(8, name) + data;
}
std::string raw(const std::string &name, float a, float b) {
  return tensor(name, 1, text(9, bytesOf<float>({a, b})));
}
std::string place(const std::string &key, const std::string &value) {
  return text(13, text(1, key) + text(2, value));
}
/// A model whose graph has these initializers and nodes.
std::string model(const std::vector<std::string> &initializers,
                  const std::vector<std::string> &nodes = {}) {
  std::string graph = text(2, "g");
  for (const std::string &node : nodes)
    graph += text(1, node);
  for (const std::string &initializer : initializers)
    graph += text(5, initializer);
  return number(1, 8) + text(7, graph);
}
std::string constantNode(const std::string &output, const std::string &value) {
  return text(2, output) + text(4, "Constant") +
         text(5, text(1, "value") + text(5, value));
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

class Weights : public ::testing::Test {
protected:
  Weights() {
    manifest.model = "model.onnx";
    manifest.weightFiles = {{"model.onnx", 100}};
  }
  /// What is read of a parameter of two elements.
  template <typename Element>
  std::vector<Element> read(const std::string &name, aprt_dtype dtype,
                            const std::string &given) {
    PersistentEntry entry;
    entry.name = name;
    entry.dtype = dtype;
    entry.isConstant = isConstant;
    entry.shape = entry.globalShape = {2};
    entry.offset = 4;
    entry.globalBytes = 2 * sizeof(Element);
    entry.dims = {{2, 2, 0, 2, {}}};
    WeightFiles files;
    Status status = files.open(manifest, home(), given);
    std::vector<Element> values(2);
    if (status.ok())
      status = files.read(entry, intervalsOf(entry.dims, {}), values.data());
    message = status.message();
    return values;
  }
  WeightHome home() const { return {folder.path("home")}; }
  bool says(const char *part) const {
    return message.find(part) != std::string::npos;
  }

  TemporaryFolder folder;
  Manifest manifest;
  bool isConstant = false;
  std::string message;
};

TEST_F(Weights, OfOnnxAreFoundByName) {
  folder.write("other.bin", "pad." + bytesOf<float>({7, 8}));
  std::string path = folder.write(
      "other.onnx",
      model({raw("raw", 1, 2),
             tensor("floats", 1, text(4, bytesOf<float>({3, 4}))),
             tensor("halves", 10, text(5, varint(0x3c00) + varint(0x4000))),
             tensor("longs", 7, number(7, 5) + number(7, uint64_t(-6))),
             tensor("bytes", 3, text(5, varint(9) + varint(uint64_t(-1)))),
             tensor("outside", 1,
                    number(14, 1) + place("location", "other.bin") +
                        place("offset", "4") + place("length", "8"))},
            {constantNode("constant", raw("", 5, 6))}));
  EXPECT_EQ(read<float>("raw", APRT_F32, path), (std::vector<float>{1, 2}));
  EXPECT_EQ(message, "");
  EXPECT_EQ(read<float>("floats", APRT_F32, path), (std::vector<float>{3, 4}));
  EXPECT_EQ(read<float>("constant", APRT_F32, path),
            (std::vector<float>{5, 6}));
  EXPECT_EQ(read<float>("outside", APRT_F32, path), (std::vector<float>{7, 8}));
  EXPECT_EQ(message, "");
  EXPECT_EQ(read<uint16_t>("halves", APRT_F16, path),
            (std::vector<uint16_t>{0x3c00, 0x4000}));
  EXPECT_EQ(read<int64_t>("longs", APRT_I64, path),
            (std::vector<int64_t>{5, -6}));
  EXPECT_EQ(read<int8_t>("bytes", APRT_I8, path), (std::vector<int8_t>{9, -1}));
  read<float>("absent", APRT_F32, path);
  EXPECT_TRUE(says("other.onnx' has no tensor 'absent'")) << message;
  read<float>("longs", APRT_F32, path);
  EXPECT_TRUE(says("tensor 'longs' is i64[2], but the program expects f32[2]"))
      << message;
}

TEST_F(Weights, OutsideTheFolderAreRefused) {
  folder.write("secret", std::string(64, 's'));
  fs::create_directory(folder.path("in"));
  for (const char *file : {"../secret", "/etc/passwd", "absent"}) {
    std::string path = folder.write(
        "in/m.onnx",
        model({tensor("w", 1, number(14, 1) + place("location", file))}));
    read<float>("w", APRT_F32, path);
    EXPECT_TRUE(says("in/m.onnx")) << message;
  }
  std::string path = folder.write(
      "in/m.onnx",
      model({tensor("w", 1, number(14, 1) + place("location", "short"))}));
  folder.write("in/short", "1234");
  read<float>("w", APRT_F32, path);
  EXPECT_TRUE(says("has 4 bytes")) << message;
}

TEST_F(Weights, ThatAreNotReadAreTold) {
  std::string path = folder.write(
      "m.onnx", model({raw("w", 1, 2), raw("a.running_mean", 0, 0)}));
  WeightFiles files;
  EXPECT_TRUE(files.open(manifest, home(), path).ok());
  ASSERT_EQ(files.doubts().size(), 1u);
  EXPECT_NE(files.doubts()[0].find("'a.running_mean', which this program does "
                                   "not read"),
            std::string::npos);
  PersistentEntry entry;
  entry.name = "a.running_mean";
  manifest.persistent = {{}, {entry}};
  EXPECT_TRUE(files.doubts().empty()); // 'w' may be a constant of a graph
  std::string header =
      R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
      R"("a.running_mean":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},)"
      R"("n.num_batches_tracked":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})";
  std::string bytes(8, '\0');
  bytes[0] = char(header.size());
  WeightFiles others;
  path = folder.write("w.safetensors", bytes + header + std::string(16, 'x'));
  EXPECT_TRUE(others.open(manifest, home(), path).ok());
  ASSERT_EQ(others.doubts().size(), 1u);
  EXPECT_NE(others.doubts()[0].find("does not read 1 of the tensors"),
            std::string::npos);
}

/// Cut off or with any byte changed, a model is read or refused.
TEST_F(Weights, OfDamagedModelsDoNotCrash) {
  std::string good = model(
      {raw("a", 1, 2),
       tensor("b", 10, text(5, varint(0x3c00) + varint(0x4000))),
       tensor("c", 1,
              number(14, 1) + place("location", "x") + place("offset", "4"))},
      {constantNode("d", raw("", 5, 6))});
  for (size_t length = 0; length < good.size(); ++length)
    read<float>("a", APRT_F32, folder.write("m.onnx", good.substr(0, length)));
  for (size_t at = 0; at < good.size(); ++at)
    for (int bit : {0, 3, 7}) {
      std::string bad = good;
      bad[at] = char(bad[at] ^ (1 << bit));
      std::string path = folder.write("m.onnx", bad);
      read<float>("a", APRT_F32, path);
      read<uint16_t>("b", APRT_F16, path);
    }
}

TEST_F(Weights, OfAFolderAreThoseOfAllItsFiles) {
  fs::create_directory(folder.path("two"));
  folder.write("two/a.onnx", model({raw("a", 1, 2), raw("both", 0, 0)}));
  folder.write("two/b.onnx", model({raw("b", 3, 4), raw("both", 1, 1)}));
  std::string path = folder.path("two");
  EXPECT_EQ(read<float>("a", APRT_F32, path), (std::vector<float>{1, 2}));
  EXPECT_EQ(read<float>("b", APRT_F32, path), (std::vector<float>{3, 4}));
  EXPECT_EQ(message, "");
  read<float>("both", APRT_F32, path);
  EXPECT_TRUE(says("a.onnx' and") && says("have a tensor 'both'")) << message;
  folder.write("two/model.onnx", model({raw("both", 5, 6)}));
  EXPECT_EQ(read<float>("both", APRT_F32, path), (std::vector<float>{5, 6}));
  fs::create_directory(folder.path("none"));
  read<float>("a", APRT_F32, folder.path("none"));
  EXPECT_TRUE(says("holds neither") && says("'model.onnx'")) << message;
}

TEST_F(Weights, ConstantsStayThoseOfTheModel) {
  fs::create_directory(folder.path("home"));
  folder.write("home/model.onnx",
               "1234" + bytesOf<float>({8, 9}) + std::string(100, ' '));
  std::string path = folder.write("other.onnx", model({raw("a", 1, 2)}));
  read<float>("constant", APRT_F32, path);
  EXPECT_TRUE(says("has no tensor 'constant'")) << message;
  isConstant = true;
  EXPECT_EQ(read<float>("constant", APRT_F32, path),
            (std::vector<float>{8, 9}));
  EXPECT_EQ(message, "");
}

TEST_F(Weights, WithOtherKnownValuesAreRefused) {
  ContentHash hash;
  std::string value = bytesOf<float>({1, 2});
  hash.add(value.data(), value.size());
  manifest.knownTensors = {{"scale", 8, hash.value()}};
  std::string path =
      folder.write("m.onnx", model({raw("a", 1, 2), raw("scale", 1, 2)}));
  read<float>("a", APRT_F32, path);
  EXPECT_EQ(message, "");
  folder.write("m.onnx", model({raw("a", 1, 2), raw("scale", 1, 3)}));
  read<float>("a", APRT_F32, path);
  EXPECT_TRUE(says("'scale' has another value than in the model")) << message;
}

//===----------------------------------------------------------------------===//
// Unchanged files
//===----------------------------------------------------------------------===//

class CompiledFiles : public ::testing::Test {
protected:
  CompiledFiles() {
    write("graph.weights.rest");
    manifest.weightFiles = {{"m.onnx", 14}};
    PersistentEntry entry;
    entry.isParameter = true;
    entry.offset = 6;
    entry.globalBytes = 8;
    manifest.persistent = {{entry}};
    WeightFileEntry &file = manifest.weightFiles[0];
    uint64_t structure = 0, content = 0;
    FileReader reader;
    EXPECT_TRUE(reader.open(folder.path("m.onnx")).ok());
    EXPECT_TRUE(hashOutside(reader, {{6, 14}}, structure).ok());
    EXPECT_TRUE(hashAll(reader, content).ok());
    file.size = reader.size();
    file.structure = structure;
    file.content = content;
  }
  void write(const std::string &bytes) { folder.write("m.onnx", bytes); }
  std::string check() {
    WeightFiles files;
    return files.open(manifest, {folder.path("")}, "").message();
  }
  std::string verify() {
    WeightFiles files;
    Status status = files.open(manifest, {folder.path("")}, "");
    return (status.ok() ? files.verify() : status).message();
  }
  TemporaryFolder folder;
  Manifest manifest;
};

TEST_F(CompiledFiles, MustKeepSizeAndStructure) {
  EXPECT_EQ(check(), "");
  write("graph.weights.rest.metadata");
  EXPECT_NE(check().find("it has 27 bytes, not 18"), std::string::npos);
  EXPECT_NE(check().find("m.onnx' is not the file"), std::string::npos);
  EXPECT_NE(check().find("--weights"), std::string::npos);
  write("graph.weights.rust");
  EXPECT_NE(check().find("its graph, names, shapes or constants differ"),
            std::string::npos);
  write("graph.WEIGHTS.rest");
  EXPECT_EQ(check(), "");
}

TEST_F(CompiledFiles, AreVerifiedByAllBytes) {
  EXPECT_EQ(verify(), "");
  write("graph.WEIGHTS.rest");
  EXPECT_NE(verify().find("its bytes differ"), std::string::npos);
  manifest.weightFiles[0].content.reset();
  EXPECT_NE(verify().find("was not there when"), std::string::npos);
}

/// What stamps of a file that was opened say after `change`.
class ChangingFiles : public CompiledFiles {
protected:
  template <typename Change> std::string stampsAfter(const Change &change) {
    write("graph.weights.rest");
    WeightFiles files;
    EXPECT_TRUE(files.open(manifest, {folder.path("")}, "").ok());
    std::vector<FileStamp> stamps = files.stamps();
    EXPECT_EQ(stamps.size(), 1u);
    EXPECT_EQ(stamps[0].check().message(), "");
    change(folder.path("m.onnx"));
    return stamps[0].check().message();
  }
};

TEST_F(ChangingFiles, AreTold) {
  EXPECT_EQ(stampsAfter([](const std::string &) {}), "");
  std::string told =
      stampsAfter([&](const std::string &) { write("graph.WEIGHTS.rest"); });
  EXPECT_NE(told.find("m.onnx' was changed while it was read"),
            std::string::npos)
      << told;
  told = stampsAfter([](const std::string &path) { fs::resize_file(path, 9); });
  EXPECT_NE(told.find("was changed"), std::string::npos) << told;
  told = stampsAfter([&](const std::string &path) {
    fs::rename(folder.write("new", "graph.WEIGHTS.rest"), path);
  });
  EXPECT_NE(told.find("was replaced by another file"), std::string::npos)
      << told;
  told = stampsAfter([](const std::string &path) { fs::remove(path); });
  EXPECT_NE(told.find("was removed"), std::string::npos) << told;
}

/// However soon after it was written, and with the old time put back.
TEST_F(ChangingFiles, AreToldWithinOneTickOfTheClock) {
  for (int i = 0; i < 20; ++i)
    EXPECT_NE(stampsAfter([&](const std::string &path) {
                auto time = fs::last_write_time(path);
                write("graph.WEIGHTS.rest");
                fs::last_write_time(path, time);
              }),
              "");
}

/// A file that was cut off is an error where its bytes are wanted, not a
/// signal.
TEST_F(Weights, CutOffMeanwhileAreAnError) {
  std::vector<float> numbers(100000, 1);
  std::string floats = text(4, bytesOf(numbers));
  std::string shape = number(1, numbers.size()) + number(2, 1);
  std::string path = folder.write(
      "m.onnx", model({shape + text(8, "packed") + floats,
                       shape + text(8, "raw") + text(9, bytesOf(numbers))}));
  WeightFiles files;
  ASSERT_EQ(files.open(manifest, home(), path).message(), "");
  fs::resize_file(path, 4096);
  PersistentEntry entry;
  entry.shape = entry.globalShape = {int64_t(numbers.size())};
  entry.dims = {{int64_t(numbers.size()),
                 int64_t(numbers.size()),
                 0,
                 int64_t(numbers.size()),
                 {}}};
  for (const char *name : {"packed", "raw"}) {
    entry.name = name;
    std::string failed =
        files.read(entry, intervalsOf(entry.dims, {}), numbers.data())
            .message();
    EXPECT_NE(failed.find("m.onnx' ended while it was read"), std::string::npos)
        << failed;
  }
  EXPECT_NE(files.stamps()[0].check().message(), "");
}

TEST_F(CompiledFiles, AModelWithoutParametersMayBeMissing) {
  manifest.weightFiles[0].bytes = 0;
  manifest.persistent[0].clear();
  fs::remove(folder.path("m.onnx"));
  EXPECT_EQ(check(), "");
  write("another model.....");
  EXPECT_NE(check(), "");
}

} // namespace
