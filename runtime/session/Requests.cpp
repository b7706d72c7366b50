//===- Requests.cpp - Steps while the caller goes on ----------------------===//

#include "Requests.h"

#include "../core/QuietThread.h"
#include "CallGuard.h"

#include <algorithm>
#include <new>
#include <utility>

using namespace autopar::runtime;

Requests::Requests(autopar_session *session)
    : slots(size_t(autopar_session_slots(session))),
      worker(startQuietThread([this] { work(); })) {}

Requests::~Requests() {
  end();
  worker.join();
}

//===----------------------------------------------------------------------===//
// The caller
//===----------------------------------------------------------------------===//

/// A request takes memory here and nowhere else.
void Requests::append(Request request) {
  List made;
  made.push_back(std::move(request));
  std::lock_guard<std::mutex> lock(mutex);
  waiting.splice(waiting.end(), made);
  added.notify_one();
}

void Requests::add(int64_t number, autopar_session *entry,
                   const void *const *inputs, void *const *outputs) {
  Request request;
  request.number = number;
  request.entry = entry;
  request.inputs = inputs;
  request.outputs = outputs;
  append(std::move(request));
}

void Requests::pause(int64_t number) {
  Request request;
  request.number = number;
  append(std::move(request));
}

void Requests::resume() {
  std::lock_guard<std::mutex> lock(mutex);
  isPaused = false;
  added.notify_one();
}

Requests::List::iterator Requests::find(int64_t number) {
  return std::find_if(
      waiting.begin(), waiting.end(),
      [&](const Request &request) { return request.number == number; });
}

bool Requests::cancel(int64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = find(number);
  if (found == waiting.end())
    return false;
  waiting.erase(found);
  toTake.notify_one();
  return true;
}

bool Requests::isWaiting(int64_t number) {
  std::lock_guard<std::mutex> lock(mutex);
  return find(number) != waiting.end();
}

void Requests::end() {
  std::lock_guard<std::mutex> lock(mutex);
  hasEnded = true;
  added.notify_one();
  toTake.notify_one();
}

/// Sleeps within `rest` of the last answers as long as steps go on without the
/// caller.
void Requests::restAfterAnswers(Lock &lock) {
  isResting = true;
  toTake.wait_until(lock, lastTaken + rest,
                    [&] { return waiting.empty() || isPaused; });
  isResting = false;
}

/// Returns false if there will be none.
bool Requests::awaitAnswer(Lock &lock) {
  while (answered.empty())
    if (waiting.empty() && !underWay.empty())
      finishOldest(lock);
    else if (hasEnded && waiting.empty() && beginning.empty())
      return false;
    else
      toTake.wait(lock);
  return true;
}

size_t Requests::next(autopar_answer *answers, size_t most) {
  Lock lock(mutex);
  taken.clear();
  restAfterAnswers(lock);
  if (!awaitAnswer(lock))
    return 0;
  size_t count = 0;
  for (; count < most && !answered.empty(); ++count) {
    taken.splice(taken.end(), answered, answered.begin());
    const Request &last = taken.back();
    const char *failure =
        last.failure.empty() ? "memory has run out" : last.failure.c_str();
    answers[count] = {last.number, last.hasFailed ? failure : nullptr};
  }
  lastTaken = std::chrono::steady_clock::now();
  return count;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void Requests::work() {
  Lock lock(mutex);
  for (;;) {
    added.wait(lock,
               [&] { return !isPaused && (hasEnded || !waiting.empty()); });
    if (!waiting.empty())
      proceed(lock);
    else if (!underWay.empty())
      finishOldest(lock);
    else
      return;
  }
}

/// Begins the first request that waits, if there is room for it.
void Requests::proceed(Lock &lock) {
  bool isStep = waiting.front().entry;
  if (underWay.size() >= (isStep ? slots : 1))
    finishOldest(lock);
  else if (isStep)
    begin(lock);
  else
    beginPause();
}

void Requests::beginPause() {
  isPaused = true;
  answer(waiting, /*hasFailed=*/false);
}

/// Begins a step. Rank 0 does its part here.
void Requests::begin(Lock &lock) {
  beginning.splice(beginning.end(), waiting, waiting.begin());
  if (waiting.empty() && (isResting || !underWay.empty()))
    toTake.notify_one();
  Request &request = beginning.front();
  lock.unlock();
  bool hasFailed = autopar_session_submit(request.entry, request.inputs,
                                          request.outputs, &request.ticket);
  lock.lock();
  if (hasFailed)
    return answer(beginning, hasFailed);
  underWay.splice(underWay.end(), beginning);
  if (!isResting && waiting.empty()) // the caller's thread waits for the step
    toTake.notify_one();
}

/// Waits for the oldest step under way, or for the thread that waits for it.
void Requests::finishOldest(Lock &lock) {
  if (isAwaited)
    return finished.wait(lock);
  isAwaited = true;
  Request &oldest = underWay.front();
  lock.unlock();
  bool hasFailed = autopar_session_wait(oldest.entry, oldest.ticket);
  lock.lock();
  isAwaited = false;
  finished.notify_one();
  answer(underWay, hasFailed);
}

/// Makes the first request of a list an answer. A failure is the last one of
/// this thread; its text is empty if there is no memory for it.
void Requests::answer(List &from, bool hasFailed) {
  answered.splice(answered.end(), from, from.begin());
  Request &last = answered.back();
  last.hasFailed = hasFailed;
  try {
    if (hasFailed)
      last.failure = autopar_error();
  } catch (const std::bad_alloc &) {
    last.failure.clear();
  }
  if (!isResting || isPaused)
    toTake.notify_one();
}

//===----------------------------------------------------------------------===//
// Functions of C
//===----------------------------------------------------------------------===//

int32_t autopar_requests_open(autopar_session *session, Requests **requests) {
  return guard("starting a thread for requests", [&] {
    *requests = new Requests(session);
    return Status::success();
  });
}

int32_t autopar_requests_add(Requests *requests, int64_t number,
                             autopar_session *entry, const void *const *inputs,
                             void *const *outputs) {
  return guard("adding a request", [&] {
    requests->add(number, entry, inputs, outputs);
    return Status::success();
  });
}

int32_t autopar_requests_pause(Requests *requests, int64_t number) {
  return guard("adding a pause", [&] {
    requests->pause(number);
    return Status::success();
  });
}

void autopar_requests_resume(Requests *requests) { requests->resume(); }

int32_t autopar_requests_cancel(Requests *requests, int64_t number) {
  return requests->cancel(number);
}

int32_t autopar_requests_is_waiting(Requests *requests, int64_t number) {
  return requests->isWaiting(number);
}

void autopar_requests_end(Requests *requests) { requests->end(); }

int64_t autopar_requests_next(Requests *requests, autopar_answer *answers,
                              int64_t most) {
  return int64_t(requests->next(answers, size_t(most)));
}

void autopar_requests_close(Requests *requests) { delete requests; }
