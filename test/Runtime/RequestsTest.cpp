//===- RequestsTest.cpp - Steps while the caller goes on ------------------===//

#include "session/Requests.h"
#include "PipelineProgram.h"
#include "SumProgram.h"

#include <algorithm>
#include <map>
#include <vector>

using namespace autopar::runtime;

namespace {

/// A step of the pipeline, and its tensors.
struct Step {
  explicit Step(float value) { x.fill(value); }
  std::array<float, 12> x, y{};
  const void *inputs[1] = {};
  void *outputs[1] = {};
};

class RequestsOfAPipeline : public BuiltExecutable {
protected:
  void SetUp() override {
    nlohmann::json manifest = nlohmann::json::parse(pipelineProgramText);
    manifest["plan"] = {{"objective", "throughput"}};
    build("pipeline.c", manifest, 1);
    ASSERT_EQ(
        autopar_session_open(folder.path("exe").c_str(), nullptr, &session), 0)
        << autopar_error();
    ASSERT_EQ(autopar_requests_open(session, &requests), 0) << autopar_error();
  }
  void TearDown() override {
    autopar_requests_close(requests);
    autopar_session_close(session);
  }
  void add(Step &step, bool isWhole = true) {
    step.inputs[0] = isWhole ? step.x.data() : nullptr;
    step.outputs[0] = step.y.data();
    ASSERT_EQ(autopar_requests_add(requests, next++, session, step.inputs,
                                   step.outputs),
              0);
  }
  void pause() { ASSERT_EQ(autopar_requests_pause(requests, next++), 0); }
  /// The numbers of all answers until there are as many or no more.
  std::vector<int64_t> answers(size_t wanted, size_t atATime = 100) {
    std::vector<autopar_answer> some(atATime);
    std::vector<int64_t> numbers;
    while (numbers.size() < wanted) {
      size_t count = requests->next(some.data(), some.size());
      for (size_t i = 0; i < count; ++i) {
        numbers.push_back(some[i].number);
        if (some[i].failure)
          failures[some[i].number] = some[i].failure;
      }
      ++calls;
      if (count == 0)
        break;
    }
    return numbers;
  }

  autopar_session *session = nullptr;
  Requests *requests = nullptr;
  int64_t next = 0;
  size_t calls = 0;
  std::map<int64_t, std::string> failures;
};

using Numbers = std::vector<int64_t>;

TEST_F(RequestsOfAPipeline, AreAnsweredInOrder) {
  std::vector<Step> steps;
  steps.reserve(500);
  for (int i = 0; i < 500; ++i)
    add(steps.emplace_back(float(i)));
  Numbers numbers = answers(500, /*atATime=*/7);
  ASSERT_EQ(numbers.size(), 500u);
  for (int i = 0; i < 500; ++i) {
    EXPECT_EQ(numbers[size_t(i)], i);
    for (float value : steps[size_t(i)].y)
      ASSERT_EQ(value, 2 * float(i) + 1) << "of step " << i;
  }
  EXPECT_TRUE(failures.empty());
}

/// The caller adds one more for each answer, so that fewer wait than the
/// session has slots.
TEST_F(RequestsOfAPipeline, AreAnsweredWhileFewAreUnderWay) {
  for (size_t ahead = 1; ahead < 9; ++ahead) {
    std::vector<Step> steps;
    steps.reserve(200);
    int64_t first = next;
    while (steps.size() < ahead)
      add(steps.emplace_back(float(steps.size())));
    for (size_t done = 0; done < 200;)
      for (int64_t number : answers(1)) {
        EXPECT_EQ(number, first + int64_t(done));
        EXPECT_EQ(steps[done].y[11], 2 * float(done) + 1);
        ++done;
        if (steps.size() < 200)
          add(steps.emplace_back(float(steps.size())));
      }
  }
}

TEST_F(RequestsOfAPipeline, AreTakenSeveralAtATimeWhileOthersWait) {
  std::vector<Step> steps(3000, Step(1));
  for (Step &step : steps)
    add(step);
  auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(answers(steps.size(), steps.size()).size(), steps.size());
  auto rests = (std::chrono::steady_clock::now() - start) / Requests::rest;
  // The last ones, for which no others wait, are taken one by one.
  EXPECT_LE(calls, size_t(rests) + 2 + 4);
}

TEST_F(RequestsOfAPipeline, WaitForTheEndOfAPause) {
  Step before(1), after(2), later(3);
  add(before);
  pause();
  add(after);
  add(later);
  EXPECT_EQ(answers(2), Numbers({0, 1}));
  EXPECT_EQ(before.y[0], 3);
  EXPECT_TRUE(requests->isWaiting(2));
  EXPECT_FALSE(requests->isWaiting(1));
  EXPECT_TRUE(requests->cancel(2));
  EXPECT_FALSE(requests->cancel(2));
  requests->resume();
  EXPECT_EQ(answers(1), Numbers({3}));
  EXPECT_EQ(after.y[0], 0);
  EXPECT_EQ(later.y[0], 7);
  EXPECT_FALSE(requests->cancel(3));
}

/// A pause that nothing is before, and one that is cancelled.
TEST_F(RequestsOfAPipeline, MayBePausesAlone) {
  pause();
  pause();
  EXPECT_EQ(answers(1), Numbers({0}));
  EXPECT_TRUE(requests->cancel(1));
  requests->resume();
  pause();
  EXPECT_EQ(answers(1), Numbers({2}));
  requests->resume();
}

TEST_F(RequestsOfAPipeline, FailAlone) {
  Step right(1), wrong(2), last(3);
  add(right);
  add(wrong, /*isWhole=*/false);
  add(last);
  Numbers numbers = answers(3);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, Numbers({0, 1, 2}));
  ASSERT_EQ(failures.size(), 1u);
  EXPECT_EQ(failures[1], "input 'x' is missing");
  EXPECT_EQ(right.y[0], 3);
  EXPECT_EQ(last.y[0], 7);
}

