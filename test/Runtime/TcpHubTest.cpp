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
  Hub() : hub(identity(), {[](int, int) { return ""; }}) {}
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
  /// A rank that is welcome, and stays.
  Socket seated(int rank) const {
    Socket socket = connected();
    EXPECT_EQ(answerTo(socket, identity(), rank).kind, FrameKind::Welcome);
    EXPECT_TRUE(socket.send(FrameKind::Here).ok());
    return socket;
  }
  /// Whether the hub says nothing within 0.2 s, and keeps the connection.
  static bool isQuiet(const Socket &socket) {
    pollfd wait = {socket.handle(), POLLIN, 0};
    return poll(&wait, 1, 200) == 0;
  }
  /// Whether the hub closes the connection within `seconds`.
  static bool isClosed(const Socket &socket, double seconds = 5) {
    char byte = 0;
    pollfd wait = {socket.handle(), POLLIN, 0};
    return poll(&wait, 1, int(seconds * 1000)) == 1 &&
           recv(socket.handle(), &byte, 1, 0) <= 0;
  }
  static std::string frame(FrameKind kind, uint64_t bytes,
                           uint32_t magic = 0x31545041) {
    std::string header;
    append(header, magic);
    append(header, kind);
    append(header, bytes);
    return header;
  }
  static void sendBytes(const Socket &socket, const std::string &bytes) {
    EXPECT_EQ(::send(socket.handle(), bytes.data(), bytes.size(), 0),
              ssize_t(bytes.size()));
  }
  /// Both ranks join, and meet once.
  void expectJoins() const {
    TcpFabric first(identity(), 0), second(identity(), 1);
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

/// Who heard of a failure is not who tells people, but for rank 0.
TEST_F(Hub, TheRankThatFailsFirstTellsIt) {
  TcpFabric first(identity(), 0), second(identity(), 1);
  std::thread other(
      [&] { EXPECT_TRUE(second.join("127.0.0.1", hub.port()).ok()); });
  EXPECT_TRUE(first.join("127.0.0.1", hub.port()).ok());
  other.join();
  std::atomic<int32_t> op{-1};
  std::atomic<int> ends{0};
  second.watch(op, [&] { ++ends; });
  first.fail("rank 0: no disk");
  second.fail("rank 1: ended because another rank failed");
  EXPECT_EQ(ends.load(), 1);
  first.watch(op, [&] { ++ends; }); // it has ended before
  EXPECT_EQ(ends.load(), 2);
  bool tellsIt = false;
  EXPECT_EQ(first.failure(tellsIt), "rank 0: no disk");
  EXPECT_TRUE(tellsIt);
  EXPECT_EQ(second.failure(tellsIt), "rank 0: no disk");
  EXPECT_FALSE(tellsIt);
}

TEST_F(Hub, AllLeaveABarrierWithTheSameSignal) {
  TcpFabric first(identity(), 0), second(identity(), 1);
  std::thread other([&] {
    EXPECT_TRUE(second.join("127.0.0.1", hub.port()).ok());
    double waited = 0;
    for (int signal : {0, 15, 0}) {
      second.bringSignal(signal);
      EXPECT_TRUE(second.barrier(true, waited).ok());
      EXPECT_EQ(second.agreedSignal(), signal);
    }
  });
  EXPECT_TRUE(first.join("127.0.0.1", hub.port()).ok());
  double waited = 0;
  for (int signal : {0, 15, 0}) {
    EXPECT_TRUE(first.barrier(true, waited).ok());
    EXPECT_EQ(first.agreedSignal(), signal);
  }
  other.join();
}

TEST_F(Hub, ARankThatIsThereIsNotTakenTwice) {
  Socket first = seated(1);
  EXPECT_TRUE(isQuiet(first));
  TcpIdentity other = identity();
  other.program = 8;
  Frame answer = answerTo(other, 1);
  EXPECT_EQ(answer.kind, FrameKind::NotYours);
  EXPECT_NE(answer.bytes.find("two processes"), std::string::npos);
  EXPECT_TRUE(isQuiet(first)) << "the run failed";
}

TEST_F(Hub, OfTwoThatAreWelcomeTheFirstToStayIsTaken) {
  Socket first = connected(), second = connected();
  EXPECT_EQ(answerTo(first, identity(), 1).kind, FrameKind::Welcome);
  EXPECT_EQ(answerTo(second, identity(), 1).kind, FrameKind::Welcome);
  EXPECT_TRUE(second.send(FrameKind::Here).ok());
  EXPECT_TRUE(isQuiet(second));
  EXPECT_TRUE(first.send(FrameKind::Here).ok());
  Frame told;
  EXPECT_TRUE(first.receive(told, 5, kMostFrame).ok());
  EXPECT_EQ(told.kind, FrameKind::Abort);
  EXPECT_TRUE(isQuiet(second)) << "the run failed";
}

TEST_F(Hub, AnotherProgramIsRefusedAndTheRunGoesOn) {
  TcpIdentity other = identity();
  other.program = 8;
  Frame answer = answerTo(other, 1);
  EXPECT_EQ(answer.kind, FrameKind::Refused);
  EXPECT_NE(answer.text().find("runs another program"), std::string::npos);
  expectJoins();
}

/// What no rank would send, and more than a hello: nothing is kept of it.
TEST_F(Hub, BytesOfStrangersAreDroppedAndTheRunGoesOn) {
  std::string hello = helloBytes(identity(), 1);
  for (const std::string &bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"),
        frame(FrameKind::Hello, uint64_t(1) << 63),
        frame(FrameKind::Hello, hello.size() + 1),
        frame(FrameKind::Hello, 4) + "abcd",
        frame(FrameKind::Hello, hello.size(), 0x32545041) + hello,
        frame(FrameKind::Result, 3) + "abc", frame(FrameKind::Here, 0)}) {
    Socket stranger = connected();
    sendBytes(stranger, bytes);
    EXPECT_TRUE(isClosed(stranger)) << bytes.size();
  }
  expectJoins();
}

