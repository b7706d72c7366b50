//===- CheckMessages.h - Values that go from stage to stage -----*- C++ -*-===//

#ifndef AUTOPAR_LIB_EQUALITY_CHECKMESSAGES_H
#define AUTOPAR_LIB_EQUALITY_CHECKMESSAGES_H

#include "HeldValue.h"
#include <map>

namespace autopar {

/// The messages sent so far, by channel. A channel is sent once and received
/// once, by the stages that both ends name.
class Messages {
public:
  mlir::LogicalResult send(SendOp send, const HeldValue &value);
  /// The part of a global value that the received value holds.
  mlir::FailureOr<HeldValue> receive(RecvOp recv);
  /// Checks that every message is received.
  mlir::LogicalResult checkAllReceived() const;

private:
  struct Message {
    SendOp send;
    HeldValue held;
    bool received = false;
  };
  std::map<int64_t, Message> messages;
};

} // namespace autopar

#endif // AUTOPAR_LIB_EQUALITY_CHECKMESSAGES_H
