//===- CheckpointTest.cpp - States saved and read again -------------------===//

#include "checkpoint/Checkpoint.h"
#include "TemporaryFolder.h"
#include "checkpoint/CheckpointWriter.h"
#include "core/Safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>

using namespace autopar::runtime;

namespace {

/// A dimension of `size` elements in equal blocks, the last one padded, over
/// the mesh axis `axis` of `parts`; of the whole with `parts` 1.
DimSlice dimOf(int64_t size, int64_t axis, int64_t parts) {
  int64_t length = (size + parts - 1) / parts;
  return {size, parts > 1 ? length : 0, 0, parts > 1 ? length : size,
          parts > 1 ? std::vector<SplitDigit>{{axis, 1, parts}}
                    : std::vector<SplitDigit>{}};
}

PersistentEntry stateOf(const std::string &name, aprt_dtype dtype,
                        std::vector<DimSlice> dims, StateRole role) {
  PersistentEntry entry;
  entry.name = name;
  entry.dtype = dtype;
  entry.isState = true;
  entry.role = role;
  entry.globalBytes = elementBytes(dtype);
  for (const DimSlice &dim : dims) {
    entry.globalShape.push_back(dim.size);
    entry.shape.push_back(dim.length);
    entry.globalBytes *= dim.size;
  }
  entry.dims = std::move(dims);
  return entry;
}

/// Two axes, of rows and of columns; every stage has the step, the last one a
/// matrix of its own.
Manifest programOn(int64_t rows, int64_t columns, int stages) {
  Manifest manifest;
  manifest.model = "test.onnx";
  manifest.mesh = {{"x", rows}, {"y", columns}};
  manifest.stages = stages;
  manifest.devicesPerStage = int(rows * columns);
  PersistentEntry matrix =
      stateOf("w", APRT_F32, {dimOf(7, 0, rows), dimOf(5, 1, columns)},
              StateRole::Model);
  PersistentEntry moment =
      stateOf("w/m", APRT_F64, {dimOf(7, 0, 1), dimOf(5, 1, columns)},
              StateRole::Optimizer);
  // A packed projection: stored as a stack of its pieces where rows are cut.
  PersistentEntry packed = stateOf(
      "packed", APRT_F32,
      rows > 1 ? std::vector<DimSlice>{dimOf(3, 0, 1), dimOf(5, 0, rows)}
               : std::vector<DimSlice>{dimOf(15, 0, 1)},
      StateRole::Model);
  packed.globalShape = {15};
  PersistentEntry step = stateOf("step", APRT_I64, {}, StateRole::Optimizer);
  for (int stage = 0; stage < stages; ++stage) {
    manifest.persistent.push_back({step});
    if (stage + 1 == stages)
      manifest.persistent.back().insert(manifest.persistent.back().begin(),
                                        {matrix, moment, packed});
  }
  return manifest;
}

/// The bytes of a whole state, by its name.
std::string bytesOf(const PersistentEntry &entry) {
  std::string bytes(size_t(entry.globalBytes), '\0');
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = char(i * 37 + entry.name.size());
  return bytes;
}

std::string partOf(const PersistentEntry &entry, const Manifest &manifest,
                   int rank) {
  std::vector<Interval> intervals =
      intervalsOf(entry.dims, manifest.coordinates(rank, 0));
  int64_t element = elementBytes(entry.dtype);
  std::string part(size_t(elementsOf(intervals) * element), '\0');
  readSlice(intervals, element, bytesOf(entry).data(), part.data());
  return part;
}

/// Saves the states as the ranks of the program hold them.
void save(const Manifest &manifest, const CheckpointFolder &folder,
          int64_t step, int64_t keep = 0) {
  CheckpointBoard board;
  SharedMemory memory;
  ASSERT_TRUE(board.create(manifest.worldSize(), memory).ok());
  std::atomic<uint32_t> aborted{0};
  std::vector<std::unique_ptr<CheckpointWriter>> writers;
  for (int rank = 0; rank < manifest.worldSize(); ++rank) {
    writers.push_back(std::make_unique<CheckpointWriter>(
        folder, board, manifest, rank, keep, aborted));
    Status status = writers.back()->save(step, [&](const SavedBlock &saved,
                                                   void *to) {
      const PersistentEntry &entry =
          manifest.persistent[size_t(rank / manifest.devicesPerStage)]
                             [size_t(saved.index)];
      std::string part = partOf(entry, manifest, rank);
      int64_t bytes = elementBytes(entry.dtype);
      forEachOverlap(saved.block,
                     intervalsOf(entry.dims, manifest.coordinates(rank, 0)),
                     [&](const OverlapRun &run) {
                       std::memcpy(static_cast<char *>(to) + run.boxAt * bytes,
                                   part.data() + run.partAt * bytes,
                                   size_t(run.count * bytes));
                     });
      return Status::success();
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }
  for (std::unique_ptr<CheckpointWriter> &writer : writers)
    writer->finish();
}

/// Every rank of the program finds its part of each state.
void expectStates(const Checkpoint &checkpoint, const Manifest &manifest) {
  Status fits = checkStates(checkpoint, manifest);
  ASSERT_TRUE(fits.ok()) << fits.message();
  for (int rank = 0; rank < manifest.worldSize(); ++rank)
    for (const PersistentEntry &entry :
         manifest.persistent[size_t(rank / manifest.devicesPerStage)]) {
      std::vector<Interval> intervals =
          intervalsOf(entry.dims, manifest.coordinates(rank, 0));
      LoadedState loaded;
      ASSERT_TRUE(
          checkpoint.read(stateKey(entry.role, entry.name), intervals, loaded)
              .ok());
      std::string got(size_t(elementsOf(intervals) * elementBytes(entry.dtype)),
                      '?');
      loaded.copy(intervals, got.data());
      EXPECT_EQ(got, partOf(entry, manifest, rank))
          << entry.name << " on rank " << rank;
    }
}

TEST(Checkpoint, AnyPlanReadsWhatAnyPlanWrote) {
  std::vector<Manifest> programs;
  for (auto [rows, columns, stages] :
       {std::tuple<int64_t, int64_t, int>{1, 1, 1},
        {2, 1, 1},
        {3, 1, 1},
        {4, 1, 1},
        {1, 3, 1},
        {2, 2, 1},
        {3, 2, 1},
        {2, 1, 2},
        {1, 1, 3}})
    programs.push_back(programOn(rows, columns, stages));
  for (const Manifest &writing : programs) {
    TemporaryFolder temporary;
    CheckpointFolder folder(temporary.path("run"));
    ASSERT_TRUE(folder.lock().ok());
    save(writing, folder, 5);
    Checkpoint checkpoint;
    Status opened = checkpoint.open(folder.folderOf(5), /*readsAll=*/true);
    ASSERT_TRUE(opened.ok()) << opened.message();
    EXPECT_EQ(checkpoint.step(), 5);
    for (const Manifest &reading : programs)
      expectStates(checkpoint, reading);
  }
}

TEST(Checkpoint, EachStateIsSavedOnce) {
  for (auto [rows, columns, stages] :
       {std::tuple<int64_t, int64_t, int>{4, 1, 1}, {3, 2, 1}, {2, 2, 3}}) {
    Manifest manifest = programOn(rows, columns, stages);
    std::map<std::string, int64_t> elements;
    for (int rank = 0; rank < manifest.worldSize(); ++rank)
      for (const SavedBlock &saved : blocksOfRank(manifest, rank))
        elements[saved.block.key] += saved.block.elements();
    EXPECT_EQ(elements,
              (std::map<std::string, int64_t>{{"model/packed", 15},
                                              {"model/w", 35},
                                              {"optimizer/step", 1},
                                              {"optimizer/w/m", 35}}));
  }
}

TEST(Checkpoint, KeepsTheNewestAndReplacesOneOfTheSameStep) {
  TemporaryFolder temporary;
  Manifest manifest = programOn(2, 1, 1);
  CheckpointFolder folder(temporary.path("run"));
  ASSERT_TRUE(folder.lock().ok());
  for (int64_t step : {1, 2, 3, 3, 10})
    save(manifest, folder, step, /*keep=*/2);
  EXPECT_EQ(folder.steps(), (std::vector<int64_t>{10, 3}));
  Checkpoint checkpoint;
  EXPECT_TRUE(checkpoint.open(folder.folderOf(3), /*readsAll=*/false).ok());
}

/// Saves a state of these numbers, and keeps one checkpoint.
void saveNumbers(const CheckpointFolder &folder, int64_t step,
                 const std::vector<float> &numbers) {
  std::vector<int64_t> shape{int64_t(numbers.size())};
  FileImage image;
  ASSERT_TRUE(
      image.create({{"model/w", APRT_F32, shape, shape, {0}, shape}}).ok());
  std::memcpy(image.of(0), numbers.data(), numbers.size() * sizeof(float));
  std::string file;
  ASSERT_TRUE(folder.fileOfRank(step, 0, file).ok());
  ASSERT_TRUE(image.write(file).ok());
  CheckpointManifest manifest;
  manifest.step = step;
  ASSERT_TRUE(folder.finish(step, 1, manifest, /*keep=*/1).ok());
}

/// States with NaN do not displace the last ones that are finite.
TEST(Checkpoint, KeepsTheNewestThatIsFinite) {
  TemporaryFolder temporary;
  CheckpointFolder folder(temporary.path("run"));
  ASSERT_TRUE(folder.lock().ok());
  float infinity = std::numeric_limits<float>::infinity();
  saveNumbers(folder, 1, {1, 2});
  saveNumbers(folder, 2, {1, -infinity}); // as in a mask
  saveNumbers(folder, 3, {std::nanf(""), 2});
  saveNumbers(folder, 4, {1, infinity});
  EXPECT_EQ(folder.steps(), (std::vector<int64_t>{4, 2}));
  Checkpoint checkpoint;
  std::vector<std::string> doubts;
  ASSERT_TRUE(openCheckpoint(temporary.path("run"), /*readsAll=*/true,
                             checkpoint, doubts)
                  .ok());
  EXPECT_EQ(checkpoint.about().notFinite,
            (std::vector<std::string>{"model/w"}));
  EXPECT_EQ(doubtOfNumbers(checkpoint),
            "in the checkpoint '" + folder.folderOf(4) +
                "' not all numbers are finite of 'model/w'; '" +
                folder.folderOf(2) +
                "' is the newest before it with only finite numbers");
  ASSERT_TRUE(
      openCheckpoint(folder.folderOf(2), true, checkpoint, doubts).ok());
  EXPECT_EQ(doubtOfNumbers(checkpoint), "");
  saveNumbers(folder, 5, {1, 2});
  EXPECT_EQ(folder.steps(), (std::vector<int64_t>{5}));
}

TEST(Checkpoint, FolderInUseIsRefusedAndHalfWrittenOnesGo) {
  TemporaryFolder temporary;
  {
    CheckpointFolder folder(temporary.path("run"));
    ASSERT_TRUE(folder.lock().ok());
    std::string file;
    ASSERT_TRUE(folder.fileOfRank(7, 0, file).ok());
    CheckpointFolder other(temporary.path("run"));
    EXPECT_NE(other.lock().message().find("another run writes checkpoints"),
              std::string::npos);
  }
  CheckpointFolder again(temporary.path("run"));
  ASSERT_TRUE(again.lock().ok());
  EXPECT_FALSE(
      std::filesystem::exists(temporary.path("run/.writing-00000007")));
}

/// A run that was killed between two renames had moved the old checkpoint
/// aside.
TEST(Checkpoint, OneThatWasBeingReplacedGetsItsNameAgain) {
  TemporaryFolder temporary;
  Manifest manifest = programOn(1, 1, 1);
  std::string step = temporary.path("run/step-00000003"),
              replaced = temporary.path("run/.replaced-00000003");
  auto lockAgain = [&] {
    CheckpointFolder folder(temporary.path("run"));
    EXPECT_TRUE(folder.lock().ok());
    EXPECT_EQ(folder.steps(), (std::vector<int64_t>{3}));
    EXPECT_FALSE(std::filesystem::exists(replaced));
    Checkpoint checkpoint;
    EXPECT_TRUE(checkpoint.open(step, /*readsAll=*/true).ok());
  };
  {
    CheckpointFolder folder(temporary.path("run"));
    ASSERT_TRUE(folder.lock().ok());
    save(manifest, folder, 3);
  }
  std::filesystem::rename(step, replaced);
  lockAgain();
  std::filesystem::copy(step, replaced); // killed before it was removed
  lockAgain();
}

/// Steps and sizes of a manifest are digits, which another digit replaces.
TEST(Checkpoint, ManifestHasItsHash) {
  TemporaryFolder temporary;
  CheckpointFolder folder(temporary.path("run"));
  ASSERT_TRUE(folder.lock().ok());
  save(programOn(2, 1, 1), folder, 3);
  std::string path = folder.folderOf(3) + "/manifest.json", text;
  {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  CheckpointManifest manifest;
  ASSERT_TRUE(readManifest(folder.folderOf(3), manifest).ok());
  size_t at = text.find("\"step\": 3");
  ASSERT_NE(at, std::string::npos);
  text[at + 8] = '5';
  std::ofstream(path) << text;
  EXPECT_NE(readManifest(folder.folderOf(3), manifest)
                .message()
                .find("its hash is another one"),
            std::string::npos);
}

/// A manifest keeps hashes and the place of an iterable; those of older ones
/// say neither.
TEST(Checkpoint, ManifestKnowsWhatWroteIt) {
  TemporaryFolder temporary;
  CheckpointFolder folder(temporary.path("run"));
  ASSERT_TRUE(folder.lock().ok());
  Manifest writing = programOn(2, 1, 1), reading = programOn(1, 1, 1);
  save(writing, folder, 1); // without hashes
  writing.hashes = {"00000000000000aa", "00000000000000bb"};
  save(writing, folder, 2);
  Checkpoint older, newer;
  ASSERT_TRUE(older.open(folder.folderOf(1), /*readsAll=*/false).ok());
  ASSERT_TRUE(newer.open(folder.folderOf(2), /*readsAll=*/false).ok());
  EXPECT_EQ(newer.about().hashes.recipe, "00000000000000bb");
  EXPECT_EQ(newer.about().place.iterable, "");
  EXPECT_EQ(doubtOfHashes(newer, reading), ""); // it does not know its own
  reading.hashes = writing.hashes;
  EXPECT_EQ(doubtOfHashes(older, reading), "");
  EXPECT_EQ(doubtOfHashes(newer, reading), "");
  reading.hashes.recipe = "00000000000000cc";
  EXPECT_NE(doubtOfHashes(newer, reading).find("the recipe is not as when"),
            std::string::npos);
  EXPECT_EQ(doubtOfHashes(older, reading), "");
  reading.hashes.model = "00000000000000dd";
  EXPECT_NE(doubtOfHashes(newer, reading).find("model and recipe are not"),
            std::string::npos);
  newer.leaveOut("optimizer/"); // for another recipe
  EXPECT_NE(doubtOfHashes(newer, reading).find("the model's graph is not"),
            std::string::npos);
}

/// A part is read to where it goes; a file that changed meanwhile is found.
TEST(Checkpoint, CopiesPartsOfFilesThatStayAsTheyWere) {
  TemporaryFolder temporary;
  CheckpointFolder folder(temporary.path("run"));
  ASSERT_TRUE(folder.lock().ok());
  Manifest writing = programOn(2, 2, 1), reading = programOn(3, 2, 1);
  save(writing, folder, 3);
  Checkpoint checkpoint;
  ASSERT_TRUE(checkpoint.open(folder.folderOf(3), /*readsAll=*/true).ok());
  for (int rank = 0; rank < reading.worldSize(); ++rank)
    for (const PersistentEntry &entry : reading.persistent[0]) {
      std::string want = partOf(entry, reading, rank), got(want.size(), '?');
      ASSERT_TRUE(
          checkpoint
              .copy(stateKey(entry.role, entry.name),
                    intervalsOf(entry.dims, reading.coordinates(rank, 0)),
                    got.data())
              .ok());
      EXPECT_EQ(got, want) << entry.name << " on rank " << rank;
    }
  EXPECT_TRUE(checkpoint.checkFiles().ok());
  std::ofstream(folder.folderOf(3) + "/" + rankFile(1), std::ios::app) << "x";
  EXPECT_NE(checkpoint.checkFiles().message().find("was changed"),
            std::string::npos);
}

/// A file may say anything of its blocks.
TEST(Checkpoint, BlocksMustBeWithinTheirStates) {
  TemporaryFolder temporary;
  std::string bytes(24, 'x');
  auto read = [&](const std::string &place) {
    std::string path = temporary.path("f");
    EXPECT_TRUE(writeSafetensors(path,
                                 {{"model/w", APRT_F32, {2, 3}, &bytes[0]}},
                                 {{"model/w", place}})
                    .ok());
    FileReader file;
    EXPECT_TRUE(file.open(path).ok());
    std::vector<StoredBlock> blocks;
    return readCheckpointFile(file, blocks).message();
  };
  const std::string hash = R"("hash":"0123456789abcdef")";
  EXPECT_EQ(read(R"({"shape":[4,3],"start":[2,0],)" + hash + "}"), "");
  for (const char *place :
       {R"({"shape":[4,3],"start":[3,0],)", R"({"shape":[4],"start":[0],)",
        R"({"shape":[4,3],"start":[0],)", R"({"shape":[1,3],"start":[0,0],)",
        R"({"shape":[4,3],"start":[-1,0],)",
        R"({"shape":[9223372036854775807,3],"start":[9223372036854775805,0],)"})
    EXPECT_NE(read(place + hash + "}"), "") << place;
  for (const char *place : {"", "[]", "{}", "null", R"({"shape":[4,3]})",
                            R"({"shape":[4,3],"start":[0,0],"hash":"12"})"})
    EXPECT_NE(read(place), "") << place;
}

TEST(Checkpoint, ManifestsMayBeAnything) {
  TemporaryFolder temporary;
  auto read = [&](const std::string &text) {
    temporary.write("manifest.json", text);
    CheckpointManifest manifest;
    return readManifest(temporary.path("."), manifest).message();
  };
  EXPECT_NE(read("").find("is cut off or damaged"), std::string::npos);
  EXPECT_NE(read("[]").find("is cut off or damaged"), std::string::npos);
  EXPECT_NE(read(R"({"format":2})").find("a newer autopar writes"),
            std::string::npos);
  EXPECT_NE(read(R"({"format":0})").find("must be an integer"),
            std::string::npos);
  std::string head = R"({"format":1,"step":3,"model":"m","compiler":"c",)"
                     R"("mesh":"","files":[)";
  EXPECT_EQ(read(head + "]}"), "");
  for (const char *hash : {"5", "\"\"", "\"0123456789abcdef\"", "[]"})
    EXPECT_NE(read(head + "],\"hash\": " + hash + "}")
                  .find("its hash is another one"),
              std::string::npos)
        << hash;
  EXPECT_NE(
      read(head + R"({"name":"../f","bytes":1,"header":"0123456789abcdef"}]})")
          .find("no file of the folder"),
      std::string::npos);
  EXPECT_NE(
      read(head + R"({"name":"f","bytes":1,"header":"0123456789abcdef"}]})")
          .find("cannot find"),
      std::string::npos);
}

/// Blocks that one hasher takes at once, and ones of many pieces: each has the
/// hash of its own bytes, and only one has a number that is not finite.
TEST(CheckpointFile, HasTheHashOfEachBlock) {
  TemporaryFolder temporary;
  std::vector<StateBlock> blocks;
  for (int64_t elements : {3, 5000000, 0, 9000001, 70000, 1}) {
    StateBlock block;
    block.key = "model/" + std::to_string(blocks.size());
    block.dtype = APRT_F32;
    block.shape = block.view = block.lengths = {elements};
    block.starts = {0};
    blocks.push_back(block);
  }
  FileImage image;
  ASSERT_TRUE(image.create(blocks).ok());
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < blocks.size(); ++i) {
    int64_t elements = blocks[i].elements();
    auto *values = reinterpret_cast<float *>(image.of(i));
    for (int64_t at = 0; at < elements; ++at)
      values[at] = float(at * 7 + int64_t(i));
    if (i == 3)
      values[elements - 1] = std::numeric_limits<float>::quiet_NaN();
    ContentHash hash;
    hash.add(values, size_t(blocks[i].bytes()));
    hashes.push_back(hash.value());
  }
  for (int round = 0; round < 2;
       ++round) { // an image is written again and again
    std::string path = temporary.path("f");
    ASSERT_EQ(image.write(path).message(), "");
    FileReader file;
    ASSERT_TRUE(file.open(path).ok());
    std::vector<StoredBlock> stored;
    ASSERT_EQ(readCheckpointFile(file, stored).message(), "");
    ASSERT_EQ(stored.size(), blocks.size());
    for (const StoredBlock &block : stored) {
      size_t i = size_t(block.block.key.back() - '0');
      EXPECT_EQ(block.hash, hashes[i]) << i;
      EXPECT_EQ(block.isFinite, i != 3) << i;
    }
  }
}

} // namespace
