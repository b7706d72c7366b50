//===- FilesTest.cpp - Files that come and go -----------------------------===//

#include "TemporaryFolder.h"
#include "files/BeneathFile.h"
#include "files/FileIdentity.h"
#include "files/OutputFile.h"
#include "files/Text.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

using namespace autopar::runtime;
namespace fs = std::filesystem;

namespace {

uint64_t hashOf(const std::string &text, size_t piece) {
  ContentHash hash;
  for (size_t at = 0; at < text.size(); at += piece)
    hash.add(text.data() + at, std::min(piece, text.size() - at));
  return hash.value();
}

TEST(ContentHash, IsThatOfTheStandard) {
  EXPECT_EQ(hashOf("", 1), 0xef46db3751d8e999u);
  EXPECT_EQ(hashOf("a", 1), 0xd24ec4f1a98c6e5bu);
  EXPECT_EQ(hashOf("abc", 2), 0x44bc2cf5ad770999u);
  EXPECT_EQ(hashOf("The quick brown fox jumps over the lazy dog", 100),
            0x0b242d361fda71bcu);
}

TEST(ContentHash, PiecesDoNotMatter) {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += char(i * 7);
  for (size_t piece : {1, 3, 31, 32, 33, 64, 999})
    EXPECT_EQ(hashOf(text, piece), hashOf(text, 1000));
}

TEST(ContentHash, IsTextAndBack) {
  uint64_t hash = 0;
  EXPECT_EQ(formatHash(0x0b242d361fda71bcu), "0b242d361fda71bc");
  EXPECT_TRUE(parseHash("0b242d361fda71bc", hash));
  EXPECT_EQ(hash, 0x0b242d361fda71bcu);
  for (const char *text : {"", "0b24", "0b242d361fda71bg", "0B242d361fda71bc"})
    EXPECT_FALSE(parseHash(text, hash)) << text;
}

TEST(FileIdentity, LeavesOutTheData) {
  TemporaryFolder folder;
  auto hash = [&](const std::string &bytes) {
    FileReader file;
    uint64_t result = 0;
    EXPECT_TRUE(file.open(folder.write("f", bytes)).ok());
    EXPECT_TRUE(hashOutside(file, {{6, 8}, {2, 4}, {3, 5}}, result).ok());
    return result;
  };
  EXPECT_EQ(hash("ab...f..ij"), hash("abXYZfXYij"));
  EXPECT_NE(hash("ab...f..ij"), hash("ab...g..ij"));
  EXPECT_NE(hash("ab...f..ij"), hash("ab...f..ik"));
}

TEST(Text, FindsWhatWasMeant) {
  EXPECT_EQ(didYouMean("tesnor", {"data", "tensor"}),
            "; did you mean 'tensor'?");
  EXPECT_EQ(didYouMean("--input", {"--inputs", "--json"}),
            "; did you mean '--inputs'?");
  EXPECT_EQ(didYouMean("frobnicate", {"data", "tensor"}), "");
  EXPECT_EQ(didYouMean("x", {"y"}), "");
  // What goes on after a dash is meant before what is a slip away.
  const std::vector<std::string> types = {
      "v100-32gb", "a100-40gb", "a100-80gb", "h100-80gb", "h200", "h100-pcie"};
  EXPECT_EQ(didYouMean("h100", types),
            "; did you mean 'h100-80gb' or 'h100-pcie'?");
  EXPECT_EQ(didYouMean("A100", types),
            "; did you mean 'a100-40gb' or 'a100-80gb'?");
  EXPECT_EQ(didYouMean("H200", types), "; did you mean 'h200'?");
  EXPECT_EQ(didYouMean("", types), "");
}

TEST(Text, BytesAreBinary) {
  EXPECT_EQ(bytesText(12), "12 B");
  EXPECT_EQ(bytesText(1.5 * (1 << 20)), "1.5 MiB");
  EXPECT_EQ(bytesText(3.25 * (1 << 30)), "3.2 GiB");
}

class OutputFiles : public ::testing::Test {
protected:
  /// Names in the folder.
  int count() const {
    int number = 0;
    for (const auto &entry : fs::directory_iterator(folder.path("")))
      number += !entry.path().empty();
    return number;
  }
  TemporaryFolder folder;
};

TEST_F(OutputFiles, AppearWhole) {
  std::string path = folder.path("out");
  {
    OutputFile file;
    ASSERT_TRUE(file.open(path).ok());
    ASSERT_TRUE(file.write("half", 4).ok());
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(count(), 0); // given up
  ASSERT_TRUE(writeWhole(path, "whole").ok());
  EXPECT_EQ(folder.read("out"), "whole");
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFiles, KeepPermissions) {
  folder.write("out", "old");
  ASSERT_EQ(chmod(folder.path("out").c_str(), 0640), 0);
  ASSERT_TRUE(writeWhole(folder.path("out"), "new").ok());
  struct stat info;
  ASSERT_EQ(stat(folder.path("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  OutputFile program;
  ASSERT_TRUE(program.open(folder.path("out"), /*isProgram=*/true).ok());
  ASSERT_TRUE(program.commit().ok());
  ASSERT_EQ(stat(folder.path("out").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0750u);
}

TEST_F(OutputFiles, FollowLinks) {
  fs::create_directory(folder.path("there"));
  folder.write("there/target", "old");
  fs::create_symlink("there/target", folder.path("link"));
  fs::create_symlink("there/new", folder.path("dangling"));
  ASSERT_TRUE(writeWhole(folder.path("link"), "new").ok());
  ASSERT_TRUE(writeWhole(folder.path("dangling"), "made").ok());
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.read("there/target"), "new");
  EXPECT_EQ(folder.read("there/new"), "made");
  fs::create_symlink("loop", folder.path("loop"));
  EXPECT_NE(writeWhole(folder.path("loop"), "x").message().find("cannot write"),
            std::string::npos);
}

TEST_F(OutputFiles, AreWrittenThroughToDevices) {
  // The numbers of /dev/full.
  std::string path = folder.path("full");
  if (mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 7)) != 0)
    GTEST_SKIP() << "no right to make devices";
  int trial = open(path.c_str(), O_WRONLY);
  if (trial < 0)
    GTEST_SKIP() << "devices of this folder cannot be used";
  close(trial);
  std::string message = writeWhole(path, "text").message();
  EXPECT_NE(message.find("full': No space left"), std::string::npos) << message;
  EXPECT_TRUE(fs::is_character_file(path));
  EXPECT_EQ(count(), 1);
}

TEST_F(OutputFiles, AreWrittenThroughToPipes) {
  std::string path = folder.path("pipe"), text;
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::thread reader([&] {
    std::ifstream file(path);
    std::getline(file, text);
  });
  EXPECT_EQ(writeWhole(path, "through\n").message(), "");
  reader.join();
  EXPECT_EQ(text, "through");
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST_F(OutputFiles, KnowStdout) {
  fs::create_symlink("/dev/stdout", folder.path("link"));
  for (const std::string &path :
       {std::string("-"), std::string("/dev/stdout"), std::string("/dev/fd/1"),
        folder.path("link")})
    EXPECT_TRUE(goesToStdout(path)) << path;
  for (const std::string &path :
       {std::string(""), std::string("/dev/stderr"), folder.path("plain"),
        std::string("/dev/fd/x")})
    EXPECT_FALSE(goesToStdout(path)) << path;
  EXPECT_NE(writeWhole(folder.path(""), "x").message().find("is a folder"),
            std::string::npos);
}

/// Nobody writes to the pipe: to wait for it would be for ever.
TEST(FileReader, RefusesAPipe) {
  TemporaryFolder folder;
  std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  FileReader file;
  EXPECT_NE(file.open(path).message().find("is not a regular file"),
            std::string::npos);
}

TEST(BeneathFile, RefusesWhatLeadsOut) {
  TemporaryFolder folder;
  fs::create_directory(folder.path("inner"));
  folder.write("inner/data", "1234");
  folder.write("outside", "secret");
  fs::create_symlink("data", folder.path("inner/link"));
  fs::create_symlink("../outside", folder.path("inner/out"));
  auto message = [&](const std::string &file, bool follow = false) {
    BeneathLinks links;
    links.follow = follow;
    int descriptor = -1;
    uint64_t bytes = 0;
    Status status =
        openBeneath(folder.path("inner"), file, links, descriptor, bytes);
    if (status.ok())
      close(descriptor);
    return status.message();
  };
  EXPECT_EQ(message("data"), "");
  EXPECT_EQ(message("./data"), "");
  EXPECT_EQ(message("link", true), "");
  EXPECT_NE(message("link").find("symbolic link"), std::string::npos);
  EXPECT_NE(message("out", true).find("leads out"), std::string::npos);
  EXPECT_NE(message("../outside").find("leaves"), std::string::npos);
  EXPECT_NE(message("/etc/passwd").find("relative"), std::string::npos);
  EXPECT_NE(message("").find("no location"), std::string::npos);
  EXPECT_NE(message("absent").find("cannot be opened"), std::string::npos);
  EXPECT_NE(message(".").find("not a plain file"), std::string::npos);
}

} // namespace
