//===- ReplayMessages.cpp - Every message arrives, nobody waits for ever --===//

#include "Replay.h"
#include "autopar/Dialect/FunctionAttributes.h"
#include <map>

using namespace mlir;

namespace autopar {
namespace {

struct Message {
  Operation *op;
  bool send;
  int64_t channel, stage, peer;
};

/// The messages of a pipeline stage in a step, in order.
struct StageReplay {
  SmallVector<Message> messages;
  size_t next = 0;
};
using Stages = std::map<int64_t, StageReplay>;
} // namespace

static Type payload(const Message &message) {
  return message.op->getOperand(0).getType();
}

static Stages collectMessages(ModuleOp module) {
  Stages stages;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    int64_t stage = stageOf(func);
    StageReplay &replay = stages[stage];
    for (Operation &op : func.getBody().front()) {
      if (auto send = dyn_cast<SendOp>(op))
        replay.messages.push_back({&op, true, int64_t(send.getChannel()), stage,
                                   int64_t(send.getToStage())});
      else if (auto recv = dyn_cast<RecvOp>(op))
        replay.messages.push_back({&op, false, int64_t(recv.getChannel()),
                                   stage, int64_t(recv.getFromStage())});
    }
  }
  return stages;
}

/// The n-th send over a channel and the n-th receive are of one type and name
/// each other's stage.
static LogicalResult checkPairs(const Stages &stages) {
  std::map<int64_t, std::pair<SmallVector<Message>, SmallVector<Message>>>
      channels;
  for (const auto &[stage, replay] : stages)
    for (const Message &message : replay.messages) {
      auto &[sends, receives] = channels[message.channel];
      (message.send ? sends : receives).push_back(message);
    }
  for (const auto &[channel, pair] : channels) {
    const auto &[sends, receives] = pair;
    size_t both = std::min(sends.size(), receives.size());
    Operation *first = (sends.empty() ? receives : sends).front().op;
    if (channel < 0 || channel >= int64_t(channels.size()))
      return first->emitError()
             << "uses channel " << channel << ", but the program has "
             << channels.size() << ", numbered from 0";
    if (sends.size() > both)
      return sends[both].op->emitError()
             << "stage " << sends[both].peer
             << " receives nothing over channel " << channel;
    if (receives.size() > both)
      return receives[both].op->emitError()
             << "stage " << receives[both].peer
             << " sends nothing over channel " << channel;
    for (const Message &send : sends)
      if (payload(send) != payload(sends.front()) ||
          send.peer != sends.front().peer || send.stage != sends.front().stage)
        return send.op->emitError()
               << "sends another type, or between other stages, than another "
               << "message over channel " << channel;
    for (auto [send, receive] : llvm::zip(sends, receives)) {
      bool match = payload(send) == payload(receive) &&
                   send.peer == receive.stage && receive.peer == send.stage;
      if (match)
        continue;
      InFlightDiagnostic error = send.op->emitError()
                                 << "sends " << payload(send) << " to stage "
                                 << send.peer << " over channel " << channel;
      error.attachNote(receive.op->getLoc())
          << "stage " << receive.stage << " receives " << payload(receive)
          << " from stage " << receive.peer;
      return error;
    }
  }
  return success();
}

/// Runs the stages' messages until all are through or none can go on.
static LogicalResult checkProgress(Stages stages, int64_t slots) {
  std::map<int64_t, int64_t> waiting; // messages in each channel
  auto canGo = [&](const Message &message) {
    int64_t count = waiting[message.channel];
    if (!message.send)
      return count > 0;
    const StageReplay &peer = stages[message.peer];
    bool received = slots == 0 && peer.next < peer.messages.size() &&
                    !peer.messages[peer.next].send &&
                    peer.messages[peer.next].channel == message.channel;
    return received || count < slots;
  };
  for (bool progress = true; progress;) {
    progress = false;
    for (auto &[stage, replay] : stages)
      while (replay.next < replay.messages.size() &&
             canGo(replay.messages[replay.next])) {
        const Message &message = replay.messages[replay.next++];
        waiting[message.channel] += message.send ? 1 : -1;
        progress = true;
      }
  }
  SmallVector<const Message *> stuck;
  for (const auto &[stage, replay] : stages)
    if (replay.next < replay.messages.size())
      stuck.push_back(&replay.messages[replay.next]);
  if (stuck.empty())
    return success();
  InFlightDiagnostic error = stuck.front()->op->emitError()
                             << "stage " << stuck.front()->stage
                             << " waits here for ever";
  for (const Message *other : ArrayRef(stuck).drop_front())
    error.attachNote(other->op->getLoc())
        << "while stage " << other->stage << " waits here";
  return error;
}

LogicalResult replayMessages(ModuleOp module, int64_t slots) {
  Stages stages = collectMessages(module);
  if (failed(checkPairs(stages)))
    return failure();
  return checkProgress(std::move(stages), slots);
}

} // namespace autopar
