//===- Requests.h - Steps while the caller goes on --------------*- C++ -*-===//

#ifndef AUTOPAR_RUNTIME_SESSION_REQUESTS_H
#define AUTOPAR_RUNTIME_SESSION_REQUESTS_H

#include "autopar/session.h"

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>
#include <thread>

extern "C" {
/// The end of a request.
typedef struct autopar_answer {
  int64_t number;      // of the request
  const char *failure; // null if the step succeeded, or if it is a pause;
                       // otherwise why it failed, valid until the next call of
                       // autopar_requests_next
} autopar_answer;
}

namespace autopar::runtime {

/// Requests to a session. A thread begins their steps in the order in which
/// they were added, as many at a time as the session has slots. The caller
/// numbers requests in ascending order, and one thread of the caller takes the
/// answers.
class Requests {
public:
  /// `session` must outlive this.
  explicit Requests(autopar_session *session);
  /// Ends the requests. The answers that nobody has taken are lost.
  ~Requests();
  Requests(const Requests &) = delete;
  Requests &operator=(const Requests &) = delete;

  /// Adds a step of an entry. The pointers to its tensors and the tensors stay
  /// as they are until its answer is taken.
  void add(int64_t number, autopar_session *entry, const void *const *inputs,
           void *const *outputs);
  /// Adds a pause. Its answer comes once all steps before it have ended. No
  /// later step begins before resume().
  void pause(int64_t number);
  void resume();
  /// Removes a request whose turn has not come. Returns whether it was there.
  bool cancel(int64_t number);
  /// Returns whether a request waits for its turn.
  bool isWaiting(int64_t number);
  /// Says that no more requests will be added.
  void end();

  /// Waits for at least one answer, and returns how many it has written, or 0
  /// once all requests have ended. While further requests wait for their turn,
  /// it returns at most once per `rest`, for a caller that takes each answer
  /// alone keeps the ranks from their cores.
  size_t next(autopar_answer *answers, size_t most);

  static constexpr std::chrono::milliseconds rest{4};

private:
  struct Request {
    int64_t number = 0;
    autopar_session *entry = nullptr; // null: a pause
    const void *const *inputs = nullptr;
    void *const *outputs = nullptr;
    int64_t ticket = 0;
    bool hasFailed = false;
    std::string failure;
  };
  using List = std::list<Request>;
  using Lock = std::unique_lock<std::mutex>;

  void append(Request request);
  List::iterator find(int64_t number);
  void work();
  void proceed(Lock &lock);
  void beginPause();
  void begin(Lock &lock);
  void finishOldest(Lock &lock);
  void answer(List &from, bool hasFailed);
  void restAfterAnswers(Lock &lock);
  bool awaitAnswer(Lock &lock);

  const size_t slots;
  std::mutex mutex; // of all that follows
  // A request moves from list to list.
  List waiting, beginning, underWay, answered, taken;
  bool hasEnded = false;
  bool isPaused = false;
  bool isAwaited = false; // the oldest step under way, by a thread
  bool isResting = false; // the caller's thread that takes answers
  std::chrono::steady_clock::time_point lastTaken;
  std::condition_variable added;    // for the thread that begins steps
  std::condition_variable finished; // for a thread that needs the oldest step
  std::condition_variable toTake;   // for the caller's thread
  std::thread worker;               // the last member, for it uses the others
};

} // namespace autopar::runtime

/// The package `autopar` calls these functions. A function that can fail
/// returns 0 if it succeeded.
extern "C" {
AUTOPAR_API int32_t autopar_requests_open(
    autopar_session *session, autopar::runtime::Requests **requests);
AUTOPAR_API int32_t autopar_requests_add(autopar::runtime::Requests *requests,
                                         int64_t number, autopar_session *entry,
                                         const void *const *inputs,
                                         void *const *outputs);
AUTOPAR_API int32_t autopar_requests_pause(autopar::runtime::Requests *requests,
                                           int64_t number);
AUTOPAR_API void autopar_requests_resume(autopar::runtime::Requests *requests);
AUTOPAR_API int32_t
autopar_requests_cancel(autopar::runtime::Requests *requests, int64_t number);
AUTOPAR_API int32_t autopar_requests_is_waiting(
    autopar::runtime::Requests *requests, int64_t number);
AUTOPAR_API void autopar_requests_end(autopar::runtime::Requests *requests);
AUTOPAR_API int64_t autopar_requests_next(autopar::runtime::Requests *requests,
                                          autopar_answer *answers,
                                          int64_t most);
AUTOPAR_API void autopar_requests_close(autopar::runtime::Requests *requests);
}

#endif // AUTOPAR_RUNTIME_SESSION_REQUESTS_H