TEST_F(Hub, ASeatEmptiesWhenItsConnectionEnds) {
  auto answersUntil = [&](FrameKind wanted) {
    FrameKind kind = FrameKind::Hello;
    for (int i = 0; i < 500 && kind != wanted; ++i)
      kind = answerTo(identity(), 1).kind;
    EXPECT_EQ(kind, wanted);
  };
  {
    Socket first = seated(1);
    answersUntil(FrameKind::NotYours); // that it stays is on its way
  }
  answersUntil(FrameKind::Welcome); // and so is its end
  {
    Socket gone = connected(); // gave up before it was heard
    EXPECT_TRUE(gone.send(FrameKind::Hello, helloBytes(identity(), 1)).ok());
  }
  EXPECT_EQ(answerTo(connected(), identity(), 0).kind, FrameKind::Welcome);
  expectJoins();
}

TEST_F(Hub, AWelcomeRankMayStandStill) {
  Socket slow = connected();
  EXPECT_EQ(answerTo(slow, identity(), 1).kind, FrameKind::Welcome);
  pollfd wait = {slow.handle(), POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, int(kHelloSeconds * 1000) + 500), 0);
  EXPECT_TRUE(slow.send(FrameKind::Here).ok());
  Socket zero = seated(0);
  Frame joined;
  EXPECT_TRUE(slow.receive(joined, 5, kMostFrame).ok());
  EXPECT_EQ(joined.kind, FrameKind::Joined);
}

TEST_F(Hub, WhoSaysNothingIsClosedAndHoldsUpNobody) {
  std::vector<Socket> silent;
  for (size_t i = 0; i < kMostStrangers; ++i)
    silent.push_back(connected());
  double begun = monotonicSeconds();
  EXPECT_TRUE(isClosed(silent[0], 8));
  EXPECT_GT(monotonicSeconds() - begun, kHelloSeconds - 1);
  silent.clear();
  expectJoins();
}

TEST_F(Hub, OfTooManyStrangersTheFirstIsDropped) {
  std::vector<Socket> silent;
  for (size_t i = 0; i <= kMostStrangers; ++i)
    silent.push_back(connected());
  EXPECT_TRUE(isClosed(silent.front(), 1));
  EXPECT_TRUE(isQuiet(silent.back()));
  double begun = monotonicSeconds();
  expectJoins();
  EXPECT_LT(monotonicSeconds() - begun, kHelloSeconds - 1);
}

TEST_F(Hub, ListensAtTheAddressThatIsNamed) {
  EXPECT_EQ(hub.host(), "127.0.0.1");
  Socket other;
  EXPECT_TRUE(Socket::connect("127.0.0.2", hub.port(), 1, other).failed());
  TcpHub open(identity(), {[](int, int) { return ""; }});
  ASSERT_TRUE(open.start(24100, "").ok());
  EXPECT_TRUE(Socket::connect("127.0.0.2", open.port(), 1, other).ok());
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
    zero = seated(0);
    one = seated(1);
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

TEST_F(ConnectedRanks, AReportIsNoCommandToATerminal) {
  EXPECT_TRUE(zero.send(FrameKind::Failed, "\x1b]0;owned\a\nline").ok());
  EXPECT_EQ(toldToZero(), "?]0;owned?\nline");
}

TEST_F(ConnectedRanks, MoreThanTheProgramSendsEndsTheRun) {
  sendBytes(one, frame(FrameKind::Failed, kMostFrame + 1));
  EXPECT_EQ(toldToZero(), "rank 1 sent what no rank of this program sends");
}

/// Its ranks' results have at most 100 bytes.
class BoundedHub : public Hub {
protected:
  BoundedHub()
      : bounded(identity(), {[](int, int) { return ""; },
                             [](int) { return uint64_t(100); }}) {}
  TcpHub bounded;
};

TEST_F(BoundedHub, TakesNoLargerResult) {
  ASSERT_TRUE(bounded.start(24200).ok());
  Socket ranks[2];
  for (int rank : {0, 1}) {
    Socket &socket = ranks[rank];
    ASSERT_TRUE(Socket::connect("127.0.0.1", bounded.port(), 2, socket).ok());
    EXPECT_EQ(answerTo(socket, identity(), rank).kind, FrameKind::Welcome);
    EXPECT_TRUE(socket.send(FrameKind::Here).ok());
  }
  EXPECT_TRUE(ranks[1].send(FrameKind::Result, std::string(100, 'r')).ok());
  std::vector<std::string> results;
  EXPECT_EQ(bounded.waitForResults(results).message(), "");
  sendBytes(ranks[1], frame(FrameKind::Result, uint64_t(1) << 39));
  Frame told;
  while (ranks[0].receive(told, 5, kMostFrame).ok() &&
         told.kind != FrameKind::Abort)
    ;
  EXPECT_EQ(told.kind, FrameKind::Abort);
}

TEST_F(ConnectedRanks, ADeathExplainsAReportThatCameBefore) {
  EXPECT_TRUE(zero.send(FrameKind::Failed, "rank 0: rank 1 is gone").ok());
  pollfd wait = {zero.handle(), POLLIN, 0};
  EXPECT_EQ(poll(&wait, 1, int(kReportSeconds * 300)), 0);
  one.close();
  EXPECT_NE(toldToZero().find("rank 1 died"), std::string::npos);
}

} // namespace
