//===- HostMemoryTest.cpp - Memory of a launcher's ranks on one host ------===//

#include "transport/HostMemory.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace autopar::runtime;

namespace {

/// Rank 0's memory with one piece in it.
class HostMemoryTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(memory.createFile().ok());
    ASSERT_TRUE(memory.take(100, "a text", piece).ok());
    std::strcpy(static_cast<char *>(piece.data()), "of rank 0");
    first = describeMemory(memory.descriptor(), memory.size());
  }
  std::string failure() {
    SharedMemory mine;
    return attachMemory(first, 2, mine).message();
  }

  SharedMemory memory;
  Buffer piece;
  HostMemory first;
};

TEST_F(HostMemoryTest, IsTakenByAnotherProcess) {
  pid_t child = fork();
  if (child == 0) {
    SharedMemory mine;
    Buffer same;
    bool taken = attachMemory(first, 1, mine).ok() &&
                 mine.take(100, "a text", same).ok() && !mine.isNew();
    char *text = static_cast<char *>(same.data());
    taken = taken && std::strcmp(text, "of rank 0") == 0;
    if (taken)
      std::strcpy(text, "of rank 1");
    _exit(taken ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_STREQ(static_cast<char *>(piece.data()), "of rank 1");
}

TEST_F(HostMemoryTest, AnotherHostIsNamed) {
  EXPECT_TRUE(checkHost(first, describeMemory(-1, 0), 1).ok());
  ASSERT_NE(first.boot[0], 0);
  std::snprintf(first.host, sizeof(first.host), "far");
  ++first.boot[3];
  std::string text = failure();
  EXPECT_EQ(text.find("rank 2 is on host '"), 0u) << text;
  EXPECT_NE(text.find("rank 0 on host 'far'"), std::string::npos) << text;
  EXPECT_NE(text.find("start all of them on one host"), std::string::npos)
      << text;
  EXPECT_NE(text.find("several hosts, as mpirun would"), std::string::npos)
      << text;
}

/// Processes of a container have numbers of their own.
TEST_F(HostMemoryTest, AnotherContainerIsSaid) {
  HostMemory real = first;
  ++first.inode;
  EXPECT_NE(failure().find("is another one here. Start all ranks as one user "
                           "and in one container"),
            std::string::npos)
      << failure();
  first = real;
  first.process = 1 << 30;
  EXPECT_NE(failure().find("rank 2 cannot open the memory of rank 0"),
            std::string::npos)
      << failure();
}

} // namespace
