//===- CheckMessages.cpp - Values that go from stage to stage -------------===//

#include "CheckMessages.h"
#include "autopar/Dialect/FunctionAttributes.h"

using namespace mlir;

namespace autopar {

LogicalResult Messages::send(SendOp send, const HeldValue &value) {
  int64_t channel = send.getChannel();
  auto [it, isNew] = messages.try_emplace(channel, Message{send, value});
  if (isNew)
    return success();
  auto error = send.emitError() << "channel " << channel << " is used twice: "
                                << "give each send a channel of its own";
  error.attachNote(it->second.send.getLoc()) << "the first send is here";
  return error;
}

FailureOr<HeldValue> Messages::receive(RecvOp recv) {
  int64_t channel = recv.getChannel();
  auto it = messages.find(channel);
  if (it == messages.end())
    return recv.emitError()
           << "no earlier stage sends over channel " << channel;
  Message &message = it->second;
  SendOp send = message.send;
  int64_t from = stageOf(send->getParentOp());
  int64_t to = stageOf(recv->getParentOp());
  if (int64_t(recv.getFromStage()) != from ||
      int64_t(send.getToStage()) != to || message.received) {
    auto error = recv.emitError()
                 << "channel " << channel << " goes from stage " << from
                 << " to stage " << send.getToStage()
                 << ", once; this receives in stage " << to << " from stage "
                 << recv.getFromStage();
    error.attachNote(send.getLoc()) << "it is sent here";
    return error;
  }
  if (recv.getResult().getType() != send.getInput().getType()) {
    auto error = recv.emitError()
                 << "receives " << recv.getResult().getType() << ", but "
                 << send.getInput().getType() << " is sent";
    error.attachNote(send.getLoc()) << "it is sent here";
    return error;
  }
  message.received = true;
  return message.held;
}

LogicalResult Messages::checkAllReceived() const {
  for (auto &[channel, message] : messages) {
    SendOp send = message.send;
    if (!message.received)
      return send.emitError() << "nobody receives channel " << channel
                              << " in stage " << send.getToStage();
  }
  return success();
}

} // namespace autopar
