//===- Status.h - Result of a runtime call ----------------------*- C++ -*-===//
//
// Every fallible function of the runtime returns a Status. A failure carries
// one message that a person can act on.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_RUNTIME_CORE_STATUS_H
#define AUTOPAR_RUNTIME_CORE_STATUS_H

#include <string>
#include <utility>

namespace autopar::runtime {

/// Success, or a failure with a message. Success allocates nothing.
class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  static Status error(std::string message) {
    Status status;
    status.isFailure = true;
    status.text = std::move(message);
    return status;
  }

  bool ok() const { return !isFailure; }
  bool failed() const { return isFailure; }
  const std::string &message() const { return text; }

private:
  bool isFailure = false;
  std::string text;
};

} // namespace autopar::runtime

/// Returns the status of `expression` from the enclosing function if it failed.
#define APRT_TRY(expression)                                                   \
  do {                                                                         \
    ::autopar::runtime::Status tryStatus = (expression);                       \
    if (tryStatus.failed())                                                    \
      return tryStatus;                                                        \
  } while (false)

#endif // AUTOPAR_RUNTIME_CORE_STATUS_H