TEST_F(RequestsOfAPipeline, EndAfterTheLastOne) {
  std::vector<Step> steps(100, Step(4));
  for (Step &step : steps)
    add(step);
  requests->end();
  EXPECT_EQ(answers(1000).size(), 100u);
  EXPECT_EQ(steps.back().y[0], 9);
}

/// Nobody takes their answers.
TEST_F(RequestsOfAPipeline, EndWithoutTheCaller) {
  std::vector<Step> steps(100, Step(4));
  for (Step &step : steps)
    add(step);
  autopar_requests_close(requests);
  ASSERT_EQ(autopar_requests_open(session, &requests), 0);
  Step step(1);
  add(step);
  EXPECT_EQ(answers(1), Numbers({100}));
  EXPECT_EQ(step.y[0], 3);
}

class RequestsOnRanks : public SumProgram,
                        public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, RequestsOnRanks, ::testing::Values(1, 2, 3));

/// A rank fails within the second step, after which the session has ended.
TEST_P(RequestsOnRanks, FailWithTheSession) {
  buildProgram(GetParam());
  autopar_session *session = nullptr;
  ASSERT_EQ(autopar_session_open(folder.path("exe").c_str(), nullptr, &session),
            0);
  Requests *requests = nullptr;
  ASSERT_EQ(autopar_requests_open(session, &requests), 0);
  int32_t good = 0, bad = 5;
  std::array<float, 42> y{};
  const void *right[] = {x.data(), &good}, *wrong[] = {x.data(), &bad};
  void *outputs[] = {y.data()};
  for (int64_t number = 0; number < 4; ++number)
    ASSERT_EQ(autopar_requests_add(requests, number, session,
                                   number == 1 ? wrong : right, outputs),
              0);
  requests->end();
  autopar_answer answer;
  for (int64_t number = 0; requests->next(&answer, 1) == 1; ++number) {
    EXPECT_EQ(answer.number, number);
    EXPECT_EQ(answer.failure == nullptr, number == 0);
    if (answer.failure)
      EXPECT_NE(std::string(answer.failure).find("op '/sum' (all_reduce)"),
                std::string::npos)
          << answer.failure;
  }
  autopar_requests_close(requests);
  autopar_session_close(session);
}

} // namespace
