//===- WorkList.h - Order and memory of a function's work -------*- C++ -*-===//
//
// A work list is plain data. Cost makes one from kernel groups to predict
// memory, and Schedule makes one from kernels to fix it. Both decide order and
// places by the functions here.
//
//===----------------------------------------------------------------------===//

#ifndef AUTOPAR_COST_WORKLIST_H
#define AUTOPAR_COST_WORKLIST_H

#include "autopar/Cost/Arena.h"
#include "llvm/ADT/SmallVector.h"

namespace autopar {

/// A value in memory. A value and its reshapes are one buffer.
struct WorkBuffer {
  int64_t bytes = 0;
  /// A parameter, a setup value, or an input that is read where the host holds
  /// it. Such a buffer is not in the arena, and no result is stored over it.
  bool persistent = false;
  bool input = false;  // given at the start; needed until its last read
  bool output = false; // needed from its write to the end
};

enum class WorkKind { Compute, Collective, Send, Recv };

/// A kernel, a collective, a send or a receive.
struct WorkItem {
  WorkKind kind = WorkKind::Compute;
  int64_t channel = -1; // Send and Recv: messages are in order on each channel
  bool late = false;    // Collective: comes just before its first reader
  llvm::SmallVector<unsigned, 4> reads, writes; // buffers
  /// Pairs (index in writes, index in reads): the write may be stored over the
  /// read buffer.
  llvm::SmallVector<std::pair<unsigned, unsigned>, 1> inPlace;
};

/// The rules of a target's communication.
struct CommunicationRules {
  /// Communication runs beside compute items; communication items run one after
  /// the other.
  bool ownStream = false;
  /// A send ends only with its receive, so all messages of a step go in one
  /// order: the order of their channels.
  bool rendezvous = false;
  /// Collectives add and compare integers of 16 bits.
  bool reducesShortIntegers = true;
  /// Ranks of a host pass collectives and messages through memory that they
  /// share. Otherwise the communication library uses memory of its own.
  bool sharesMemory = false;
};

/// A state: the buffer that holds it at the start of a step, and the buffer of
/// its next value. Both are the same memory.
struct WorkState {
  unsigned argument, next;
};

struct WorkList {
  std::vector<WorkBuffer> buffers;
  std::vector<WorkItem> items;
  CommunicationRules communication;
  std::vector<WorkState> states;
};

/// Tells for each state whether its next value cannot be computed in the
/// state's memory while the items keep their order: the state is read after the
/// next value is written, or the item that writes it reads the state in a way
/// that is not in place. The next value must then be computed elsewhere and
/// copied at the end.
std::vector<bool> statesToCopy(const WorkList &work);

/// Chooses an order of the items in which reads come after writes, and writes
/// of states after the reads before them. Collectives and sends come as soon as
/// their operands are computed; receives and late collectives come just before
/// their first reader. Collectives that wait for arguments alone keep their
/// place in the list. So do compute items, with two exceptions. Single numbers
/// that depend on single numbers alone are computed as soon as possible. And if
/// all last readers of a buffer can be computed, and that leaves less in the
/// arena than the buffer takes, they come at once. Example, updates by
/// gradients:
///
///   gradient of b; gradient of a; update of a; update of b
///   -> gradient of b; update of b; gradient of a; update of a
///
/// The second exception does not apply if kernels would then wait for
/// communication on its own stream for which they have not waited yet. If one
/// message needs another one, it must have the higher channel.
std::vector<unsigned> orderWork(const WorkList &work);
/// The work with its items in that order.
WorkList orderedWork(const WorkList &work);

struct MemoryPlan {
  std::vector<int64_t> offsets; // per buffer; -1: persistent
  int64_t arenaBytes = 0;
};
/// Places the buffers of `work`, whose items keep their order. A buffer that
/// communication on its own stream reads or writes keeps its place until the
/// kernels wait for that communication anyway.
MemoryPlan planMemory(const WorkList &work);

} // namespace autopar

#endif // AUTOPAR_COST_WORKLIST_H
