//===- TcpHubTest.cpp - Who may join, and who may not ---------------------===//

#include "core/Futex.h"
#include "transport/TcpFabric.h"

#include <gtest/gtest.h>

#include <ctime>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace autopar::runtime;

namespace {

/// Rank 0 of two ranks.
class Hub : public ::testing::Test {
protected:
  Hub() : hub(identity(), [](int) { return ""; }) {}
  void SetUp() override { ASSERT_TRUE(hub.start(24000).ok()); }

  static TcpIdentity identity() {
    TcpIdentity result;
    result.world = 2;
    result.program = 7;
    result.run = "job.1";
    result.isNamed = true;
    result.timeoutSeconds = 10;
    return result;
  }
  Socket connected() const {
    Socket result;
    EXPECT_TRUE(Socket::connect("127.0.0.1", hub.port(), 2, result).ok());
    return result;
  }
  /// What the hub answers to a hello; no bytes and Hello: it closes.
  Frame answerTo(const Socket &socket, const TcpIdentity &who, int rank) const {
    Frame answer;
    EXPECT_TRUE(socket.send(FrameKind::Hello, helloBytes(who, rank)).ok());
    (void)socket.receive(answer, 5, kMostFrame);
    return answer;
  }
  Frame answerTo(const TcpIdentity &who, int rank) const {
    return answerTo(connected(), who, rank);
  }
  /// Both ranks join, and meet once.
  void expectJoins() const {
    std::atomic<int32_t> op{-1};
    TcpFabric first(identity(), 0, op), second(identity(), 1, op);
    Status joined, met;
    double waited = 0;
    std::thread other([&] {
      joined = second.join("127.0.0.1", hub.port());
      met = joined.ok() ? second.barrier(true, waited) : joined;
    });
    EXPECT_TRUE(first.join("127.0.0.1", hub.port()).ok());
    double waitedHere = 0;
    EXPECT_TRUE(first.barrier(true, waitedHere).ok());
    other.join();
    EXPECT_TRUE(met.ok()) << met.message();
    Socket late;
    EXPECT_TRUE(Socket::connect("127.0.0.1", hub.port(), 1, late).failed());
  }

  TcpHub hub;
};

TEST_F(Hub, OthersAreTurnedAwayAndTheRunGoesOn) {
  TcpIdentity run = identity(), world = identity();
  run.run = "job.2";
  world.world = 4;
  EXPECT_EQ(answerTo(run, 1).kind, FrameKind::Hello);
  EXPECT_EQ(answerTo(world, 3).kind, FrameKind::NotYours);
  EXPECT_EQ(answerTo(identity(), 2).kind, FrameKind::NotYours);
  expectJoins();
}

TEST_F(Hub, ARankThatIsThereIsNotTakenTwice) {
  Socket first = connected();
  EXPECT_EQ(answerTo(first, identity(), 1).kind, FrameKind::Welcome);
  TcpIdentity other = identity();
  other.program = 8;
  Frame answer = answerTo(other, 1);
  EXPECT_EQ(answer.kind, FrameKind::NotYours);
  EXPECT_NE(answer.bytes.find("two processes"), std::string::npos);
  pollfd wait = {first.handle(), POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, 200), 0) << "the run failed";
}

TEST_F(Hub, AnotherProgramOfThisRunEndsIt) {
  Socket first = connected();
  EXPECT_EQ(answerTo(first, identity(), 0).kind, FrameKind::Welcome);
  TcpIdentity other = identity();
  other.program = 8;
  EXPECT_EQ(answerTo(other, 1).kind, FrameKind::Refused);
  Frame told;
  EXPECT_TRUE(first.receive(told, 5, kMostFrame).ok());
  EXPECT_EQ(told.kind, FrameKind::Abort);
}

TEST_F(Hub, WhoSaysNothingIsClosedAndHoldsUpNobody) {
  std::vector<Socket> silent;
  for (int i = 0; i < 100; ++i)
    silent.push_back(connected());
  double begun = monotonicSeconds();
  char byte = 0;
  pollfd wait = {silent[0].handle(), POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, 8000), 1);
  EXPECT_EQ(recv(silent[0].handle(), &byte, 1, 0), 0);
  EXPECT_GT(monotonicSeconds() - begun, kHelloSeconds - 1);
  silent.clear();
  expectJoins();
}

TEST_F(Hub, WithoutDescriptorsItWaitsQuietlyForSome) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  int next = dup(0);
  close(next);
  rlimit one = {rlim_t(next + 1), before.rlim_max}; // for this end alone
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &one), 0);
  Socket waiting = connected();
  std::string hello = helloBytes(identity(), 1);
  EXPECT_TRUE(waiting.send(FrameKind::Hello, hello).ok());
  clock_t used = clock();
  pollfd wait = {waiting.handle(), POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, 400), 0);
  EXPECT_LT(clock() - used, CLOCKS_PER_SEC / 5);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  Frame answer;
  EXPECT_TRUE(waiting.receive(answer, 5, kMostFrame).ok());
  EXPECT_EQ(answer.kind, FrameKind::Welcome);
}

/// Both ranks have joined.
class ConnectedRanks : public Hub {
protected:
  void SetUp() override {
    Hub::SetUp();
    zero = connected();
    one = connected();
    EXPECT_EQ(answerTo(zero, identity(), 0).kind, FrameKind::Welcome);
    EXPECT_EQ(answerTo(one, identity(), 1).kind, FrameKind::Welcome);
    Frame joined;
    EXPECT_TRUE(zero.receive(joined, 5, kMostFrame).ok());
    EXPECT_EQ(joined.kind, FrameKind::Joined);
  }
  std::string toldToZero() const {
    Frame told;
    EXPECT_TRUE(zero.receive(told, 5, kMostFrame).ok());
    EXPECT_EQ(told.kind, FrameKind::Abort);
    return told.bytes;
  }
  Socket zero, one;
};

TEST_F(ConnectedRanks, AReportIsTold) {
  EXPECT_TRUE(zero.send(FrameKind::Failed, "rank 0: no memory").ok());
  EXPECT_TRUE(one.send(FrameKind::Failed, "rank 1: rank 0 left").ok());
  EXPECT_EQ(toldToZero(), "rank 0: no memory");
}

TEST_F(ConnectedRanks, ADeathExplainsAReportThatCameBefore) {
  EXPECT_TRUE(zero.send(FrameKind::Failed, "rank 0: rank 1 is gone").ok());
  pollfd wait = {zero.handle(), POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, int(kReportSeconds * 300)), 0);
  one.close();
  EXPECT_NE(toldToZero().find("rank 1 died"), std::string::npos);
}

} // namespace
